/// \file
/// The rewrite rules of guarded reductions, as a table. Each keeps the multiset of values that are reduced.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "spec/system/ranges.hpp"

namespace etalon::spec {

/// A reduction taken apart: `reduction[binders where guards] body`.
struct Loop {
  std::vector<Binder> binders;
  std::vector<Expr> guards;  ///< conjuncts; an earlier one may be what makes a later one legal
  Expr body;
};

/// Rewrites the loop once, or says that it does not apply. `known` holds the surroundings, the binders' ranges and
/// the guards.
struct LoopRule {
  std::string_view name;
  bool (*apply)(System& system, Loop& loop, const Ranges& known);
};

/// In the order in which they are tried.
[[nodiscard]] std::span<const LoopRule> loop_rules();

/// `low ≤ form` and the like, as a readable comparison: `form ⋛ 0` with negative terms on the other side.
[[nodiscard]] Expr compare(Primitive relation, const Affine& difference);

}  // namespace etalon::spec
