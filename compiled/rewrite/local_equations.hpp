/// \file
/// Parts of an equation's value that get equations of their own. It decides nothing: which parts is the passes' business.
#pragma once

#include <string_view>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::compiled {

/// Whether that argument is evaluated wherever the expression is: neither a branch nor what a connective may skip.
[[nodiscard]] bool always_evaluated(const spec::Expr& e, std::size_t argument);

/// Whether no variable is free in the expression but the equation's binders.
[[nodiscard]] bool depends_only_on_binders(const spec::Expr& e, const spec::Equation& equation);

/// Adds to `before` the equation of a new tensor that holds `part` for every value of the equation's binders that it
/// depends on, in the type in which the equation computes it. \param what ends the tensor's name
/// \returns the read that stands for it, or an invalid expression where an equation of its own would change bits
[[nodiscard]] spec::Expr with_own_equation(spec::System& system, const spec::Equation& equation, const spec::Expr& part, std::string_view what,
                                           std::vector<spec::Equation>& before);

}  // namespace etalon::compiled
