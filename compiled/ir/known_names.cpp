#include "compiled/ir/known_names.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "spec/nearest.hpp"
#include "spec/notation/words.hpp"

namespace etalon::compiled::loops {

namespace {

/// How a loop is called: one whose name is no word has another.
std::string word_of(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const bool is_word = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 && std::all_of(name.begin(), name.end(), fits);
  return is_word ? name : "i";
}

/// Whether the notation gives the word a meaning of its own.
bool is_reserved(std::string_view word) {
  return spec::notation::is_keyword(word) || spec::notation::reduction_named(word) || spec::primitive_named(word);
}

}  // namespace

std::string name_of(const Binder& loop) { return fmt::format("{}'{}", word_of(loop.name), loop.variable); }

std::optional<std::pair<std::string_view, std::int32_t>> numbered(std::string_view name, char mark) {
  const std::size_t at = name.rfind(mark);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  std::int32_t number = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + at + 1, end, number);
  if (read.ec != std::errc() || read.ptr != end || number < 0) return std::nullopt;
  return std::pair{name.substr(0, at), number};
}

KnownNames::KnownNames(const spec::System& system) : system_(system) {
  for (std::size_t t = 0; t < system.tensors.size(); ++t) tensors_[system.tensors[t].name].push_back(static_cast<TensorId>(t));
}

void KnownNames::enter(const Binder& loop) { variables_.push_back(spec::variable({loop.variable, loop.extent, word_of(loop.name)})); }

std::string KnownNames::name_of(const spec::Node& variable) const {
  const auto same = std::find_if(variables_.rbegin(), variables_.rend(), [&](const Expr& e) { return e->variable == variable.variable; });
  const std::string name = same == variables_.rend() ? word_of(variable.name) : (*same)->name;
  const auto innermost = KnownNames::variable(name);
  const bool is_it = innermost && (*innermost)->variable == variable.variable && !is_reserved(name);
  return is_it ? name : fmt::format("{}'{}", name, variable.variable);
}

std::string KnownNames::name_of(TensorId tensor) const {
  const std::string& name = system_[tensor].name;
  return tensors_.at(name).size() == 1 && !is_reserved(name) ? name : fmt::format("{}@{}", name, tensor);
}

std::string KnownNames::text(const Expr& e) const {
  return spec::exact_text(e, {[this](const spec::Node& v) { return name_of(v); }, [this](TensorId t) { return name_of(t); }});
}

std::optional<Expr> KnownNames::variable(std::string_view name) const {
  const auto number = numbered(name, '\'');
  const auto is_it = [&](const Expr& e) { return number ? e->variable == number->second && e->name == number->first : e->name == name; };
  const auto found = std::find_if(variables_.rbegin(), variables_.rend(), is_it);
  return found == variables_.rend() ? std::nullopt : std::optional(*found);
}

std::optional<TensorId> KnownNames::tensor(std::string_view name) const {
  if (const auto found = tensors_.find(std::string(name)); found != tensors_.end() && found->second.size() == 1) return found->second.front();
  const auto number = numbered(name, '@');
  if (!number) return std::nullopt;
  const auto found = tensors_.find(std::string(number->first));
  if (found == tensors_.end() || std::find(found->second.begin(), found->second.end(), number->second) == found->second.end()) return std::nullopt;
  return number->second;
}

std::string KnownNames::suggestion(std::string_view name) const {
  std::vector<std::string> known;
  for (const auto& [other, ids] : tensors_) known.push_back(other);
  for (const Expr& e : variables_) known.push_back(e->name);
  std::sort(known.begin(), known.end());
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace etalon::compiled::loops
