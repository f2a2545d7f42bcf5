/// \file
/// Which loop of a kernel runs side by side in vector lanes. It estimates; it changes nothing.
#pragma once

#include <vector>

#include "compiled/ir/affine.hpp"
#include "compiled/machine/machine.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled::loops {

/// Vectors of a reduction that are added up side by side: they hide the latency of a chain of additions.
inline constexpr unsigned vectors_side_by_side = 4;
/// Lanes that a loop has at most.
inline constexpr unsigned most_lanes = vectors_side_by_side * order_lanes_f32;

/// An assignment whose loops are to be chosen.
struct Assignment {
  spec::TensorId target = -1;
  std::vector<spec::Expr> place;  ///< empty when the value stays in a register
  spec::Expr value;
};

/// A loop variable that may become lanes.
struct Candidate {
  spec::Binder binder;
  const spec::Node* reduction = nullptr;  ///< the reduction that binds it; nothing for a loop over the target
};

/// The binders of sums, products, extrema and logical reductions in `e` that may become lanes.
void collect_reduction_candidates(const spec::Expr& e, std::vector<Candidate>& into);

/// Whether a primitive is a function that takes as long as many an addition: exp, tanh, a random number, and so on.
[[nodiscard]] bool takes_long(spec::Primitive p);

/// Scalar operations that one iteration of the target's loops takes.
[[nodiscard]] double operations(const spec::Expr& e);

/// The choice, -1 for none, and the number of lanes.
struct LaneChoice {
  spec::VariableId variable = -1;
  unsigned width = 1;
};

/// The choice, and the lanes of a reduction, do not depend on the machine, if it has vectors at all.
/// \param vectors of the type in which is computed
[[nodiscard]] LaneChoice choose_lanes(const spec::System& system, const std::vector<Assignment>& assignments,
                                      const std::vector<Candidate>& candidates, VectorWidth vectors);

}  // namespace etalon::compiled::loops
