/// \file
/// The functions of enclosures, instantiated once per type of end by exact/*.cpp and included by nothing else.
#pragma once

#include "reference/exact/enclosure_body.hpp"

namespace etalon::reference {

namespace detail {

/// The integral part is a step function: at a whole number (or halfway between two) it may jump.
[[nodiscard]] constexpr bool is_integral_part(spec::Primitive f) {
  using P = spec::Primitive;
  return f == P::floor || f == P::ceil || f == P::trunc || f == P::round;
}

}  // namespace detail

template <class End>
Enclosure<End> Enclosure<End>::abs(const Enclosure& a) {
  if (a.point_) {
    Enclosure r = point(a.lower_);
    r.lower_.set_sign(false);
    return r;
  }
  const int s = a.gap_sign();
  if (s != 0) return s > 0 ? a : a.negated();
  End other = a.lower_;
  other.negate();
  Enclosure r = between(End(), End::compare(other, a.upper_) > 0 ? other : a.upper_, true, false);
  if constexpr (marked) r.mark_ = Mark::function(spec::Primitive::abs, a.mark());
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::function(spec::Primitive f, const Enclosure& a) {
  if (a.point_) {
    Enclosure r;
    const int side = r.lower_.apply(f, a.lower_, Toward::nearest);
    r.unsigned_zero_ = a.unsigned_zero_ && r.is_zero();
    if (side == 0) return r;
    r = beside(r.lower_, side);
    if constexpr (marked) r.mark_ = Mark::function(f, a.mark());
    return r;
  }
  Enclosure r = gap_function(f, a);
  if constexpr (marked) {
    if (!r.point_) r.mark_ = Mark::function(f, a.mark());
  }
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::gap_function(spec::Primitive f, const Enclosure& a) {
  using P = spec::Primitive;
  const auto nan = [] { return special(std::numeric_limits<double>::quiet_NaN()); };
  switch (f) {
    case P::sqrt:
    case P::log:
    case P::log2: return a.surely_negative() ? nan() : increasing(f, a);
    case P::log1p: {
      const auto order = compare(a, Enclosure(-1));
      return order > 0 ? increasing(f, a) : order < 0 ? nan() : infinity(true);
    }
    case P::sin:
    case P::cos: return wave(f, a);
    case P::tan: {
      // Between two poles the cosine keeps its sign and the tangent grows.
      Enclosure width = point(a.upper_) - point(a.lower_);
      if (End::compare(width.upper(), Enclosure(3).lower_) >= 0) throw Undecided("the tangent");
      (void)wave(P::cos, a).surely_negative();
      return increasing(f, a);
    }
    case P::cosh: {
      const int s = a.gap_sign();
      if (s != 0) return increasing(f, s > 0 ? a : a.negated());
      Enclosure r = increasing(f, abs(a));
      r.lower_.set(std::int64_t{1});
      r.lower_open_ = false;
      return r;
    }
    default: return increasing(f, a);
  }
}

/// A function that grows wherever the operand lies.
template <class End>
Enclosure<End> Enclosure<End>::increasing(spec::Primitive f, const Enclosure& a) {
  End lower;
  End upper;
  const int below = lower.apply(f, a.lower_, Toward::down);
  const int above = upper.apply(f, a.upper_, Toward::up);
  const bool steps = detail::is_integral_part(f);
  if (steps && End::compare(lower, upper) != 0) {
    // Where the operand is the whole number (or half) between, it is known on which side of the jump it is.
    Enclosure jump = point(lower) + point(upper);
    if (f == spec::Primitive::round) jump = jump * of(0.5);
    else jump = point(f == spec::Primitive::floor || (f == spec::Primitive::trunc && !upper.is_negative()) ? upper : lower);
    if (a.equals(jump)) return function(f, jump);
  }
  // An integral part is the same for what is near: its ends are attained also where those of the operand are not.
  const bool lower_attained = below == 0 && (steps || !a.lower_is_open());
  const bool upper_attained = above == 0 && (steps || !a.upper_is_open());
  Enclosure r = between(lower, upper, lower_attained, upper_attained);
  r.lower_open_ = !lower_attained;
  r.upper_open_ = !upper_attained;
  return r;
}

/// The sine or cosine: at the middle, widened by the distance of the ends, since its slope is at most one.
template <class End>
Enclosure<End> Enclosure<End>::wave(spec::Primitive f, const Enclosure& a) {
  const Enclosure one(1);
  if (!a.lower_.is_inf() && !a.upper_.is_inf()) {
    End middle;
    End half;
    half.set(0.5);
    middle.add(a.lower_, a.upper_, Toward::nearest);
    middle.multiply(middle, half, Toward::nearest);
    End radius;
    End other;
    radius.subtract(a.upper_, middle, Toward::up);
    other.subtract(middle, a.lower_, Toward::up);
    if (End::compare(other, radius) > 0) radius = other;
    End lower;
    End upper;
    lower.apply(f, middle, Toward::down);
    upper.apply(f, middle, Toward::up);
    lower.subtract(lower, radius, Toward::down);
    upper.add(upper, radius, Toward::up);
    other.set(std::int64_t{-1});
    if (End::compare(lower, other) < 0) lower = other;
    if (End::compare(upper, one.lower_) > 0) upper = one.lower_;
    return between(lower, upper, true, true);
  }
  return between(one.negated().lower_, one.lower_, true, true);
}

/// What a function of two reals takes at the corners bounds it where it is monotone in each of them.
template <class End>
template <class Operation>
Enclosure<End> Enclosure<End>::hull_of_corners(const Enclosure& a, const Enclosure& b, const Operation& operation) {
  End lower;
  End upper;
  bool first = true;
  for (const End* x : {&a.lower(), &a.upper()}) {
    for (const End* y : {&b.lower(), &b.upper()}) {
      End low;
      End high;
      operation(low, *x, *y, Toward::down);
      operation(high, *x, *y, Toward::up);
      if (first || End::compare(low, lower) < 0) lower = low;
      if (first || End::compare(high, upper) > 0) upper = high;
      first = false;
    }
  }
  return between(lower, upper, false, false);
}

template <class End>
Enclosure<End> Enclosure<End>::power(const Enclosure& a, const Enclosure& b) {
  Enclosure r;
  if (a.point_ && b.point_) {
    const int side = r.lower_.power(a.lower_, b.lower_, Toward::nearest);
    if (a.unsigned_zero_ && r.is_inf()) throw Undecided("the sign of a divisor");
    r.unsigned_zero_ = a.unsigned_zero_ && r.is_zero();
    if (side == 0) return r;
    r = beside(r.lower_, side);
  } else {
    const Enclosure one(1);
    if (b.is_zero()) return one;
    if (a.point_ && End::compare(a.lower_, one.lower_) == 0) return one;
    if (a.is_nan() || b.is_nan()) return special(std::numeric_limits<double>::quiet_NaN());
    if (b.point_ && !b.is_inf() && b.lower_.is_whole()) {
      r = whole_power(a, b);
    } else if (a.is_zero() || a.surely_negative() || a.is_inf() || b.is_inf()) {
      return power_at_limits(a, b);
    } else {
      // x^y of x > 0 is monotone in each.
      r = hull_of_corners(a, b, [](End& out, const End& x, const End& y, Toward t) { (void)out.power(x, y, t); });
    }
  }
  if constexpr (marked) {
    if (!r.point_) r.mark_ = power_mark(a, b);
  }
  return r;
}

/// Of a gap and a whole number that is not zero.
template <class End>
Enclosure<End> Enclosure<End>::whole_power(const Enclosure& a, const Enclosure& b) {
  const bool odd = !product(b, of(0.5)).lower_.is_whole();
  const auto raise = [](End& out, const End& x, const End& y, Toward t) { (void)out.power(x, y, t); };
  const int s = a.gap_sign();
  if (s > 0) return hull_of_corners(a, b, raise);
  if (s < 0) {
    const Enclosure r = hull_of_corners(a.negated(), b, raise);
    return odd ? r.negated() : r;
  }
  if (b.lower_.is_negative()) throw Undecided("the sign of a divisor");
  End lower;
  End upper;
  if (odd) {
    lower.power(a.lower_, b.lower_, Toward::down);
    upper.power(a.upper_, b.lower_, Toward::up);
    return between(lower, upper, false, false);
  }
  upper.power(abs(a).upper(), b.lower_, Toward::up);
  return between(lower, upper, true, false);
}

/// Where the base is negative, zero or infinite, or the exponent is infinite, and one of the two is a gap.
template <class End>
Enclosure<End> Enclosure<End>::power_at_limits(const Enclosure& a, const Enclosure& b) {
  if (b.is_inf()) {
    const Enclosure size = abs(a);
    const auto order = compare(size, Enclosure(1));
    if (order == 0) return Enclosure(1);
    return (order > 0) != b.lower_.is_negative() ? infinity(false) : zero(false);
  }
  if (a.point_ && !a.lower_.is_negative()) {  // zero or infinity to a gap
    return a.lower_.is_zero() != b.surely_negative() ? zero(false) : infinity(false);
  }
  const Enclosure below = function(spec::Primitive::floor, b);
  const Enclosure above = function(spec::Primitive::ceil, b);
  if (b.equals(below)) return power(a, below);
  const bool between_whole = below.point_ && above.point_ && End::compare(below.lower_, above.lower_) != 0;
  if (!between_whole || a.lower_.is_zero() || a.is_inf()) throw Undecided("whether an exponent is whole");
  return special(std::numeric_limits<double>::quiet_NaN());
}

/// A small whole power is a product; any other is a value of a function.
template <class End>
Mark Enclosure<End>::power_mark(const Enclosure& a, const Enclosure& b) {
  constexpr std::int64_t highest = 64;
  const std::int64_t n = b.point_ && b.lower_.is_whole() ? b.lower_.to_integer() : highest + 1;
  if (n < -highest || n > highest) return Mark::function(spec::Primitive::pow, a.mark(), b.mark());
  const Mark base = a.mark();
  Mark r = Enclosure(1).mark();
  for (std::int64_t i = 0; i < std::abs(n); ++i) r = Mark::product(r, base);
  return n < 0 ? Mark::quotient(Enclosure(1).mark(), r) : r;
}

template <class End>
Enclosure<End> Enclosure<End>::angle(const Enclosure& y, const Enclosure& x) {
  Enclosure r;
  const bool right = !x.lower_.is_negative() && !x.is_zero();
  if (y.unsigned_zero_) {
    if (!right && !x.is_nan()) throw Undecided("the side of an angle");
    return x.is_nan() ? x : y;
  }
  if (x.unsigned_zero_ && y.is_zero()) throw Undecided("the side of an angle");
  if (y.point_ && x.point_) {
    const int side = r.lower_.angle(y.lower_, x.lower_, Toward::nearest);
    if (side == 0) return r;
    r = beside(r.lower_, side);
  } else {
    if (y.is_nan() || x.is_nan()) return special(std::numeric_limits<double>::quiet_NaN());
    // The angle is continuous on what does not meet the half line y = 0, x <= 0, and greatest and least at corners.
    const bool straddles = !y.point_ && y.gap_sign() == 0;
    if (straddles && !right) throw Undecided("the side of an angle");
    if (y.is_zero()) {
      if (!x.surely_negative()) return y;
      r = y.lower_.is_negative() ? pi().negated() : pi();
      return r;
    }
    r = hull_of_corners(y, x, [](End& out, const End& a, const End& b, Toward t) { (void)out.angle(a, b, t); });
    if (!r.point_ && straddles) r = between(r.lower_, r.upper_, true, true);
  }
  if constexpr (marked) {
    if (!r.point_) r.mark_ = Mark::function(spec::Primitive::atan2, y.mark(), x.mark());
  }
  return r;
}

}  // namespace etalon::reference
