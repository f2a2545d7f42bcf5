#include "conformance/attribute_levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"
#include "spec/notation/attributes.hpp"

namespace etalon::conformance {
namespace {

using spec::AttributeKind;
using spec::AttributeValue;
using spec::Definition;
using spec::NodeForm;
using spec::NodeId;
using spec::Primitive;

bool compares(Primitive p) {
  using enum Primitive;
  return p == eq || p == ne || p == lt || p == le || p == gt || p == ge || p == maximum || p == minimum;
}

std::optional<double> constant_of(const Definition& d, NodeId node) {
  if (d[node].form == NodeForm::number) {
    spec::AttributeBinding v;
    if (spec::notation::read_value(d.at(node), 0, v) == 0) return std::nullopt;
    return v.form == spec::AttributeBinding::Form::integer ? static_cast<double>(v.integer) : v.real;
  }
  if (d[node].form != NodeForm::apply || static_cast<Primitive>(d[node].op) != Primitive::neg) return std::nullopt;
  const auto inner = constant_of(d, d[node].first);
  return inner ? std::optional(-*inner) : std::nullopt;
}

/// The constants that stand on the other side of a comparison from the attribute, in the order of the text.
std::vector<double> constants_compared(const Definition& d, std::string_view attribute) {
  std::vector<double> found;
  for (NodeId id = 0; id < static_cast<NodeId>(d.node_count); ++id) {
    if (d[id].form != NodeForm::apply || d.children(id) != 2 || !compares(static_cast<Primitive>(d[id].op))) continue;
    for (const std::size_t side : {0U, 1U}) {
      const NodeId one = d.child(id, side), other = d.child(id, 1 - side);
      if (d[one].form != NodeForm::name || d.at(one) != attribute) continue;
      if (const auto constant = constant_of(d, other)) found.push_back(*constant);
    }
  }
  return found;
}

class Levels {
 public:
  Levels(const Definition& d, const spec::AttributeText& attribute) : d_(d), attribute_(attribute) {}

  std::vector<AttributeLevel> read() {
    if (attribute_.row.length != 0 || attribute_.pack) return {};
    switch (attribute_.kind) {
      case AttributeKind::boolean:
        usual();
        add("true", true);
        add("false", false);
        break;
      case AttributeKind::symbol:
        for (const std::string& word : choices_of(d_.at(attribute_.choices))) add(word, word);
        break;
      case AttributeKind::integer:
        usual();
        for (const double c : constants_compared(d_, d_.at(attribute_.name))) integer(static_cast<std::int64_t>(c));
        for (const std::int64_t k : {1, 0, 2, -1, 3}) integer(k);
        break;
      case AttributeKind::real:
        usual();
        for (const double c : constants_compared(d_, d_.at(attribute_.name))) {
          for (const double x : {c, c - 0.25, c + 0.25}) real(x);
        }
        for (const double x : {0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 1000.0}) real(x);
        break;
      case AttributeKind::value:
        usual();
        for (const std::int64_t k : {0, 1, -1, 2}) integer(k);
        for (const double x : {0.5, -2.75, 1000.0}) real(x);
        for (const double sign : {-1.0, 1.0}) real(sign * std::numeric_limits<double>::infinity());
        add("true", true);
        integer((std::int64_t{1} << 53) + 1);  // no f64
        break;
      case AttributeKind::dtype:
        usual();
        for (const DType type : {DType::f32, DType::i32, DType::f64, DType::i64, DType::boolean}) {
          const std::string name(name_of(type));
          add(name, name);
        }
        break;
      default: break;
    }
    if (attribute_.kind == AttributeKind::real && carries_state()) {
      const double end = keeps_share() ? 1 : std::numeric_limits<double>::infinity();
      std::erase_if(levels_, [&](const AttributeLevel& l) { return !lies_below(l.value, end); });
    }
    return std::move(levels_);
  }

 private:
  static bool lies_below(const AttributeValue& value, double end) {
    const auto* x = std::get_if<double>(&value);
    return x == nullptr || (*x >= 0 && *x < end);
  }
  [[nodiscard]] bool carries_state() const {
    const auto links = state_links(d_);
    return std::any_of(links.begin(), links.end(), [](const auto& link) { return link.has_value(); });
  }
  /// A share of state that is carried on: beyond 1 the state of a few steps says nothing.
  [[nodiscard]] bool keeps_share() const {
    return !levels_.empty() && levels_.front().name == "default" && lies_below(levels_.front().value, 1);
  }
  void usual() {
    if (!attribute_.has_default) return;
    using Form = spec::AttributeBinding::Form;
    spec::AttributeBinding v;
    const std::string_view text = d_.at(attribute_.value);
    if (spec::notation::read_value(text, 0, v) == 0 || !spec::notation::fit(d_, attribute_, v)) return;
    if (v.form == Form::integer) levels_.push_back({"default", v.integer});
    if (v.form == Form::real) levels_.push_back({"default", v.real});
    if (v.form == Form::boolean) levels_.push_back({"default", v.truth});
  }
  void integer(std::int64_t k) { add(fmt::format("{}", k), k); }
  void real(double x) { add(fmt::format("{}", x), x); }
  void add(std::string name, AttributeValue value) {
    const bool known = std::any_of(levels_.begin(), levels_.end(), [&](const AttributeLevel& l) { return l.value == value; });
    if (!known) levels_.push_back({std::move(name), std::move(value)});
  }

  const Definition& d_;
  const spec::AttributeText& attribute_;
  std::vector<AttributeLevel> levels_;
};

}  // namespace

std::vector<AttributeLevel> levels_of(const Definition& definition, const spec::AttributeText& attribute) {
  return Levels(definition, attribute).read();
}

TurnLevels levels_in_turn(const Definition& definition, std::uint64_t turn) {
  TurnLevels found(definition.attribute_count);
  for (std::size_t place = 0; place < found.size(); ++place) {
    const auto levels = levels_of(definition, definition.attributes[place]);
    const std::size_t level = level_in_turn(turn, place, levels.size());
    if (level < levels.size()) found[place] = levels[level].value;
  }
  return found;
}

std::size_t turns_of(std::size_t levels) { return levels + 1; }

std::size_t level_in_turn(std::uint64_t turn, std::size_t place, std::size_t levels) {
  const std::size_t turns = turns_of(levels);
  if (levels == 0) return 0;
  // The speed is prime to the number of turns, so that all of them come.
  std::size_t speed = 1;
  for (std::size_t passed = 0; passed < place; ++passed) {
    do ++speed;
    while (std::gcd(speed, turns) != 1);
  }
  // From time to time attributes are shifted against each other, or those with as many levels would keep step for ever.
  const std::uint64_t shift = place * (1 + turn / turns_in_step);
  return static_cast<std::size_t>(((turn % turns) * speed + shift) % turns);
}

}  // namespace etalon::conformance
