// Functions of two reals that are neither products nor powers: the angle of a point, the remainder.
#include <algorithm>
#include <array>
#include <cmath>

#include "reference/bounds/arithmetic.hpp"

namespace etalon::reference::bounds {
namespace {

using spec::Primitive;
constexpr double sloppy = 0x1p-48;  // more than any error of the double functions used for boxes
constexpr double half_turn = 3.1415926535897936;

struct Range {
  double lower = 0;
  double upper = 0;
};

Range widened(double a, double b) {
  const double low = std::min(a, b);
  const double high = std::max(a, b);
  return {low - sloppy * std::fabs(low), high + sloppy * std::fabs(high)};
}

/// One value without finite ones beside it, or an exact number.
template <class R>
bool pointlike(const Value<R>& v) {
  return v.exact() || !v.may(admits_finite);
}

/// The angle is continuous on the box, which holds no part of the half line y = 0, x <= 0.
template <class R>
bool avoids_cut(const Value<R>& y, const Value<R>& x) {
  return x.lower > 0 || y.lower > 0 || y.upper < 0;
}

/// t / (x² + y²) over the box, for t in [a, b].
Range over_squared_radius(double a, double b, double nearest, double farthest) {
  const double low = a < 0 ? a / nearest : a / farthest;
  const double high = b > 0 ? b / nearest : b / farthest;
  return widened(low, high);
}

template <class R>
double squared(const Value<R>& v, bool least) {
  const double m = least ? v.least() : v.magnitude();
  return m * m;
}

Range times(const Range& r, double coefficient) {
  return coefficient > 0 ? Range{r.lower * coefficient, r.upper * coefficient}
                         : Range{r.upper * coefficient, r.lower * coefficient};
}

}  // namespace

template <class R>
Value<R> Arithmetic<R>::angle(Value<R> y, Value<R> x) {
  if (!x.ordinary() || !y.ordinary()) {
    if (!pointlike(x) || !pointlike(y)) return wild();
    const R turn = Wide<R>::evaluate(Primitive::atan2, y.reference, x.reference);
    if (!(turn == turn) || turn == 0) return point<R>(turn);
    return constant(turn, function_error(spec::function_bound(contract_, rounding_.dtype, Primitive::atan2), 0,
                                         std::fabs(static_cast<double>(turn))));
  }
  const bool points = x.exact() && y.exact();
  Value<R> v;
  v.reference = Wide<R>::evaluate(Primitive::atan2, y.reference, x.reference);
  if (points && v.reference == 0) return point<R>(v.reference);
  if (points) {
    v.lower = Wide<R>::below(v.reference);
    v.upper = Wide<R>::above(v.reference);
  } else if (avoids_cut(y, x)) {
    // Along each axis the angle rises or falls throughout, so that its extremes lie at corners.
    const std::array corners{std::atan2(y.lower, x.lower), std::atan2(y.lower, x.upper), std::atan2(y.upper, x.lower),
                             std::atan2(y.upper, x.upper)};
    const Range r = widened(*std::min_element(corners.begin(), corners.end()),
                            *std::max_element(corners.begin(), corners.end()));
    v.lower = r.lower;
    v.upper = r.upper;
  } else {
    v.lower = -half_turn;
    v.upper = half_turn;
    v.flags = admits_finite | interval_only;
  }
  const spec::FunctionBound bound = spec::function_bound(contract_, rounding_.dtype, Primitive::atan2);
  double local = function_error(bound, 0, v.magnitude());
  flush(local, v.lower, v.upper);
  finish(v, local, 0);
  if (points || v.may(interval_only)) return v;
  share(x);
  share(y);
  v.node = tape_.open(local);
  v.local = 0;
  const double nearest = squared(x, true) + squared(y, true);
  const double farthest = squared(x, false) + squared(y, false);
  if (y.node != no_node) {
    const Range s = times(over_squared_radius(x.lower, x.upper, nearest, farthest), y.coefficient);
    tape_.edge({y.node, s.lower, s.upper});
  }
  if (x.node != no_node) {
    const Range s = times(over_squared_radius(-y.upper, -y.lower, nearest, farthest), x.coefficient);
    tape_.edge({x.node, s.lower, s.upper});
  }
  return v;
}

template <class R>
Value<R> Arithmetic<R>::remainder(Value<R> x, Value<R> y) {
  if (!x.ordinary() || !y.ordinary()) {
    if (!pointlike(x) || !pointlike(y)) return wild();
    return point<R>(Wide<R>::evaluate(Primitive::modulo, x.reference, y.reference));
  }
  const bool points = x.exact() && y.exact();
  if (!points && y.lower <= 0 && y.upper >= 0) return wild();
  Value<R> v;
  v.reference = Wide<R>::evaluate(Primitive::modulo, x.reference, y.reference);
  if (points) {
    v = point<R>(v.reference);
    if (!v.ordinary() || rounding_.holds(v.magnitude(), v.quantum)) return v;
    v.quantum = no_quantum;
    double local = rounding_.of_magnitude(v.magnitude());
    flush(local, v.lower, v.upper);
    finish(v, local, 0);
    return v;
  }
  const std::array quotients{x.lower / y.lower, x.lower / y.upper, x.upper / y.lower, x.upper / y.upper};
  const Range q = widened(*std::min_element(quotients.begin(), quotients.end()),
                          *std::max_element(quotients.begin(), quotients.end()));
  const double times_taken = std::floor(q.lower);
  if (times_taken != std::floor(q.upper) || std::fabs(times_taken) > 0x1p48) {
    v.lower = std::min(0.0, y.lower);
    v.upper = std::max(0.0, y.upper);
    v.flags = admits_finite | interval_only;
    return v;
  }
  const double parts[] = {times_taken * y.lower, times_taken * y.upper};
  const double slack = sloppy * (x.magnitude() + std::fabs(times_taken) * y.magnitude());
  v.lower = x.lower - std::max(parts[0], parts[1]) - slack;
  v.upper = x.upper - std::min(parts[0], parts[1]) + slack;
  double local = rounding_.of_magnitude(v.magnitude());
  flush(local, v.lower, v.upper);
  finish(v, local, 0);
  if (v.may(interval_only)) return v;
  share(x);
  share(y);
  v.node = tape_.open(local);
  v.local = 0;
  if (x.node != no_node) tape_.edge({x.node, x.coefficient, x.coefficient});
  const double slope = -times_taken * y.coefficient;
  if (y.node != no_node && slope != 0) tape_.edge({y.node, slope, slope});
  return v;
}

template Value<double> Arithmetic<double>::angle(Value<double>, Value<double>);
template Value<Quad> Arithmetic<Quad>::angle(Value<Quad>, Value<Quad>);
template Value<double> Arithmetic<double>::remainder(Value<double>, Value<double>);
template Value<Quad> Arithmetic<Quad>::remainder(Value<Quad>, Value<Quad>);

}  // namespace etalon::reference::bounds
