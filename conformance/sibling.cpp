#include "conformance/sibling.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "conformance/attribute_levels.hpp"
#include "conformance/shapes.hpp"
#include "spec/notation/attributes.hpp"

namespace etalon::conformance {
namespace {

using spec::AttributeValue;
using spec::Definition;
using Integers = std::vector<std::int64_t>;

/// Lists like this one: turned by a place, and with one number more, less or of the other sign.
std::vector<AttributeValue> beside(const Integers& list, Draw& draw) {
  std::vector<AttributeValue> found;
  if (list.empty()) return found;
  Integers turned = list;
  std::rotate(turned.begin(), turned.begin() + 1, turned.end());
  if (turned != list) found.emplace_back(turned);
  const auto at = static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(list.size()) - 1));
  for (const std::int64_t by : {1, -1}) {
    Integers moved = list;
    moved[at] += by;
    found.emplace_back(moved);
  }
  return found;
}

std::vector<AttributeValue> others(const Definition& d, const spec::AttributeText& attribute, const AttributeValue& value, Draw& draw) {
  std::vector<AttributeValue> found;
  for (AttributeLevel& level : levels_of(d, attribute)) {
    if (level.value != value) found.push_back(std::move(level.value));
  }
  if (const auto* list = std::get_if<Integers>(&value)) found = beside(*list, draw);
  // Keys that are written in few digits take it for the one before.
  if (const auto* x = std::get_if<double>(&value); x != nullptr && *x != 0 && std::isfinite(*x) && draw.chance(0.5))
    return {AttributeValue{*x * (1 + 0x1p-13)}};
  if (found.size() > 1) std::rotate(found.begin(), found.begin() + draw.integer(0, static_cast<std::int64_t>(found.size()) - 1), found.end());
  return found;
}

bool is_call(const Definition& d, const Assignment& a, DType dtype) { return call_of(d, a, dtype).has_value(); }

std::optional<Assignment> with_attribute(const Definition& d, const Assignment& a, std::uint64_t turn, Draw& draw, DType dtype) {
  const auto call = call_of(d, a, dtype);
  if (!call) return std::nullopt;
  const spec::Attributes complete = spec::to_attributes(d, spec::bind_attributes(d, call->attributes));
  for (std::size_t k = 0; k < d.attribute_count; ++k) {
    const auto& attribute = d.attributes[(turn + k) % d.attribute_count];
    const auto known = complete.find(std::string(d.at(attribute.name)));
    if (known == complete.end()) continue;
    for (AttributeValue& value : others(d, attribute, known->second, draw)) {
      Assignment changed = a;
      changed.attributes = complete;
      changed.attributes[known->first] = std::move(value);
      if (is_call(d, changed, dtype)) return changed;
    }
  }
  return std::nullopt;
}

/// As many elements in another shape.
std::optional<Assignment> with_order(const Definition& d, const Assignment& a, DType dtype) {
  Assignment changed = a;
  for (auto& [row, extents] : changed.rows) {
    std::reverse(extents.begin(), extents.end());
    if (changed != a && is_call(d, changed, dtype)) return changed;
  }
  if (changed != a && is_call(d, changed, dtype)) return changed;
  return std::nullopt;
}

/// With an optional operand that was left out, or without one that was there.
std::optional<Assignment> with_operand(const Definition& d, const Assignment& a, std::uint64_t turn, DType dtype) {
  for (std::size_t k = 0; k < d.operand_count; ++k) {
    const auto& operand = d.operands[(turn + k) % d.operand_count];
    if (!operand.optional) continue;
    Assignment changed = a;
    const std::string name(d.at(operand.name));
    if (changed.absent.erase(name) == 0) changed.absent.insert(name);
    if (is_call(d, changed, dtype)) return changed;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Assignment> sibling_of(const Definition& definition, const Assignment& assignment, std::uint64_t turn, Draw& draw, DType dtype) {
  constexpr std::uint64_t shapes = 4;  // every fourth time it is the shape
  if (turn % 2 == 0) {
    if (auto found = with_operand(definition, assignment, turn / 2, dtype)) return found;
  }
  if (turn % shapes != shapes - 1) {
    if (auto found = with_attribute(definition, assignment, turn, draw, dtype)) return found;
  }
  if (auto found = with_order(definition, assignment, dtype)) return found;
  return with_attribute(definition, assignment, turn, draw, dtype);
}

}  // namespace etalon::conformance
