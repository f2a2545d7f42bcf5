/// \file
/// Systems built by hand, one per form that derivatives and the solver must know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::test {

/// A system with the range from which its integer inputs are drawn; every real input is differentiable.
struct Example {
  std::string name;
  spec::System system;
  std::int64_t low = 0;
  std::int64_t high = 1;
};

[[nodiscard]] std::vector<Example> examples();

/// One of the examples by name.
[[nodiscard]] spec::System example(const std::string& name);

/// The points that literal evaluation of the equations from `first` on visits: one per value of the binders of
/// each equation and each reduction, guards not considered.
[[nodiscard]] std::int64_t points(const spec::System& system, std::size_t first = 0);

}  // namespace etalon::test
