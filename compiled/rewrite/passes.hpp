/// \file
/// The passes by name. Each keeps every output bit for bit in floating point and knows no operation. Order and
/// switches are the pipeline's business.
#pragma once

#include <cstddef>

#include "compiled/machine/thresholds.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

/// Expressions of no more nodes are read, generated and optimised one by one; inlining makes none longer but of views.
inline constexpr std::size_t largest_expression = threshold<std::size_t>("largest_expression");

[[nodiscard]] std::size_t size_of_expression(const spec::Expr& e);

/// Replaces operations on constants by their result where it is exact: integers, truth values, index arithmetic, and
/// real operations whose operands and result are all binary32 numbers.
void fold_constants(spec::System& system);

/// Applies `simplification_rules()`.
void simplify(spec::System& system);

/// Turns equations between indices into substitutions and ranges, where that leaves the types of the arithmetic as they are.
void solve_guards(spec::System& system);

/// Lets one tensor stand for all that are defined by the same equation up to the names of their binders. An output
/// equal to another becomes a copy of it.
void share_common(spec::System& system);

/// Substitutes locals into the equations that read them: views and constants everywhere, elementwise values where
/// they are read once and would not be computed more often than before. Reductions stay where they are.
void inline_locals(spec::System& system);

/// Gives each reduction that stands inside a larger expression and depends only on its equation's binders an equation
/// of its own, so that it is computed once for each value of the binders that it does depend on. A reduction that is
/// reached only under a condition stays.
void name_reductions(spec::System& system);

/// Where y is x cut off at zero (`if x <= 0 then 0 else x`) and all others only ask whether x is above zero, as derivatives
/// do, they ask y: the answer is the same, for NaN too, and x need not be kept.
void ask_results(spec::System& system);

/// Gives parts of an expression of more than four times `largest_expression` equations of their own, each of about that
/// size: what generating code takes grows faster than the expression. A gradient with a thousand contributions is one.
/// What is evaluated only under a condition stays, and so does what stands in a read, a reduction or a recurrence.
void cut_expressions(spec::System& system);

/// Substitutes what is asked to be inlined, and drops its equations.
/// \throws SpecViolation: one line with the wish and why it cannot be.
void inline_asked(spec::System& system);

/// Gives every output its own tensor that is no input, by copying equations.
void separate_outputs(spec::System& system);

}  // namespace etalon::compiled
