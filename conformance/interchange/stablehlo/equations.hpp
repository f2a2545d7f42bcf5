/// \file
/// Systems of equations as instructions of StableHLO: by the form of each equation, whatever operation it comes from.
#pragma once

#include <span>
#include <vector>

#include "conformance/interchange/stablehlo/instructions.hpp"
#include "spec/system/system.hpp"

namespace etalon::conformance::stablehlo {

/// Writes the equations of a verified system. Reals are computed in f64 where a tensor of the equation is f64 and in
/// f32 otherwise, integers in i64; 16-bit types are converted where they are read and where they are stored. Index
/// variables become axes: reads become slices, broadcasts and transpositions, or where an index depends on several
/// variables or on numbers a gather; sums of products become dot_general, and other reductions reduce. A recurrence is
/// written step by step. \param inputs of the system, in order \returns its outputs, in order \throws Unsupported
/// naming a primitive that has no instructions, or a place that has no padding
[[nodiscard]] std::vector<Tensor> write_equations(const spec::System& system, std::span<const Tensor> inputs,
                                                  Instructions& out);

}  // namespace etalon::conformance::stablehlo
