// Functions of two reals that are neither products nor powers: the angle of a point, the remainder.
#include <algorithm>
#include <cmath>

#include "reference/bounds/arithmetic.hpp"

namespace etalon::reference::bounds {
namespace {

using spec::Primitive;

/// The angle is continuous on the box, which holds no part of the half line y = 0, x <= 0.
template <class R>
bool avoids_cut(const Value<R>& y, const Value<R>& x) {
  return x.lower > 0 || y.lower > 0 || y.upper < 0;
}

/// From one side of the cut to the other.
template <class R>
void turn_anyhow(Value<R>& v) {
  const double half = enclose(Primitive::pi, 0).upper;
  v.enclose({-half, half});
  v.flags = admits_finite | interval_only;
}

/// Whether the angle hangs on the sign of a zero that is not known.
template <class R>
bool hangs_on_a_sign(const Value<R>& y, double x, bool x_of_any_sign) {
  return (y.is_zero_of_any_sign() && (x < 0 || std::signbit(x))) || (y.is_zero() && x_of_any_sign);
}

}  // namespace

template <class R>
Value<R> Arithmetic<R>::angle(Value<R> y, Value<R> x) {
  if (!x.ordinary() || !y.ordinary()) {
    const auto ordinate = y.only(), abscissa = x.only();
    if (!ordinate || !abscissa) return wild();
    const bool open = hangs_on_a_sign(y, static_cast<double>(*abscissa), false);
    const Nearly<R> turn = Wide<R>::nearly(Primitive::atan2, *ordinate, *abscissa);
    if (!(turn.value == turn.value) || turn.value == 0) return point<R>(turn.value);
    const double size = std::fabs(static_cast<double>(turn.value));
    if (open) {
      Value<R> v = point<R>(turn.value);
      turn_anyhow(v);
      finish(v, function_error(spec::function_bound(contract_, rounding_.dtype, Primitive::atan2), 0, v.magnitude()), 0);
      return v;
    }
    const double error = function_error(spec::function_bound(contract_, rounding_.dtype, Primitive::atan2), 0, up(size));
    return constant(turn.value, add_up(error, turn.error));
  }
  const bool open = hangs_on_a_sign(y, x.exact() ? static_cast<double>(x.reference) : x.lower, x.is_zero_of_any_sign());
  const bool points = x.exact() && y.exact() && !open;
  Value<R> v;
  const Nearly<R> at_reference = Wide<R>::nearly(Primitive::atan2, y.reference, x.reference);
  v.reference = at_reference.value;
  if (points && y.is_zero() && v.reference == 0) return point<R>(v.reference);
  if (points) {
    v.enclose(at_reference.box);
  } else if (avoids_cut(y, x)) {
    // Along each axis the angle rises or falls throughout, so that its extremes lie at corners.
    const auto corner = [](double b, double a) { return enclose(Primitive::atan2, b, a); };
    v.enclose(hull(hull(corner(y.lower, x.lower), corner(y.lower, x.upper)), hull(corner(y.upper, x.lower), corner(y.upper, x.upper))));
  } else {
    turn_anyhow(v);
  }
  const spec::FunctionBound bound = spec::function_bound(contract_, rounding_.dtype, Primitive::atan2);
  double local = function_error(bound, 0, v.magnitude());
  flush(local, v);
  local = add_up(local, at_reference.error);
  finish(v, local, 0);
  if (points || v.may(interval_only)) return v;
  const Interval ordinate = y;
  const Interval abscissa = x;
  const Interval squared_radius = square(x) + square(y);
  share(x);
  share(y);
  v.node = tape_.open(local);
  v.local = 0;
  if (y.node != no_node) tape_.edge({y.node, just(y.coefficient) * (abscissa / squared_radius)});
  if (x.node != no_node) tape_.edge({x.node, just(x.coefficient) * (-ordinate / squared_radius)});
  return v;
}

template <class R>
Value<R> Arithmetic<R>::remainder(Value<R> x, Value<R> y) {
  if (!x.ordinary() || !y.ordinary()) {
    const auto dividend = x.only(), divisor = y.only();
    return dividend && divisor ? point<R>(Wide<R>::evaluate(Primitive::modulo, *dividend, *divisor)) : wild();
  }
  const bool points = x.exact() && y.exact();
  if (!points && y.lower <= 0 && y.upper >= 0) return wild();
  Value<R> v;
  v.reference = Wide<R>::evaluate(Primitive::modulo, x.reference, y.reference);
  if (points) v = point<R>(v.reference);
  if (!v.ordinary()) return v;
  double own = 0;
  double times_taken = 0;
  if (points) {
    // Without the divisor's sign a remainder is a number of the type; with it, where the type reaches down to its grid.
    const std::int32_t grid = std::clamp(std::min(x.quantum, y.quantum), -1074 - Wide<R>::precision, 1023 - Wide<R>::precision);
    const bool kept = (x.lower < 0) == (y.lower < 0) || y.magnitude() <= std::ldexp(1.0, grid + Wide<R>::precision);
    own = kept ? 0 : Wide<R>::rounding_of(v.reference);
    if (own == 0 && rounding_.holds(v.magnitude(), v.quantum)) return v;
    v.enclose(widened(v, own));
    v.quantum = no_quantum;
  } else {
    const Interval quotient = x / y;
    times_taken = std::floor(quotient.lower);
    if (times_taken != std::floor(quotient.upper)) {
      v.lower = std::min(0.0, y.lower);
      v.upper = std::max(0.0, y.upper);
      v.flags = admits_finite | interval_only;
      return v;
    }
    own = Wide<R>::rounding_of(v.reference);
    v.enclose(x - just(times_taken) * y);
  }
  double local = rounding_.of_magnitude(v.magnitude());
  flush(local, v);
  local = add_up(local, own);
  finish(v, local, 0);
  if (points || v.may(interval_only)) return v;
  share(x);
  share(y);
  v.node = tape_.open(local);
  v.local = 0;
  if (x.node != no_node) tape_.edge({x.node, just(x.coefficient)});
  if (y.node != no_node && times_taken != 0) tape_.edge({y.node, just(-times_taken) * just(y.coefficient)});
  return v;
}

template Value<double> Arithmetic<double>::angle(Value<double>, Value<double>);
template Value<Quad> Arithmetic<Quad>::angle(Value<Quad>, Value<Quad>);
template Value<double> Arithmetic<double>::remainder(Value<double>, Value<double>);
template Value<Quad> Arithmetic<Quad>::remainder(Value<Quad>, Value<Quad>);

}  // namespace etalon::reference::bounds
