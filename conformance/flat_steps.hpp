/// \file
/// Step functions, whose slope is zero, with a slope that is not. It knows no values.
#pragma once

#include <optional>

#include "spec/system/system.hpp"

namespace etalon::conformance {

/// The system's equations for its first outputs, of its first inputs alone, where each floor, ceil, trunc, round and sign
/// keeps its value and has the slope 1 in place of 0; nothing where there is none of them. Whose derivative is infinite
/// there would be zero times infinity for anybody who computes the zero slope as a number.
[[nodiscard]] std::optional<spec::System> with_sloping_steps(const spec::System& system, std::size_t inputs, std::size_t outputs);

}  // namespace etalon::conformance
