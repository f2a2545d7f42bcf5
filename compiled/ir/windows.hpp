/// \file
/// Factors that are read as a window slides over an image: the loops of the target and of the sum meet in one index, so
/// that a copy for tiles would repeat every element for each place of the window.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiled/ir/affine.hpp"
#include "compiled/ir/contraction.hpp"
#include "compiled/ir/depth.hpp"

namespace etalon::compiled {

/// A factor as a function of a few indices, each an affine form of the loops.
struct Window {
  struct Axis {
    spec::Expr at;          ///< what stands in the index
    std::int64_t low = 0;   ///< its least value
    std::int64_t extent = 1;  ///< of its values, from the least to the largest
    std::int64_t dim = 1;   ///< of the tensors that are read there: outside of [0, dim) the factor is zero
    [[nodiscard]] bool leaves() const { return low < 0 || low + extent > dim; }
  };
  std::vector<Axis> axes;
  spec::Expr inside;      ///< the factor where it is read
  bool as_it_lies = false;  ///< a read of the arithmetic's own type that never leaves its tensor: `inside` is the whole factor
};

/// The factor seen so, if its elements are read more than once by the loops. Outside of what is read it is zero, or its
/// terms do not count: then where they do is in the contraction's guard.
[[nodiscard]] std::optional<Window> as_window(const spec::System& system, const spec::Equation& equation, const Contraction& c,
                                              const spec::Expr& factor);

/// The conditions that a guard asks of all together.
[[nodiscard]] std::vector<spec::Expr> conditions_of(const spec::Expr& guard);

/// `a` in "a ≥ 0" for an inequality of affine forms; nothing for another condition.
[[nodiscard]] std::optional<loops::Affine> at_least_zero(const spec::Expr& condition);

/// Whether a guard is known before the steps of a tile are done: inequalities between the target's loops, except the
/// column, and those whose steps are written out.
[[nodiscard]] bool guards_taps(const spec::Equation& equation, const Contraction& c, const DepthWalk& walk);

/// Turns a contraction whose right factor is a window round: what were columns are rows, whose elements are read one by
/// one where they lie, and columns are those of the other factor. \returns whether it did.
bool turn_windows(const spec::System& system, const spec::Equation& equation, Contraction& c);

}  // namespace etalon::compiled
