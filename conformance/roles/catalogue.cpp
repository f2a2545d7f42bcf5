#include "conformance/roles/catalogue.hpp"

#include <algorithm>

#include "conformance/constant_tensor.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

bool has_value_attribute(const spec::Definition& d) {
  return std::any_of(d.attributes, d.attributes + d.attribute_count, [](const auto& a) { return a.kind == spec::AttributeKind::value; });
}

bool is_consumer(const spec::Definition& d, const spec::Definition& after) {
  if (is_elementwise(after)) return is_elementwise(d);
  if (!is_move(after)) return is_move(d) || is_elementwise(d) || (is_fold(after) && is_fold(d) && d.operand_count == 1);
  return is_move(d) || (d.operand_count > 0 && d.operand_count <= 2);
}

bool is_feeder(const spec::Definition& d, const spec::Definition& before) {
  if (d.operand_count == 0 || d.result_count != 1 || d.operand_count > 2) return false;
  return is_move(d) || is_elementwise(d) || (is_fold(d) && is_fold(before));
}

}  // namespace

Catalogue catalogue_of(std::span<const spec::Definition* const> definitions, const spec::Definition* about) {
  Catalogue found;
  for (const spec::Definition* d : definitions) {
    found.all.push_back(d);
    if (is_elementwise(*d)) found.elementwise.push_back(d);
    if (is_move(*d)) found.moves.push_back(d);
    if (is_move(*d) && has_value_attribute(*d)) found.surrounding.push_back(d);
    if (constant_tensor(*d)) found.constants.push_back(d);
    if (about != nullptr && is_consumer(*d, *about)) found.consumers.push_back(d);
    if (about != nullptr && is_feeder(*d, *about)) found.feeders.push_back(d);
  }
  return found;
}

}  // namespace etalon::conformance
