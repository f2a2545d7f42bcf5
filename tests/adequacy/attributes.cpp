#include "tests/adequacy/attributes.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "conformance/shapes.hpp"
#include "spec/error.hpp"

namespace etalon::adequacy {
namespace {

using spec::AttributeValue;
using Values = std::vector<std::pair<std::string, AttributeValue>>;

template <class T>
void add_lists(const std::vector<T>& list, Values& to) {
  if (list.size() > 1 && !std::equal(list.begin(), list.end(), list.rbegin()))
    to.emplace_back("reversed", std::vector<T>(list.rbegin(), list.rend()));
  if (list.empty()) return;
  std::vector<T> more = list, less = list;
  more.front() += 1;
  less.front() -= 1;
  to.emplace_back("the first + 1", more);
  to.emplace_back("the first - 1", less);
}

// Symbols are read off the definition's text.
std::vector<std::string> symbols_of(const spec::Definition& definition, const std::string& attribute) {
  std::vector<std::string> all;
  for (std::size_t k = 0; k < definition.attribute_count; ++k) {
    const spec::AttributeText& a = definition.attributes[k];
    if (definition.at(a.name) != attribute) continue;
    std::string rest(definition.at(a.choices));
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('|'), rest.size());
      std::string word = rest.substr(0, end);
      word.erase(std::remove(word.begin(), word.end(), ' '), word.end());
      if (!word.empty()) all.push_back(word);
      rest.erase(0, end + 1);
    }
  }
  return all;
}

Values others(const spec::Definition& definition, const std::string& name, const AttributeValue& value) {
  Values found;
  if (const auto* i = std::get_if<std::int64_t>(&value)) {
    found.emplace_back("+ 1", *i + 1), found.emplace_back("- 1", *i - 1);
    if (*i != 0) found.emplace_back("0", std::int64_t{0});
  } else if (const auto* x = std::get_if<double>(&value)) {
    found.emplace_back("+ 1", *x + 1);
    if (*x != 0) found.emplace_back("twice", 2 * *x), found.emplace_back("minus", -*x), found.emplace_back("0", 0.0);
  } else if (const auto* b = std::get_if<bool>(&value)) {
    found.emplace_back("the opposite", !*b);
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    for (const std::string& symbol : symbols_of(definition, name)) {
      if (symbol != *s) found.emplace_back(*s + " taken for " + symbol, symbol);
    }
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    add_lists(*list, found);
  } else if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    add_lists(*reals, found);
  }
  return found;
}

std::optional<spec::Instance> instance_with(conformance::CallTypes call, const spec::Instance& right) {
  try {
    spec::Instance other = conformance::instance_of(call);
    if (other.results != right.results || other.system.inputs.size() != right.system.inputs.size()) return std::nullopt;
    if (other.attributes == right.attributes) return std::nullopt;
    return other;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<OtherCall> calls_with_other_attributes(
    const conformance::CallTypes& call, const spec::Instance& instance,
    const std::function<bool(const std::string& attribute, const std::string& text)>& wanted) {
  std::vector<OtherCall> all;
  const spec::Definition& definition = spec::definition_named(call.operation);
  const auto add = [&](const std::string& name, const std::string& text, const conformance::CallTypes& other) {
    if (!wanted(name, text)) return;
    if (auto made = instance_with(other, instance)) all.push_back({name, text, std::move(*made)});
  };
  for (const auto& [name, value] : instance.attributes) {
    conformance::CallTypes other = call;
    if (other.attributes.erase(name) > 0) add(name, name + ": ignored", other);
    for (auto& [text, another] : others(definition, name, value)) {
      other.attributes[name] = another;
      add(name, name + ": " + text, other);
    }
  }
  return all;
}

}  // namespace etalon::adequacy
