#include "conformance/interchange/stablehlo/spread.hpp"

#include <algorithm>
#include <numeric>

#include "spec/error.hpp"

namespace etalon::conformance::stablehlo {

std::size_t Scope::depth(spec::VariableId variable) const {
  const auto at =
      std::find_if(bound_.rbegin(), bound_.rend(), [&](const spec::Binder& b) { return b.variable == variable; });
  if (at == bound_.rend()) throw InternalError("an index variable that is not bound");
  return static_cast<std::size_t>(bound_.rend() - at) - 1;
}

std::vector<spec::VariableId> Scope::joined(std::span<const Spread> spreads) const {
  std::vector<std::size_t> depths;
  for (const Spread& value : spreads) {
    for (const spec::VariableId variable : value.over) depths.push_back(depth(variable));
  }
  std::sort(depths.begin(), depths.end());
  depths.erase(std::unique(depths.begin(), depths.end()), depths.end());
  std::vector<spec::VariableId> variables;
  for (const std::size_t d : depths) variables.push_back(bound_[d].variable);
  return variables;
}

Extents Scope::positions(std::span<const spec::VariableId> of, std::span<const spec::VariableId> among) {
  Extents axes;
  for (const spec::VariableId variable : of)
    axes.push_back(std::find(among.begin(), among.end(), variable) - among.begin());
  return axes;
}

Extents Scope::extents(std::span<const spec::VariableId> variables) const {
  Extents all;
  for (const spec::VariableId variable : variables) all.push_back(extent(variable));
  return all;
}

Tensor Scope::spread(Instructions& out, const Spread& value, std::span<const spec::VariableId> over) const {
  return out.broadcast(value.tensor, positions(value.over, over), extents(over));
}

Spread Scope::ordered(Instructions& out, const Tensor& tensor, std::vector<spec::VariableId> over) const {
  Extents permutation(over.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::sort(permutation.begin(), permutation.end(), [&](std::int64_t a, std::int64_t b) {
    return depth(over[static_cast<std::size_t>(a)]) < depth(over[static_cast<std::size_t>(b)]);
  });
  Spread value{out.transpose(tensor, permutation), {}};
  for (const std::int64_t axis : permutation) value.over.push_back(over[static_cast<std::size_t>(axis)]);
  return value;
}

}  // namespace etalon::conformance::stablehlo
