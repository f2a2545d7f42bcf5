#include "conformance/roles/drawn_call.hpp"

#include <algorithm>
#include <utility>

#include "conformance/shapes.hpp"

namespace etalon::conformance {

std::optional<DrawnCall> typed(const ProgramWish& wish, const spec::Definition& d, std::optional<Assignment> choices) {
  auto types = choices ? call_of(d, *choices, wish.dtype) : std::nullopt;
  if (!types) return std::nullopt;
  spec::Instance instance = instance_of(*types, wish.library);
  return DrawnCall{&d, std::move(*choices), std::move(*types), std::move(instance)};
}

Taken taken_where(const DrawnCall& call, const spec::ValueType& type, const std::vector<std::string>& values) {
  Taken taken(call.types.operands.size());
  for (std::size_t i = 0, k = 0; i < taken.size() && k < values.size(); ++i) {
    if (call.types.operands[i] == type) taken[i] = values[k++];
  }
  return taken;
}

std::optional<std::size_t> twins_of(const DrawnCall& call) {
  const auto& all = call.types.operands;
  const auto first = std::adjacent_find(all.begin(), all.end(), [](const auto& a, const auto& b) { return a && a == b; });
  return first == all.end() ? std::nullopt : std::optional(static_cast<std::size_t>(first - all.begin()));
}

std::vector<std::int64_t> extents_of(const spec::ValueType& type) { return {type.dims.begin(), type.dims.end()}; }

}  // namespace etalon::conformance
