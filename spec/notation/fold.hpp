/// \file
/// Construction of expressions with what is constant in integers and truth values already worked out, and the interval
/// arithmetic that drops guards which always hold. Reals are never folded: that would choose a rounding.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spec/system/expr.hpp"

namespace etalon::spec::notation {

/// Extents of the index variables made so far.
using Extents = std::unordered_map<VariableId, std::int64_t>;

/// The integer or truth value of a constant, or nothing.
[[nodiscard]] std::optional<std::int64_t> integer_constant(const Expr& e);
[[nodiscard]] std::optional<bool> truth_constant(const Expr& e);

/// `p` applied, folded where all that matters is constant. Kinds must fit already.
[[nodiscard]] Expr folded(Primitive p, std::vector<Expr> args);
/// An integer as a real; integer constants become exact decimals.
[[nodiscard]] Expr real_of(const Expr& e);
/// The same number or truth value for an element of that type: a real as an integer is cut towards 0 and beyond the
/// integers of the type their nearest end, a number as a truth value is whether it is not 0.
[[nodiscard]] Expr converted(const Expr& e, DType dtype);
/// if c then a else b, decided where c is constant.
[[nodiscard]] Expr chosen(const Expr& c, const Expr& a, const Expr& b);
/// 0 ≤ index < extent, without the halves that always hold.
[[nodiscard]] Expr in_range(const Expr& index, std::int64_t extent, const Extents& extents);

/// Least and greatest value of an integer expression, or nothing where a tensor decides.
[[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> interval(const Expr& e, const Extents& extents);

}  // namespace etalon::spec::notation
