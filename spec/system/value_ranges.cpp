#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "spec/system/ranges.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::spec {
namespace {

constexpr Interval of_i32{std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};

std::vector<bool> recurrent_targets(const System& system) {
  std::vector<bool> found(system.tensors.size(), false);
  const bool integers = std::any_of(system.equations.begin(), system.equations.end(), [&](const Equation& e) {
    return kind_of(system[e.target].dtype) == Kind::integer;
  });
  if (!integers) return found;
  for (const auto& group : recurrent_groups(system)) {
    for (const std::size_t i : group) found[static_cast<std::size_t>(system.equations[i].target)] = true;
  }
  return found;
}

}  // namespace

std::vector<Interval> value_ranges(const System& system) {
  auto ranges = std::make_shared<std::vector<Interval>>(system.tensors.size());
  std::vector<bool> seen(system.tensors.size(), false);
  for (std::size_t i = 0; i < system.tensors.size(); ++i) {
    if (system.tensors[i].range) (*ranges)[i] = {system.tensors[i].range->first, system.tensors[i].range->second};
    else if (system.tensors[i].dtype == DType::i32) (*ranges)[i] = of_i32;
  }
  const std::vector<bool> recurrent = recurrent_targets(system);  // they may grow with every step
  for (const Equation& e : system.equations) {
    const auto target = static_cast<std::size_t>(e.target);
    if (recurrent[target]) continue;
    if (system.tensors[target].range || kind_of(system.tensors[target].dtype) != Kind::integer) continue;
    Ranges known;
    known.tensors = ranges;
    known.bind(e.binders);
    Interval own = interval(e.value, known);
    if (system.tensors[target].dtype == DType::i32 && (own.low < of_i32.low || own.high > of_i32.high)) own = of_i32;  // it wraps
    (*ranges)[target] = seen[target] ? hull((*ranges)[target], own) : own;
    seen[target] = true;
  }
  return *ranges;
}

}  // namespace etalon::spec
