/// \file
/// Rewrites of systems that keep every value over the reals, every rounding and every special value as they are:
/// index algebra, guards solved into ranges, named reductions. Rules are tables of named rewrites.
#pragma once

#include <functional>

#include "spec/system/system.hpp"

namespace etalon::spec {

/// Gives every reduction that is not the whole right side of an equation its own local tensor, shared between
/// equal ones, so that a derivative does not repeat it.
void name_reductions(System& system);

/// The same, each equation with tensors of its own: then a derivative adds up what reaches equal reductions of two equations
/// where they are read, not before.
void name_reductions_apart(System& system);

/// Solves index guards: substitutes unit equalities, divides the others, splits `//` and `%`, drops guards that
/// hold, removes reductions over nothing, turns inequalities into ranges. Literal evaluation before and after
/// gives the same values, except that a sum may run in another order, and that a sum of one term becomes the term,
/// whose zero may be negative. Index arithmetic is taken over the integers.
void solve_guards(System& system);

/// Whether in a real part of the equation's value what stands first may become what stands second.
using Admits = std::function<bool(const Equation&, const Expr&, const Expr&)>;

/// The same where a tensor's type says how its readers compute: a branch that is never taken may be what made the
/// operations on the other single precision. What `admits` refuses stays as it was.
void solve_guards(System& system, const Admits& admits);

/// Removes equations that no output needs, keeping inputs and outputs.
void remove_dead(System& system);

}  // namespace etalon::spec
