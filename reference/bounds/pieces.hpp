/// \file
/// A function of one argument over an interval, known by what interval arithmetic says of it on pieces of that interval: its
/// range, its slopes, and two lines between which it lies. It knows no function by name.
#pragma once

#include <functional>
#include <vector>

#include "reference/bounds/tape.hpp"

namespace etalon::reference::bounds {

/// What is known on a piece of one branch that decisions may take: the value is in `values`, and within `error` of
/// base + slope · (argument - middle) for some slope of the interval.
struct Branch {
  Interval values;
  Interval base;
  Interval slope;
  double error = 0;
  bool bounded = true;  ///< else nothing is known
};

/// For each argument of the domain the value is that of some branch.
struct Piece {
  Interval domain;
  double middle = 0;
  std::vector<Branch> branches;
};

struct Relaxation {
  bool bounded = false;  ///< else nothing below is known
  Interval values;
  Interval slope;        ///< value - value(origin) = s · (argument - origin), s in it, within `error`
  double error = 0;
  Line below, above;     ///< in argument - origin
};

/// \param at what is known on an interval, also on one of one number; values are differences from the value at the origin
/// \param known how far the value at the origin is from 0
[[nodiscard]] Relaxation relaxed(const Interval& domain, double origin, double known, const std::function<Piece(const Interval&)>& at);

}  // namespace etalon::reference::bounds
