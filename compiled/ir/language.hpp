/// \file
/// The names of `spec`'s systems that this folder speaks in as in its own, and what is asked of their expressions everywhere.
#pragma once

#include "spec/system/system.hpp"

namespace etalon::compiled {

using spec::Binder;
using spec::Equation;
using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::System;
using spec::TensorId;

/// Whether a sum, a product, … stands in an expression.
[[nodiscard]] bool has_reduction(const Expr& e);

/// Whether an element of the tensor is read in an expression.
[[nodiscard]] bool reads(const Expr& e, TensorId tensor);

/// Whether a condition is the constant that holds.
[[nodiscard]] bool is_true(const Expr& condition);

}  // namespace etalon::compiled
