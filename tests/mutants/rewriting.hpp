/// \file
/// What rewrites of systems are made of. It knows forms, and no defect.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::mutants {

using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::Reduction;
using spec::System;

/// The replacement of a node whose children were rewritten already, or nothing to keep it.
using Rewrite = std::function<std::optional<Expr>(const Expr&)>;

[[nodiscard]] Expr rewritten(const Expr& e, const Rewrite& rewrite);

/// Every equation's value.
void rewrite_values(System& system, const Rewrite& rewrite);
/// The equations of tangents and cotangents alone.
void rewrite_derivatives(System& system, const Rewrite& rewrite);
/// The equations of values alone.
void rewrite_primal(System& system, const Rewrite& rewrite);

/// Whether the tensor is a tangent or a cotangent.
[[nodiscard]] bool is_derivative(const System& system, spec::TensorId tensor);
[[nodiscard]] bool is_input(const System& system, spec::TensorId tensor);
[[nodiscard]] bool is_output(const System& system, spec::TensorId tensor);

[[nodiscard]] bool is_reduce(const Expr& e, Reduction reduction);
/// A primitive on reals.
[[nodiscard]] bool is_real(const Expr& e, Primitive primitive);
/// The same reduction over other binders, another guard and another body.
[[nodiscard]] Expr reduced(const Expr& like, std::vector<spec::Binder> binders, const Expr& guard, const Expr& body);

/// Neither reads nor variables below: a number that a host could compute.
[[nodiscard]] bool is_closed(const Expr& e);
[[nodiscard]] bool reads_something(const Expr& e);
/// Whether an index variable stands below.
[[nodiscard]] bool has_variable(const Expr& e);
/// A number constant as a double.
[[nodiscard]] std::optional<double> constant(const Expr& e);

/// What a read stands for, where the tensor has one equation whose place is its binders in order.
[[nodiscard]] std::optional<Expr> meaning(System& system, const Expr& read);
/// `e` with what its outermost read stands for, or itself.
[[nodiscard]] Expr looked_through(System& system, const Expr& e);
/// How many terms the sum has that `e` is or reads, if none is left out.
[[nodiscard]] std::optional<std::int64_t> terms_summed(System& system, const Expr& e);

/// Every index brought into its range; nothing where there is no element.
[[nodiscard]] std::optional<Expr> clamped_reads(const System& system, const Expr& e);

/// Veltkamp's splitting: the upper `bits` of the significand, in arithmetic of `precision` bits.
[[nodiscard]] Expr upper_bits(const Expr& x, int bits, int precision = 24);
/// Whether the system computes in binary64.
[[nodiscard]] bool is_double(const System& system);
[[nodiscard]] int precision_of(const System& system);

/// The value of one and the derivative of the other.
[[nodiscard]] Expr with_slope(const Expr& value, const Expr& slope);

[[nodiscard]] Expr call(Primitive primitive, const Expr& a);
[[nodiscard]] Expr call(Primitive primitive, const Expr& a, const Expr& b);

}  // namespace etalon::mutants
