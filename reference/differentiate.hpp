/// \file
/// Derivatives by definition: the JVP by dual numbers, the VJP as the transpose of the JVP. Slow and beyond doubt; it
/// knows nothing of symbolic derivatives.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference/array.hpp"
#include "reference/selection.hpp"
#include "spec/system/system.hpp"

namespace etalon::reference {

template <class T>
struct Tangents {
  std::vector<Array<T>> outputs;
  std::vector<std::optional<Array<T>>> tangents;  ///< per output; nothing for integer and boolean outputs
  Selection open;                                 ///< as in Partial, of values or tangents
  std::string question;                           ///< as in Partial
};

/// The outputs and their tangents. `tangents` stands per input; an input without one is a constant. `detach` hides
/// tangents. Offered for double, Real50, Real100, Rational and Precise. \throws Undecided
template <class T>
[[nodiscard]] Tangents<T> jvp_by_definition(const spec::System& system, std::span<const Array<T>> inputs,
                                            std::span<const std::optional<Array<T>>> tangents);

/// As jvp_by_definition, of those elements of the outputs that are asked for; what is undecided is said, not thrown.
template <class T>
[[nodiscard]] Tangents<T> jvp_partly(const spec::System& system, std::span<const Array<T>> inputs,
                                     std::span<const std::optional<Array<T>>> tangents, const Selection& asked);

/// The cotangents of the inputs named by `wrt`, one JVP per element: cotangent[e] = Σ over outputs of output cotangent ·
/// tangent along e. `cotangents` stands per output; nothing means zero. Every result with `wrt` has a value.
/// \throws Undecided
template <class T>
[[nodiscard]] std::vector<std::optional<Array<T>>> vjp_by_definition(
    const spec::System& system, std::span<const Array<T>> inputs,
    std::span<const std::optional<Array<T>>> cotangents, const std::vector<bool>& wrt);

template <class T>
struct Cotangents {
  std::vector<Array<T>> inputs;  ///< per input; where nothing was asked zeros
  Selection open;                ///< by input, of the elements asked for
  std::string question;          ///< as in Partial
};

/// As vjp_by_definition, of those elements of the inputs that are asked for; what is undecided is said, not thrown.
template <class T>
[[nodiscard]] Cotangents<T> vjp_partly(const spec::System& system, std::span<const Array<T>> inputs,
                                       std::span<const std::optional<Array<T>>> cotangents, const Selection& asked);

}  // namespace etalon::reference
