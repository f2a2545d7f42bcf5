/// \file
/// Expressions whose parts are known numbers, made shorter. It knows forms, and no operation.
#pragma once

#include "spec/system/expr.hpp"

namespace etalon::adequacy {

/// The same over the real numbers: extrema of two that are equal, sums and products with 0, products and quotients with 1,
/// quotients of equal numbers, functions of 0, reductions of one term, conditions and choices that are decided.
[[nodiscard]] spec::Expr folded(const spec::Expr& e);

/// Of a sum, product or extremum of one term alone, without a condition, that term; of others the expression itself.
[[nodiscard]] spec::Expr of_single_term(const spec::Expr& e);

/// With the child in place of each detached one: the same values, other derivatives.
[[nodiscard]] spec::Expr without_detach(const spec::Expr& e);

}  // namespace etalon::adequacy
