// Functions within their ulps (R3), powers, extrema.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reference/bounds/arithmetic.hpp"
#include "spec/error.hpp"

namespace etalon::reference::bounds {
namespace {

using spec::Primitive;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double log_2 = 0.69314718055994531;
constexpr double sloppy = 0x1p-48;  // more than any error of the double functions used for boxes

struct Range {
  double lower = 0;
  double upper = 0;
};

/// An end that overflowed a double is beyond the largest one, and no more is known.
Range widened(double a, double b) {
  constexpr double most = std::numeric_limits<double>::max();
  const double low = std::min(std::min(a, b), most);
  const double high = std::max(std::max(a, b), -most);
  return {low == 0 ? 0 : low - sloppy * std::fabs(low), high == 0 ? 0 : high + sloppy * std::fabs(high)};
}

double value(Primitive p, double x) { return Wide<double>::evaluate(p, x); }

/// The image of [a, b] under a function that is monotone there or even or, for sin and cos, has slope at most 1.
Range image(Primitive p, double a, double b) {
  if (p == Primitive::cosh && a < 0 && b > 0) return {1, widened(value(p, a), value(p, b)).upper};
  if (p != Primitive::sin && p != Primitive::cos) return widened(value(p, a), value(p, b));
  const double half = (b - a) / 2;
  const double c = value(p, a + half);
  return {std::max(-1.0, c - half * (1 + sloppy) - sloppy), std::min(1.0, c + half * (1 + sloppy) + sloppy)};
}

/// Whether [a, b] holds a pole of the tangent, which rises between poles.
bool has_pole(double a, double b) { return b - a >= 3.14 || value(Primitive::tan, a) > value(Primitive::tan, b); }

double sech_squared(double x) {
  const double c = std::cosh(x);
  return 1 / (c * c);
}

/// The derivative's range over [a, b].
Range slope(Primitive p, double a, double b) {
  switch (p) {
    case Primitive::exp:
    case Primitive::expm1: return widened(std::exp(a), std::exp(b));
    case Primitive::exp2: return widened(log_2 * std::exp2(a), log_2 * std::exp2(b));
    case Primitive::log: return widened(1 / a, 1 / b);
    case Primitive::log2: return widened(1 / (a * log_2), 1 / (b * log_2));
    case Primitive::sinh: return image(Primitive::cosh, a, b);
    case Primitive::cosh: return image(Primitive::sinh, a, b);
    case Primitive::tan: {
      const Range t = image(Primitive::tan, a, b);
      const Range r = widened(1 + t.lower * t.lower, 1 + t.upper * t.upper);
      return {t.lower < 0 && t.upper > 0 ? 1 : r.lower, r.upper};
    }
    case Primitive::log1p: return widened(1 / (1 + a), 1 / (1 + b));
    case Primitive::sqrt: return widened(0.5 / std::sqrt(a), 0.5 / std::sqrt(b));
    case Primitive::sin: return image(Primitive::cos, a, b);
    case Primitive::cos: {
      const Range s = image(Primitive::sin, a, b);
      return {-s.upper, -s.lower};
    }
    case Primitive::tanh: {
      const Range r = widened(sech_squared(a), sech_squared(b));
      return {r.lower, a < 0 && b > 0 ? 1 : r.upper};
    }
    case Primitive::erf: {
      constexpr double top = 1.1283791670955126;
      const Range r = widened(top * std::exp(-a * a), top * std::exp(-b * b));
      return {r.lower, a < 0 && b > 0 ? up(top) : r.upper};
    }
    default: throw InternalError("bounds: a function without derivative");
  }
}

/// Where a function is defined: x >= edge, the value at the edge being -infinity for logarithms.
double domain_edge(Primitive p) {
  if (p == Primitive::log || p == Primitive::log2 || p == Primitive::sqrt) return 0;
  return p == Primitive::log1p ? -1 : -infinity;
}

template <class R>
bool is_exact_point(Primitive p, const R& x, const R& y) {
  if (p == Primitive::log || p == Primitive::log2) return x == 1;
  return x == 0 && (y == 0 || y == 1);
}

/// Adds to the flags (and to the box, where finite) what the function gives at an infinity.
template <class R>
void add_limit(Primitive p, double at, Value<R>& v, bool& any) {
  const double limit = value(p, at);
  if (std::isnan(limit)) v.flags |= admits_nan;
  else if (limit == infinity) v.flags |= admits_positive_infinity;
  else if (limit == -infinity) v.flags |= admits_negative_infinity;
  else {
    v.flags |= admits_finite;
    v.lower = any ? std::min(v.lower, limit) : limit;
    v.upper = any ? std::max(v.upper, limit) : limit;
    any = true;
  }
}

}  // namespace

template <class R>
double Arithmetic<R>::function_error(const spec::FunctionBound& bound, double x, double y) const {
  const double ulp = std::max(2 * rounding_.u * power_below(y), rounding_.eta);
  // Half of the smallest subnormal double is no double: what underflows is never exactly zero.
  const double ulps = bound.k0 + (bound.k1 == 0 ? 0 : bound.k1 * x);  // x may be infinite
  return std::max(ulps * ulp, rounding_.half_eta) + bound.absolute;
}

template <class R>
Value<R> Arithmetic<R>::function(Primitive p, Value<R> x) {
  const spec::FunctionBound bound = spec::function_bound(contract_, rounding_.dtype, p);
  const double edge = domain_edge(p);
  Value<R> v;
  v.flags = 0;
  bool any = false;
  if (x.may(admits_finite)) {
    v.flags = admits_finite;
    if (x.lower < edge) v.flags |= admits_nan | interval_only;
    if (x.lower <= edge && p != Primitive::sqrt) v.flags |= admits_negative_infinity | interval_only;
    if (x.upper < edge) v.flags = admits_nan | interval_only;
    if (x.upper == edge && x.exact() && p != Primitive::sqrt) v.flags = admits_negative_infinity | interval_only;
    any = v.may(admits_finite);
  }
  if (x.exact() && any) {
    v.reference = Wide<R>::evaluate(p, x.reference);
    v.lower = Wide<R>::below(v.reference);
    v.upper = Wide<R>::above(v.reference);
    const bool root = p == Primitive::sqrt && bound.k0 <= 0.5 && bound.absolute == 0 && bound.k1 == 0 &&
                      v.reference * v.reference == x.reference;
    const bool known = bound.exact_points && is_exact_point(p, x.reference, v.reference);
    const std::int32_t quantum = lowest_bit(v.reference);
    if ((root || known) && rounding_.holds(v.magnitude(), quantum)) {
      v.quantum = quantum;
      v.scale = v.magnitude();
      return v;
    }
  } else if (any) {
    if (p == Primitive::tan && has_pole(x.lower, x.upper)) return wild();
    v.reference = Wide<R>::evaluate(p, x.reference);
    const Range r = image(p, std::max(x.lower, edge), x.upper);
    v.lower = r.lower;
    v.upper = r.upper;
  }
  if (x.may(interval_only)) {
    if (x.may(admits_positive_infinity)) add_limit(p, infinity, v, any);
    if (x.may(admits_negative_infinity)) add_limit(p, -infinity, v, any);
    v.flags |= interval_only | (x.flags & admits_nan);
  }
  if (!any) {
    v.reference = static_cast<R>(v.may(admits_nan) ? std::nan("") : v.may(admits_positive_infinity) ? infinity : -infinity);
    return v;
  }
  double local = function_error(bound, x.magnitude(), v.magnitude());
  flush(local, v.lower, v.upper);
  const Range slopes = x.exact() || v.may(interval_only) ? Range{} : slope(p, x.lower, x.upper);
  const double relative = bound.k1 == 0 && bound.absolute == 0 ? 2.125 * rounding_.u * bound.k0 : 0;
  finish(v, local, bound.k0 <= 1 ? relative : 0);
  if (!v.may(interval_only) && !x.exact()) {
    share(x);
    v.node = tape_.open(local);
    v.local = 0;
    const Range s = widened(slopes.lower * x.coefficient, slopes.upper * x.coefficient);
    tape_.edge({x.node, s.lower, s.upper});
  }
  return v;
}

template <class R>
Value<R> Arithmetic<R>::power(Value<R> x, Value<R> y) {
  const spec::FunctionBound bound = spec::function_bound(contract_, rounding_.dtype, Primitive::pow);
  if (!x.ordinary() || !y.ordinary()) {
    if (x.flags != (x.flags & ~admits_finite) || y.flags != (y.flags & ~admits_finite)) {
      const bool constant = x.exact() || y.exact();
      if (!constant) return wild();
    }
    const bool pointlike = (x.exact() || !x.may(admits_finite)) && (y.exact() || !y.may(admits_finite));
    return pointlike ? point<R>(static_cast<R>(std::pow(static_cast<double>(x.reference), static_cast<double>(y.reference))))
                     : wild();
  }
  // What equations and the standards fix: x^0 = 1 and, for y > 0, 0^y = 0. x^1 is a function value like any other.
  if (y.is_zero()) return point<R>(1);
  if (x.is_zero() && y.exact() && y.reference > 0) return point<R>(0);
  const bool whole = y.exact() && std::floor(y.lower) == y.lower;
  const bool points = x.exact() && y.exact();
  Value<R> v;
  if (points) {
    v.reference = Wide<R>::evaluate(Primitive::pow, x.reference, y.reference);
    const Value<R> p = point<R>(v.reference);
    if (!p.ordinary() && (x.is_zero() || v.reference != v.reference)) return p;
    if (!p.ordinary()) {
      // A number beyond every double: not infinite for those who compute with more, so that zero times it is zero.
      const bool positive = v.reference > 0;
      v.flags = admits_finite | interval_only | (positive ? admits_positive_infinity : admits_negative_infinity);
      v.lower = positive ? std::numeric_limits<double>::max() : -infinity;
      v.upper = positive ? infinity : -std::numeric_limits<double>::max();
      return v;
    }
    v.lower = Wide<R>::below(v.reference);
    v.upper = Wide<R>::above(v.reference);
  } else {
    if (x.lower <= 0 && !(whole && (y.lower > 0 || x.upper < 0))) return wild();
    v.reference = Wide<R>::evaluate(Primitive::pow, x.reference, y.reference);
    const std::array corners{std::pow(x.lower, y.lower), std::pow(x.lower, y.upper), std::pow(x.upper, y.lower),
                             std::pow(x.upper, y.upper)};
    const Range r = widened(*std::min_element(corners.begin(), corners.end()),
                            *std::max_element(corners.begin(), corners.end()));
    v.lower = x.lower < 0 && x.upper > 0 ? std::min(r.lower, 0.0) : r.lower;
    v.upper = r.upper;
  }
  double local = function_error(bound, y.magnitude() * std::fabs(std::log(x.least() > 0 ? x.least() : 1)), v.magnitude());
  // A whole power may also be computed by repeated products.
  if (whole && y.magnitude() <= 64) {
    const double products = y.magnitude() * rounding_.u;
    local = std::max(local, v.magnitude() * products / (1 - products) + y.magnitude() * rounding_.eta);
  }
  flush(local, v.lower, v.upper);
  const Range base{x.lower, x.upper};
  finish(v, local, 0);
  if (v.may(interval_only) || points) return v;
  share(x);
  share(y);
  v.node = tape_.open(local);
  v.local = 0;
  if (x.node != no_node) {
    std::array<double, 4> c{y.lower * std::pow(base.lower, y.lower - 1), y.upper * std::pow(base.lower, y.upper - 1),
                            y.lower * std::pow(base.upper, y.lower - 1), y.upper * std::pow(base.upper, y.upper - 1)};
    Range s = widened(*std::min_element(c.begin(), c.end()), *std::max_element(c.begin(), c.end()));
    if (base.lower < 0 && base.upper > 0) s = {std::min(s.lower, 0.0), std::max(s.upper, 0.0)};
    s = x.coefficient > 0 ? Range{s.lower * x.coefficient, s.upper * x.coefficient}
                          : Range{s.upper * x.coefficient, s.lower * x.coefficient};
    tape_.edge({x.node, s.lower, s.upper});
  }
  if (y.node != no_node) {
    const double logs[] = {std::log(base.lower), std::log(base.upper)};
    const std::array c{logs[0] * v.lower, logs[0] * v.upper, logs[1] * v.lower, logs[1] * v.upper};
    const Range s = widened(*std::min_element(c.begin(), c.end()) * y.coefficient,
                            *std::max_element(c.begin(), c.end()) * y.coefficient);
    tape_.edge({y.node, s.lower, s.upper});
  }
  return v;
}

template <class R>
Value<R> Arithmetic<R>::absolute(const Value<R>& x) {
  if (x.ordinary() && x.lower >= 0) return x;
  Value<R> v = x;
  if (x.ordinary() && x.upper <= 0) {
    scale_exactly(v, true, 0);
    return v;
  }
  v.reference = x.reference < 0 ? -x.reference : x.reference;
  v.upper = x.magnitude();
  v.lower = x.least();
  if (v.may(admits_negative_infinity)) {
    v.flags = static_cast<std::uint8_t>((v.flags & ~admits_negative_infinity) | admits_positive_infinity);
  }
  if (v.may(interval_only)) return v;
  share(v);
  const NodeId below = v.node;
  const double c = std::fabs(v.coefficient);
  v.coefficient = 1;
  v.node = tape_.open(0);
  tape_.edge({below, -c, c});
  return v;
}

template <class R>
Value<R> Arithmetic<R>::extremum(std::span<const Value<R>> values, bool largest) {
  const auto low = [&](const Value<R>& v) { return largest ? v.lower : -v.upper; };
  const auto high = [&](const Value<R>& v) { return largest ? v.upper : -v.lower; };
  double floor = -infinity;
  std::uint8_t flags = 0;
  for (const Value<R>& v : values) {
    flags |= v.flags;
    if (v.ordinary()) floor = std::max(floor, low(v));
  }
  const Value<R>* best = nullptr;
  std::size_t candidates = 0;
  bool exact = true;
  for (const Value<R>& v : values) {
    if (!v.may(admits_finite) || high(v) < floor) continue;
    ++candidates;
    exact = exact && v.exact();
    if (best == nullptr || (largest ? v.reference > best->reference : v.reference < best->reference)) best = &v;
  }
  const auto top = static_cast<std::uint8_t>(largest ? admits_positive_infinity : admits_negative_infinity);
  if ((flags & interval_only) == 0 && (candidates == 1 || exact)) return *best;
  Value<R> v;
  if (best != nullptr) v = *best;
  v.node = no_node;
  v.local = 0;
  v.coefficient = 1;
  bool must_top = false;
  bool finite = false;
  bool bottom = true;
  bool certain_nan = false;
  bool all_nan = true;
  double upper = -infinity;
  for (const Value<R>& x : values) {
    all_nan = all_nan && x.may(admits_nan);
    if ((x.flags & (admits_finite | admits_nan | admits_positive_infinity | admits_negative_infinity)) == admits_nan) {
      certain_nan = true;
      continue;
    }
    must_top = must_top || (x.flags & (admits_finite | admits_nan | admits_positive_infinity | admits_negative_infinity)) == top;
    finite = finite || x.may(admits_finite);
    bottom = bottom && x.may(static_cast<std::uint8_t>(top ^ admits_positive_infinity ^ admits_negative_infinity));
    if (x.may(admits_finite)) {
      upper = std::max(upper, high(x));
      if (x.quantum < v.quantum) v.quantum = x.quantum;
    }
  }
  const spec::NanPolicy policy = contract_.nan_of_extrema;
  if (policy == spec::NanPolicy::propagate && certain_nan) return point<R>(static_cast<R>(std::nan("")));
  // A comparison with NaN may drop what came before it, unless it is promised what becomes of NaN.
  const bool dropping = (flags & admits_nan) != 0 && policy == spec::NanPolicy::free;
  if (policy == spec::NanPolicy::ignore && !all_nan) flags = static_cast<std::uint8_t>(flags & ~admits_nan);
  if (dropping) must_top = false;
  double lower = floor;
  if (floor == -infinity || dropping) {
    lower = infinity;
    for (const Value<R>& x : values) lower = x.may(admits_finite) ? std::min(lower, low(x)) : lower;
  }
  v.lower = largest ? lower : -upper;
  v.upper = largest ? upper : -lower;
  if ((flags & interval_only) != 0) {
    // Where it is left free whether an extremum passes NaN on, both answers are admitted.
    v.flags = static_cast<std::uint8_t>(interval_only | (flags & (admits_nan | top)));
    if (finite && !must_top) v.flags |= admits_finite;
    if (dropping) v.flags |= flags & (admits_positive_infinity | admits_negative_infinity);
    if (bottom) v.flags |= top ^ admits_positive_infinity ^ admits_negative_infinity;
    return v;
  }
  std::vector<Edge> edges;
  for (Value<R> x : values) {
    if (high(x) < floor) continue;
    share(x);
    if (x.node != no_node) edges.push_back({x.node, std::min(0.0, x.coefficient), std::max(0.0, x.coefficient)});
  }
  v.node = tape_.open(0);
  for (const Edge& e : edges) tape_.edge(e);
  return v;
}

template double Arithmetic<double>::function_error(const spec::FunctionBound&, double, double) const;
template double Arithmetic<Quad>::function_error(const spec::FunctionBound&, double, double) const;
template Value<double> Arithmetic<double>::function(Primitive, Value<double>);
template Value<Quad> Arithmetic<Quad>::function(Primitive, Value<Quad>);
template Value<double> Arithmetic<double>::power(Value<double>, Value<double>);
template Value<Quad> Arithmetic<Quad>::power(Value<Quad>, Value<Quad>);
template Value<double> Arithmetic<double>::absolute(const Value<double>&);
template Value<Quad> Arithmetic<Quad>::absolute(const Value<Quad>&);
template Value<double> Arithmetic<double>::extremum(std::span<const Value<double>>, bool);
template Value<Quad> Arithmetic<Quad>::extremum(std::span<const Value<Quad>>, bool);

}  // namespace etalon::reference::bounds
