#include "conformance/sibling.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "conformance/attribute_levels.hpp"
#include "conformance/choices.hpp"
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

std::vector<AttributeValue> others(const Definition& d, const spec::AttributeText& attribute, const AttributeValue& value, std::uint64_t turn, Draw& draw) {
  std::vector<AttributeValue> found;
  for (AttributeLevel& level : levels_of(d, attribute)) {
    if (level.value != value) found.push_back(std::move(level.value));
  }
  if (const auto* list = std::get_if<Integers>(&value)) found = beside(*list, draw);
  // Keys that are written in few digits take it for the one before.
  if (const auto* x = std::get_if<double>(&value); x != nullptr && *x != 0 && std::isfinite(*x) && turn % 4 == 0)
    return {AttributeValue{*x * (1 + 0x1p-13)}};
  if (found.size() > 1) std::rotate(found.begin(), found.begin() + draw.integer(0, static_cast<std::int64_t>(found.size()) - 1), found.end());
  return found;
}

bool is_call(const Definition& d, const Assignment& a, DType dtype) {
  const auto call = call_of(d, a, dtype);
  if (!call || d.operand_count > 0) return call.has_value();
  // Of what reads nothing one number more or less may make a tensor that fits no memory.
  constexpr std::int64_t most = 4096;
  const auto results = spec::instantiate(d, call->operands, call->packs, call->attributes).results;
  return std::all_of(results.begin(), results.end(), [](const spec::ValueType& type) { return type.dims.count() <= most; });
}

std::optional<Assignment> with_attribute(const Definition& d, const Assignment& a, std::uint64_t turn, Draw& draw, DType dtype) {
  const auto call = call_of(d, a, dtype);
  if (!call) return std::nullopt;
  const spec::Attributes complete = spec::to_attributes(d, spec::bind_attributes(d, call->attributes));
  std::optional<Assignment> idle;  // changes no number
  for (std::size_t k = 0; k < d.attribute_count; ++k) {
    const auto& attribute = d.attributes[(turn + k) % d.attribute_count];
    const auto known = complete.find(std::string(d.at(attribute.name)));
    if (known == complete.end()) continue;
    for (AttributeValue& value : others(d, attribute, known->second, turn, draw)) {
      Assignment changed = a;
      changed.attributes = complete;
      changed.attributes[known->first] = std::move(value);
      if (!is_call(d, changed, dtype)) continue;
      if (!give_the_same(d, *call, *call_of(d, changed, dtype))) return changed;
      if (!idle) idle = std::move(changed);
    }
  }
  return idle;
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

/// With other optional operands: of several one alone, otherwise one more or less.
std::optional<Assignment> with_operand(const Definition& d, const Assignment& a, std::uint64_t place, DType dtype) {
  std::vector<std::string> optional;
  for (std::size_t i = 0; i < d.operand_count; ++i) {
    if (d.operands[i].optional) optional.emplace_back(d.at(d.operands[i].name));
  }
  if (optional.empty()) return std::nullopt;
  const std::string& chosen = optional[place % optional.size()];
  Assignment changed = a;
  changed.absent = {optional.begin(), optional.end()};
  changed.absent.erase(chosen);
  if (changed.absent == a.absent) changed.absent.insert(chosen);
  return is_call(d, changed, dtype) ? std::optional(changed) : std::nullopt;
}

}  // namespace

std::optional<Assignment> sibling_of(const Definition& definition, const Assignment& assignment, std::uint64_t turn,
                                     std::uint64_t place, Draw& draw, DType dtype) {
  // What differs first of all: modes and element types between them meet each.
  constexpr std::uint64_t kinds = 4;
  enum : std::uint64_t { operand, attribute, another, shape };
  const std::uint64_t kind = turn % kinds;
  if (kind == operand) {
    if (auto found = with_operand(definition, assignment, place, dtype)) return found;
  }
  if (kind != shape) {
    if (auto found = with_attribute(definition, assignment, turn, draw, dtype)) return found;
  }
  if (auto found = with_order(definition, assignment, dtype)) return found;
  return with_attribute(definition, assignment, turn, draw, dtype);
}

}  // namespace etalon::conformance
