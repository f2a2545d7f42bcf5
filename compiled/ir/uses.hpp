/// \file
/// How often and from where each tensor of a system is read and written.
#pragma once

#include <cstddef>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::compiled {

/// Counts per tensor. A read counts once for each place in the text where it stands.
struct Uses {
  std::vector<std::size_t> reads;
  std::vector<std::vector<std::size_t>> readers;  ///< the equations, ascending
  std::vector<std::size_t> writers;   ///< number of equations with this target
  std::vector<std::size_t> equation;  ///< the last of them
  std::vector<bool> is_input;
  std::vector<bool> is_output;
  std::vector<bool> recurrent;  ///< it depends on itself
};

/// Per equation, whether it is part of a recurrence.
[[nodiscard]] std::vector<bool> recurrent_equations(const spec::System& system);

[[nodiscard]] Uses uses_of(const spec::System& system);

}  // namespace etalon::compiled
