// Sums in normal form, and what all local rules share: rounding, flushing, overflow.
#include <algorithm>
#include <cmath>

#include "reference/bounds/arithmetic.hpp"

namespace etalon::reference::bounds {
namespace {

// Shorter sums leave nothing to statistics.
constexpr std::int64_t long_sum = 16;

/// Adds, and says how far the result may be from the exact sum.
double add_to(double& sum, double term) {
  const double before = sum;
  sum += term;
  const double of_term = sum - before;
  return std::fabs((before - (sum - of_term)) + (term - of_term));
}
double add_to(Quad& sum, Quad term) {
  sum += term;
  return Wide<Quad>::rounding_of(sum);
}

}  // namespace

template <class R>
void Sum<R>::clear() {
  edges.clear();
  auto kept = std::move(edges);
  *this = Sum{};
  edges = std::move(kept);
}

template <class R>
void Sum<R>::add(const Value<R>& t) {
  if (t.is_zero()) return;
  if (count++ == 0) single = t;
  may = static_cast<std::uint8_t>(may | (t.flags & ~admits_finite));
  finite = finite && t.may(admits_finite);
  const int classes = t.flags & ~interval_only;
  certain_plus = certain_plus || classes == admits_positive_infinity;
  certain_minus = certain_minus || classes == admits_negative_infinity;
  certain_nan = certain_nan || classes == admits_nan;
  interval = interval || t.may(interval_only);
  own = add_up(own, add_to(reference, t.reference));
  box = box + t;
  local = add_up(local, t.local);
  scale += std::max(std::fabs(static_cast<double>(t.reference)), t.scale);
  terms.add(t.lower, t.upper, t.quantum);
  if (t.node != no_node) edges.push_back({t.node, just(t.coefficient)});
}

/// The sum, in the accumulators' format until it is added up.
template <class R>
Value<R> Arithmetic<R>::total(Sum<R>& s) {
  const Rounding result = rounding_;
  rounding_ = accumulators_;
  const Value<R> v = added(s);
  rounding_ = result;
  return s.count > 1 && result.precision < accumulators_.precision ? stored(v, result) : v;
}

template <class R>
Value<R> Arithmetic<R>::added(Sum<R>& s) {
  if (s.count == 0) return point<R>(0);
  if (s.count == 1) {
    if (s.single.magnitude() > rounding_.omega) finish(s.single, s.single.local, 0);
    return s.single;
  }
  if (s.certain_nan || (s.certain_plus && s.certain_minus)) return point<R>(static_cast<R>(std::nan("")));
  Value<R> v;
  s.terms.total = s.box.magnitude();
  // Partial sums may cancel whatever the total is; multiples of a normal power of two are never subnormal.
  const bool flushes = contract_.flush_results && s.terms.quantum < rounding_.eta_exponent + rounding_.precision - 1;
  const double flushed = flushes ? mul_up(static_cast<double>(s.terms.count - 1), std::min(rounding_.tau, s.terms.magnitudes)) : 0;
  const std::optional<std::int64_t> height = s.height > 0 ? std::optional(s.height) : std::nullopt;
  double bound = add_up(summation_bound(s.terms, rounding_, height), flushed);
  v.reference = s.reference;
  v.quantum = s.terms.quantum;
  v.scale = s.scale;
  v.flags = static_cast<std::uint8_t>(s.may | (s.finite ? admits_finite : 0) | (s.interval ? interval_only : 0));
  const auto infinities = admits_positive_infinity | admits_negative_infinity;
  const double unscaled = std::ldexp(1.0, std::min(s.halvings, 1000));
  if (mul_up(s.terms.positive, unscaled) > rounding_.omega) v.flags |= admits_positive_infinity | interval_only;
  if (mul_up(s.terms.negative, unscaled) > rounding_.omega) v.flags |= admits_negative_infinity | interval_only;
  if ((v.flags & infinities) == infinities) v.flags |= admits_nan;
  if (bound == 0 && s.local == 0 && s.edges.empty() && v.ordinary() && s.box.lower == s.box.upper) {
    v.enclose(Wide<R>::around(v.reference));
    return v;
  }
  bound = add_up(bound, s.own);
  v.enclose(s.box);
  finish(v, bound, 0);
  if (v.may(interval_only)) return v;
  v.local = add_up(bound, s.local);
  const bool is_long = s.terms.count >= long_sum;
  if (!s.edges.empty() || is_long) {
    // What is cut off errs to one side: nothing cancels.
    const bool cut = contract_.accumulation == spec::RoundingMode::toward_zero;
    const double spread = !is_long ? 0 : cut ? bound : summation_deviation(s.terms, rounding_, height) + flushed;
    v.node = tape_.open(v.local, is_long ? s.local : v.local, std::min(bound, spread));
    v.local = 0;
    for (const Edge& e : s.edges) tape_.edge(e);
  }
  return v;
}

/// Widens the box by the local error, `relative` of each end where that is less, and marks overflow.
template <class R>
void Arithmetic<R>::finish(Value<R>& v, double local, double relative) {
  // Flushing and narrow operands err by more than the result's own rounding.
  const bool own_end = relative > 0 && !contract_.flush_results && contract_.product_operand_precision == 0;
  const auto error = [&](double end) {
    return own_end ? std::min(local, add_up(mul_up(relative, std::fabs(end)), rounding_.eta)) : local;
  };
  v.enclose({sub_down(v.lower, error(v.lower)), add_up(v.upper, error(v.upper))});
  if (v.upper > rounding_.omega) v.flags |= admits_positive_infinity | interval_only;
  if (v.lower < -rounding_.omega) v.flags |= admits_negative_infinity | interval_only;
  v.local = v.may(interval_only) ? 0 : local;
  if (v.scale == 0) v.scale = std::fabs(static_cast<double>(v.reference));
}

/// A subnormal result, even an exact one, may become zero.
template <class R>
void Arithmetic<R>::flush(double& local, const Interval& exact) const {
  if (!contract_.flush_results || (exact.lower == 0 && exact.upper == 0)) return;
  const Interval result = widened(exact, local);
  if (result.lower >= rounding_.tau || result.upper <= -rounding_.tau) return;
  local = std::max(local, std::min(result.magnitude(), rounding_.tau));
}

template <class R>
void Arithmetic<R>::share(Value<R>& v) {
  if (v.local == 0 || v.may(interval_only)) return;
  const NodeId below = v.node;
  v.node = tape_.open(v.local);
  if (below != no_node) tape_.edge({below, just(v.coefficient)});
  v.coefficient = 1;
  v.local = 0;
}

template <class R>
Value<R> Arithmetic<R>::constant(R x, double error) {
  Value<R> v = given<R>(x);
  if (!v.ordinary()) return v;
  if (error == 0 && rounding_.holds(v.magnitude(), v.quantum)) return v;
  v.enclose(widened(v, error));
  v.quantum = no_quantum;
  finish(v, rounding_.of_magnitude(v.magnitude()), 0);
  if (!v.may(interval_only)) v.local = add_up(v.local, error);
  return v;
}

template <class R>
Value<R> Arithmetic<R>::operand(R x) {
  Value<R> v = given<R>(x);
  if (contract_.flush_operands && v.ordinary() && x != 0 && v.magnitude() < rounding_.tau) {
    v.local = v.magnitude();
    v.lower = std::min(v.lower, 0.0);
    v.upper = std::max(v.upper, 0.0);
  }
  return v;
}

template <class R>
Value<R> Arithmetic<R>::stored(const Value<R>& v, const Rounding& format) {
  if (!v.may(admits_finite) || (v.exact() && !contract_.flush_results && format.holds(v.magnitude(), v.quantum))) {
    return v;
  }
  const Rounding wide = rounding_;
  rounding_ = format;
  Value<R> r = v;
  double local = format.holds(v.magnitude(), v.quantum) ? 0 : format.of_magnitude(v.magnitude());
  flush(local, v);
  finish(r, local, format.u);
  rounding_ = wide;
  r.local = r.may(interval_only) ? 0 : add_up(local, v.local);
  return r;
}

template struct Sum<double>;
template struct Sum<Quad>;
template Value<double> Arithmetic<double>::added(Sum<double>&);
template Value<Quad> Arithmetic<Quad>::added(Sum<Quad>&);
template Value<double> Arithmetic<double>::total(Sum<double>&);
template Value<Quad> Arithmetic<Quad>::total(Sum<Quad>&);
template void Arithmetic<double>::finish(Value<double>&, double, double);
template void Arithmetic<Quad>::finish(Value<Quad>&, double, double);
template void Arithmetic<double>::flush(double&, const Interval&) const;
template void Arithmetic<Quad>::flush(double&, const Interval&) const;
template void Arithmetic<double>::share(Value<double>&);
template void Arithmetic<Quad>::share(Value<Quad>&);
template Value<double> Arithmetic<double>::constant(double, double);
template Value<Quad> Arithmetic<Quad>::constant(Quad, double);
template Value<double> Arithmetic<double>::operand(double);
template Value<Quad> Arithmetic<Quad>::operand(Quad);
template Value<double> Arithmetic<double>::stored(const Value<double>&, const Rounding&);
template Value<Quad> Arithmetic<Quad>::stored(const Value<Quad>&, const Rounding&);

}  // namespace etalon::reference::bounds
