#include "reference/place.hpp"

#include <algorithm>
#include <vector>

namespace etalon::reference {

Dims indices_of(const Dims& dims, std::size_t element) {
  Dims indices = dims;
  auto rest = static_cast<std::int64_t>(element);
  for (std::size_t axis = dims.rank; axis-- > 0;) {
    indices[axis] = rest % dims[axis];
    rest /= dims[axis];
  }
  return indices;
}

std::optional<bool> solve_place(const Flat& flat, const FlatEquation& equation, const Dims& dims, std::size_t element,
                                std::span<std::int64_t> slots) {
  const Dims indices = indices_of(dims, element);
  const std::span<const std::int32_t> place = Flat::slice(flat.args, equation.place);
  const std::span<const Loop> loops = Flat::slice(flat.loops, equation.loops);
  std::vector<bool> set(loops.size());
  for (std::size_t axis = 0; axis < dims.rank; ++axis) {
    const FlatNode& node = flat.nodes[static_cast<std::size_t>(place[axis])];
    if (node.step != Step::affine || node.terms.count > 1) return std::nullopt;
    const std::int64_t rest = indices[axis] - node.constant;
    if (node.terms.count == 0) {
      if (rest != 0) return false;
      continue;
    }
    const AffineTerm& term = flat.terms[static_cast<std::size_t>(node.terms.first)];
    const auto loop = std::find_if(loops.begin(), loops.end(), [&](const Loop& l) { return l.slot == term.slot; });
    if (loop == loops.end() || term.coefficient == 0) return std::nullopt;
    const std::int64_t value = rest / term.coefficient;
    if (rest % term.coefficient != 0 || value < 0 || value >= loop->extent) return false;
    std::int64_t& slot = slots[static_cast<std::size_t>(term.slot)];
    const auto number = static_cast<std::size_t>(loop - loops.begin());
    if (set[number] && slot != value) return false;
    slot = value;
    set[number] = true;
  }
  if (std::find(set.begin(), set.end(), false) != set.end()) return std::nullopt;
  return true;
}

}  // namespace etalon::reference
