// Functions within their ulps (R3), powers, extrema.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/bounds/arithmetic.hpp"
#include "spec/error.hpp"

namespace etalon::reference::bounds {
namespace {

using spec::Primitive;

/// The image of the interval under a function that is monotone there or even or, for sin and cos, has slope at most 1.
Interval image(Primitive p, const Interval& x) {
  if (p == Primitive::sin || p == Primitive::cos) {
    const double middle = x.lower + (x.upper - x.lower) / 2;
    const double reach = std::max(sub_up(x.upper, middle), sub_up(middle, x.lower));
    const Interval r = widened(enclose(p, middle), reach);
    return {std::max(-1.0, r.lower), std::min(1.0, r.upper)};
  }
  const Interval ends = hull(enclose(p, x.lower), enclose(p, x.upper));
  return p == Primitive::cosh && x.lower < 0 && x.upper > 0 ? hull(just(1), ends) : ends;
}

/// Whether the interval holds a pole of the tangent, which rises between poles. A width that is not above 3 leaves the
/// values at the ends of an interval with a pole in the wrong order by more than rounding can undo.
bool has_pole(const Interval& x) {
  return sub_up(x.upper, x.lower) > 3 || enclose(Primitive::tan, x.lower).lower > enclose(Primitive::tan, x.upper).lower;
}

/// The derivative's range over the interval, on which the function lies in y.
Interval slope(Primitive p, const Interval& x, const Interval& y) {
  switch (p) {
    case Primitive::exp: return y;
    case Primitive::expm1: return image(Primitive::exp, x);
    case Primitive::exp2: return enclose(Primitive::log, 2) * y;
    case Primitive::log: return just(1) / x;
    case Primitive::log2: return just(1) / (x * enclose(Primitive::log, 2));
    case Primitive::sinh: return image(Primitive::cosh, x);
    case Primitive::cosh: return image(Primitive::sinh, x);
    case Primitive::tan: return just(1) + square(y);
    case Primitive::log1p: return just(1) / (just(1) + x);
    case Primitive::sqrt: return just(1) / (just(2) * y);
    case Primitive::sin: return image(Primitive::cos, x);
    case Primitive::cos: return -image(Primitive::sin, x);
    case Primitive::tanh: return just(1) / square(image(Primitive::cosh, x));
    case Primitive::erf: return just(2) / sqrt(enclose(Primitive::pi, 0)) * image(Primitive::exp, -square(x));
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
  const double limit = Wide<double>::evaluate(p, at);
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

/// x^y over the boxes, at corners: neither ends below zero but for a whole y.
Interval powers(const Interval& x, const Interval& y) {
  Interval r = enclose(Primitive::pow, x.lower, y.lower);
  if (y.upper != y.lower) r = hull(r, enclose(Primitive::pow, x.lower, y.upper));
  r = hull(r, enclose(Primitive::pow, x.upper, y.lower));
  if (y.upper != y.lower) r = hull(r, enclose(Primitive::pow, x.upper, y.upper));
  return x.lower < 0 && x.upper > 0 ? hull(just(0), r) : r;
}

}  // namespace

template <class R>
double Arithmetic<R>::function_error(const spec::FunctionBound& bound, double x, double y) const {
  const double ulp = std::max(2 * rounding_.u * power_below(y), rounding_.eta);
  // Half of the smallest subnormal double is no double: what underflows is never exactly zero.
  const double ulps = add_up(bound.k0, mul_up(bound.k1, x));
  return add_up(std::max(mul_up(ulps, ulp), rounding_.half_eta), bound.absolute);
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
  double own = 0;
  if (any) {
    if (!x.exact() && p == Primitive::tan && has_pole(x)) return wild();
    const Nearly<R> at_reference = Wide<R>::nearly(p, x.reference);
    v.reference = at_reference.value;
    own = at_reference.error;
    v.enclose(x.exact() ? at_reference.box : image(p, {std::max(x.lower, edge), x.upper}));
  }
  if (x.exact() && any) {
    const std::int32_t quantum = lowest_bit(v.reference);
    const bool correct = bound.k0 <= 0.5 && bound.absolute == 0 && bound.k1 == 0;
    const bool root = p == Primitive::sqrt && correct && Wide<R>::is_product(v.reference, v.reference, x.reference);
    const bool known = bound.exact_points && is_exact_point(p, x.reference, v.reference);
    if ((root || known) && rounding_.holds(std::fabs(static_cast<double>(v.reference)), quantum)) {
      v = point<R>(v.reference);
      v.positive_zero = p == Primitive::sqrt && x.positive_zero;
      return v;
    }
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
  // Beyond every double nothing comes out that is lower than of the end nearer to zero: an ulp is at most twice that share of it there.
  const bool beyond = std::isinf(v.magnitude()) && v.least() > 0;
  double local = beyond ? mul_up(2, function_error(bound, x.magnitude(), v.least())) : function_error(bound, x.magnitude(), v.magnitude());
  if (beyond && !(local < v.least())) local = infinity;
  flush(local, v);
  if (!beyond) local = add_up(local, own);
  const Interval slopes = x.exact() || v.may(interval_only) ? Interval{} : slope(p, x, v);
  const double ulps = 2 * rounding_.u * bound.k0;
  const double relative = bound.k1 == 0 && bound.absolute == 0 ? add_up(ulps, 2 * Wide<R>::unit) : 0;
  finish(v, local, bound.k0 <= 1 ? relative : 0);
  if (!v.may(interval_only) && !x.exact()) {
    share(x);
    v.node = tape_.open(local);
    v.local = 0;
    tape_.edge({x.node, just(x.coefficient) * slopes});
  }
  return v;
}

/// An odd power keeps the sign of its base, which a zero may not have.
template <class R>
[[nodiscard]] static Value<R> pole_of_power(Value<R> pole, const Value<R>& base, bool odd) {
  if (odd && base.sign() == 0) pole.flags |= admits_positive_infinity | admits_negative_infinity;
  return pole;
}

template <class R>
Value<R> Arithmetic<R>::power(Value<R> x, Value<R> y) {
  const spec::FunctionBound bound = spec::function_bound(contract_, rounding_.dtype, Primitive::pow);
  if (!x.ordinary() || !y.ordinary()) {
    const auto base = x.only(), exponent = y.only();
    return base && exponent ? point<R>(static_cast<R>(std::pow(static_cast<double>(*base), static_cast<double>(*exponent)))) : wild();
  }
  // What equations and the standards fix: x^0 = 1 and, for y > 0, 0^y = 0. x^1 is a function value like any other.
  if (y.is_zero()) return point<R>(1);
  if (x.is_zero() && y.exact() && y.reference > 0) return point<R>(0);
  const bool whole = y.exact() && std::floor(y.lower) == y.lower;
  const bool points = x.exact() && y.exact();
  Value<R> v;
  if (!points && x.lower <= 0 && !(whole && (y.lower > 0 || x.upper < 0))) return wild();
  const Nearly<R> at_reference = Wide<R>::nearly(Primitive::pow, x.reference, y.reference);
  v.reference = at_reference.value;
  if (points) {
    const Value<R> p = point<R>(v.reference);
    if (!p.ordinary() && x.is_zero()) return pole_of_power(p, x, whole && std::fmod(y.lower, 2) != 0);
    if (v.reference != v.reference) return p;
    if (!p.ordinary()) {
      // A number beyond every double: not infinite for those who compute with more, so that zero times it is zero.
      const bool positive = v.reference > 0;
      v.flags = admits_finite | interval_only | (positive ? admits_positive_infinity : admits_negative_infinity);
      v.lower = positive ? std::numeric_limits<double>::max() : -infinity;
      v.upper = positive ? infinity : -std::numeric_limits<double>::max();
      return v;
    }
  }
  v.enclose(points ? at_reference.box : powers(x, y));
  double logarithm = 0;
  if (bound.k1 != 0 && x.least() > 0) {
    logarithm = std::max(enclose(Primitive::log, x.least()).magnitude(), enclose(Primitive::log, x.magnitude()).magnitude());
  }
  double local = function_error(bound, mul_up(y.magnitude(), logarithm), v.magnitude());
  // A whole power may also be computed by repeated products.
  if (whole && y.magnitude() <= 64) {
    local = std::max(local, add_up(mul_up(v.magnitude(), rounding_.of_product(y.magnitude())), mul_up(y.magnitude(), rounding_.eta)));
  }
  flush(local, v);
  local = add_up(local, at_reference.error);
  finish(v, local, 0);
  if (v.may(interval_only) || points) return v;
  const Interval base = x;
  const Interval exponent = y;
  const Interval result = v;
  share(x);
  share(y);
  v.node = tape_.open(local);
  v.local = 0;
  if (x.node != no_node) tape_.edge({x.node, just(x.coefficient) * (exponent * powers(base, exponent - just(1)))});
  if (y.node != no_node) tape_.edge({y.node, just(y.coefficient) * (image(Primitive::log, base) * result)});
  return v;
}

template <class R>
Value<R> Arithmetic<R>::absolute(const Value<R>& x) {
  Value<R> v = x;
  v.positive_zero = x.is_zero();
  v.negative_zero = false;
  if (x.is_zero()) v.reference = 0;
  if (x.ordinary() && x.lower >= 0) return v;
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
  tape_.edge({below, {-c, c}});
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
  Value<R> v;
  if (best != nullptr) v = *best;
  v.positive_zero = v.positive_zero && candidates == 1;
  v.negative_zero = v.negative_zero && candidates == 1;
  if ((flags & interval_only) == 0 && (candidates == 1 || exact)) return v;
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
    if (const auto sole = v.only()) v.reference = *sole;  // ties are found by it
    return v;
  }
  std::vector<Edge> edges;
  for (Value<R> x : values) {
    if (high(x) < floor) continue;
    share(x);
    if (x.node != no_node) edges.push_back({x.node, hull(just(0), just(x.coefficient))});
  }
  v.node = tape_.open(0);
  for (const Edge& e : edges) tape_.edge(e);
  if (tape_.keeps_lines()) relax_extremum(v, values, largest);
  return v;
}

/// The extremum is not beyond its best candidate, nor further from it than others reach beyond that; nor is it out of its box.
template <class R>
void Arithmetic<R>::relax_extremum(const Value<R>& v, std::span<const Value<R>> values, bool largest) {
  const auto reference = static_cast<double>(v.reference);
  const auto is_best = [&](const Value<R>& x) { return x.reference == v.reference && x.local == 0 && x.node != no_node; };
  const auto best = std::find_if(values.begin(), values.end(), is_best);
  const Interval box{sub_down(v.lower, up(reference)), sub_up(v.upper, down(reference))};
  Lines lines{no_node, {0, box.lower}, {0, box.upper}, box.magnitude()};
  if (best != values.end()) {
    double further = 0;
    for (const Value<R>& x : values) {
      if (&x != &*best) further = std::max(further, largest ? sub_up(x.upper, best->lower) : sub_up(best->upper, x.lower));
    }
    lines.operand = best->node;
    Line& near = largest ? lines.below : lines.above;
    Line& far = largest ? lines.above : lines.below;
    near = {best->coefficient, 0};
    // Which of two lines is lower, over the best candidate's box.
    if (further < (largest ? box.upper : -box.lower)) far = {best->coefficient, largest ? further : -further};
  }
  tape_.relax(lines);
}

template double Arithmetic<double>::function_error(const spec::FunctionBound&, double, double) const;
template double Arithmetic<Quad>::function_error(const spec::FunctionBound&, double, double) const;
template Value<double> Arithmetic<double>::function(Primitive, Value<double>);
template Value<Quad> Arithmetic<Quad>::function(Primitive, Value<Quad>);
template Value<double> Arithmetic<double>::power(Value<double>, Value<double>);
template Value<Quad> Arithmetic<Quad>::power(Value<Quad>, Value<Quad>);
template Value<double> Arithmetic<double>::absolute(const Value<double>&);
template Value<Quad> Arithmetic<Quad>::absolute(const Value<Quad>&);
template void Arithmetic<double>::relax_extremum(const Value<double>&, std::span<const Value<double>>, bool);
template void Arithmetic<Quad>::relax_extremum(const Value<Quad>&, std::span<const Value<Quad>>, bool);
template Value<double> Arithmetic<double>::extremum(std::span<const Value<double>>, bool);
template Value<Quad> Arithmetic<Quad>::extremum(std::span<const Value<Quad>>, bool);

}  // namespace etalon::reference::bounds
