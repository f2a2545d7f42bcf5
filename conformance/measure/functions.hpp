/// \file
/// How far a backend's functions lie from the exact ones, in units in the last place. It knows functions as primitives
/// and reaches the backend by definitions of that form.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "conformance/measure/points.hpp"
#include "conformance/measure/probe.hpp"

namespace etalon::conformance {

/// What was seen of one function in one element type.
struct FunctionMeasure {
  spec::Primitive function = spec::Primitive::exp;
  DType dtype = DType::f32;
  std::uint64_t points = 0;
  bool exhaustive = false;        ///< every number of the type was an operand
  double worst = 0;               ///< largest error in units in the last place of the exact result
  std::array<double, 2> at{};     ///< operands there
  double computed = 0;            ///< result there
  bool exact_points = true;       ///< f(0) or f(1) was exact wherever it is 0 or 1
  std::uint64_t flushed_operands = 0;  ///< a subnormal operand was taken for zero
  std::uint64_t flushed_results = 0;   ///< a subnormal result became zero
  std::uint64_t misclassified = 0;     ///< NaN or infinite where the exact result is not, or the reverse
  std::array<double, 2> misclassified_at{};
  double misclassified_as = 0;

  /// Joins what was seen elsewhere of the same function.
  void join(const FunctionMeasure& other);
};

/// The functions that contracts speak of, the quotient included.
[[nodiscard]] std::span<const spec::Primitive> measured_functions();

/// At these points. \returns nothing when the backend declines.
[[nodiscard]] std::optional<FunctionMeasure> measure_function(spec::Backend& backend, const Probe& probe, spec::Primitive p,
                                                              DType dtype, const Columns& points);

/// A function of one operand at every number of f32, f16 or bf16, shared among backends that compute alike.
/// \param progress is told the share that is done, from any thread
[[nodiscard]] std::optional<FunctionMeasure> measure_everywhere(std::span<spec::Backend* const> backends, const Probe& probe,
                                                                spec::Primitive p, DType dtype,
                                                                const std::function<void(double)>& progress);

}  // namespace etalon::conformance
