/// \file
/// Pieces that derivatives of reductions share in both directions, and small constructions on systems.
#pragma once

#include <string>

#include "spec/system/fresh_names.hpp"
#include "spec/system/system.hpp"

namespace etalon::spec {

/// For `prod[k where g] a`: the product over all k' in the range other than k.
[[nodiscard]] Expr product_of_others(System& system, const Expr& product);

/// For `max[k where g] a` or `min`: the row-major position of the first extremum; -1 over nothing when the
/// reduction has a value there.
[[nodiscard]] Expr first_extremum(System& system, const Expr& extremum);

/// The binders' values at a row-major position.
[[nodiscard]] Substitution at_position(const std::vector<Binder>& binders, const Expr& position);

/// The row-major position of the binders' values.
[[nodiscard]] Expr position_of(const std::vector<Binder>& binders);

/// Appends an equation whose binders are replaced by fresh ones throughout.
void append_refreshed(System& system, Equation equation);

/// A new all-zero tensor of the shape of `like`, named after it. \param names of the system's tensors
[[nodiscard]] TensorId define_zero(System& system, TensorId like, const char* suffix, FreshNames& names);

/// \throws SpecViolation unless `given` has shape and dtype of `like`.
void require_shape(const System& system, TensorId given, TensorId like, const char* role);

}  // namespace etalon::spec
