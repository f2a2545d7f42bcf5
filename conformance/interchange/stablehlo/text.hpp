/// \file
/// A program as the text of a StableHLO module, for whoever compiles that.
#pragma once

#include <string>

#include "spec/program/program.hpp"

namespace etalon::conformance::stablehlo {

/// `module { func.func @main(…) -> (…) { … } }` in the pretty form of StableHLO (of CHLO: erf, sinh, cosh).
///
/// The arguments are the program's inputs in order, of every role: numbers of parameters and constants are given as
/// those of inputs are, so one text serves all numbers of the same types. The results are its outputs, then the values
/// of `spec::all_updates`. Derivatives are steps of a program, so they are written too. Element types: f16, bf16, f32,
/// f64, i32, i64 and i1. What is meant by each equation, and in which precision it is computed, say equations.hpp and
/// docs/stablehlo.md.
///
/// \throws Unsupported for a program that has no such text: random numbers, places that depend on several indices
/// \throws SpecViolation as `spec::verify` does
[[nodiscard]] std::string module_text(const spec::Program& program);

}  // namespace etalon::conformance::stablehlo
