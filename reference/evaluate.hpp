/// \file
/// The meaning of equations, executed literally over any number type: one loop per binder, in row-major order. It knows
/// forms and scalar primitives and no operation.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reference/array.hpp"
#include "reference/selection.hpp"
#include "spec/system/system.hpp"

namespace etalon::reference {

/// The values of the system's outputs for these inputs, in order. Nothing is rounded to an element type; integers of
/// `i32` tensors wrap. Offered for double, Real50, Real100, Rational (number.hpp),
/// the enclosures Precise (exact/precisions.hpp), which throw Undecided where their bits are too few, and Dual of each.
/// \throws SpecViolation when an input's shape, kind or promised range is not the system's, or an integer is divided by
/// zero; Unsupported when the number type cannot express a primitive.
template <class T>
[[nodiscard]] std::vector<Array<T>> evaluate(const spec::System& system, std::span<const Array<T>> inputs);

/// What the bits of a number type decide of the outputs of a system.
template <class T>
struct Partial {
  std::vector<Array<T>> outputs;  ///< elements that are open or were not asked for have no meaning
  Selection open;                 ///< by output; empty where none is open
  std::string question;           ///< what the first of all elements found open hangs on
};

/// As `evaluate`, of those elements of the outputs that are asked for. What is undecided is said and not thrown; only
/// what the elements asked for need is evaluated, or everything where all are. \throws Undecided where it is undecided
/// which element an equation gives
template <class T>
[[nodiscard]] Partial<T> evaluate_partly(const spec::System& system, std::span<const Array<T>> inputs, const Selection& asked);

/// The values of all tensors of the system, by TensorId.
template <class T>
[[nodiscard]] std::vector<Array<T>> evaluate_all(const spec::System& system, std::span<const Array<T>> inputs);

}  // namespace etalon::reference
