/// \file
/// Derivatives by definition: the JVP by dual numbers, the VJP as the transpose of the JVP. Slow and beyond doubt; it
/// knows nothing of symbolic derivatives.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "reference/array.hpp"
#include "spec/system/system.hpp"

namespace etalon::reference {

template <class T>
struct Tangents {
  std::vector<Array<T>> outputs;
  std::vector<std::optional<Array<T>>> tangents;  ///< per output; nothing for integer and boolean outputs
};

/// The outputs and their tangents. `tangents` stands per input; an input without one is a constant. `detach` hides
/// tangents. Offered for double, Real50, Real100, Rational and Precise.
template <class T>
[[nodiscard]] Tangents<T> jvp_by_definition(const spec::System& system, std::span<const Array<T>> inputs,
                                            std::span<const std::optional<Array<T>>> tangents);

/// The cotangents of the inputs named by `wrt`, one JVP per element: cotangent[e] = Σ over outputs of output cotangent ·
/// tangent along e. `cotangents` stands per output; nothing means zero. Every result with `wrt` has a value.
template <class T>
[[nodiscard]] std::vector<std::optional<Array<T>>> vjp_by_definition(
    const spec::System& system, std::span<const Array<T>> inputs,
    std::span<const std::optional<Array<T>>> cotangents, const std::vector<bool>& wrt);

}  // namespace etalon::reference
