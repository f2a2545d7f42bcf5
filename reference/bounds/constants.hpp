/// \file
/// Closed real subexpressions as a host holds them: evaluated in float64, so exact up to that evaluation's own bound.
#pragma once

#include "reference/bounds/wide.hpp"
#include "spec/system/system.hpp"

namespace etalon::reference::bounds {

/// Every float64 evaluation lies within `error` of `value`, a zero has its sign; where nothing of the kind can be said, or a zero may
/// have either sign, it is `unbounded`.
struct Held {
  Quad value = 0;
  double error = 0;
  bool unbounded = false;
};

/// \pre `e` is real and mentions neither variables nor tensors.
[[nodiscard]] Held hold(const spec::Expr& e);

}  // namespace etalon::reference::bounds
