/// \file
/// The arithmetic of enclosures, instantiated once per type of end by exact/*.cpp and included by nothing else.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "reference/exact/enclosure.hpp"
#include "reference/exact/toward.hpp"
#include "reference/nearest.hpp"
#include "spec/error.hpp"

namespace etalon::reference {

// --- making ---

template <class End>
Enclosure<End> Enclosure<End>::point(const End& value) {
  Enclosure r;
  r.lower_ = value;
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::zero(bool negative) {
  Enclosure r;
  r.lower_.set_sign(negative);
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::unsigned_zero() {
  Enclosure r;
  r.unsigned_zero_ = true;
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::infinity(bool negative) {
  return of(negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
}

template <class End>
Enclosure<End> Enclosure<End>::of(double v) {
  Enclosure r;
  r.lower_.set(v);
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::of_decimal(const spec::Number& decimal) {
  End end;
  const int side = end.set_decimal(decimal, Toward::nearest);
  Enclosure r = beside(end, side);
  if constexpr (marked) {
    if (!r.point_) r.mark_ = Mark::of_decimal(decimal);
  }
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::pi() {
  End end;
  const int side = end.set_pi(Toward::nearest);
  Enclosure r = beside(end, side);
  if constexpr (marked) r.mark_ = Mark::function(spec::Primitive::pi);
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::beside(const End& end, int side) {
  Enclosure r = point(end);
  if (side == 0) return r;
  r.point_ = false;
  r.upper_ = end;
  r.lower_open_ = r.upper_open_ = true;
  if (side != 1) r.upper_.step(1);
  if (side > 0) r.lower_.step(-1);
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::between(const End& lower, const End& upper, bool lower_attained, bool upper_attained) {
  Enclosure r = point(lower);
  if (End::compare(lower, upper) == 0) {
    return lower.is_zero() && lower.is_negative() != upper.is_negative() ? unsigned_zero() : r;
  }
  r.point_ = false;
  r.upper_ = upper;
  if (r.lower_.is_zero()) {
    r.lower_.set_sign(false);
    if (lower_attained) r.lower_.step(-1);
  }
  if (r.upper_.is_zero()) {
    r.upper_.set_sign(true);
    if (upper_attained) r.upper_.step(1);
  }
  return r;
}

template <class End>
Mark Enclosure<End>::mark() const {
  if constexpr (marked) {
    if (!point_) return mark_;
    if (!lower_.is_nan() && !lower_.is_inf()) return Mark::of(lower_.dyadic());
  }
  return {};
}

// --- questions ---

template <class End>
int Enclosure<End>::gap_sign() const {
  if (!lower_.is_negative()) return 1;  // a zero below is +0
  return upper_.is_negative() ? -1 : 0;
}

template <class End>
bool Enclosure<End>::surely_negative() const {
  if (!has_sign()) throw Undecided("the sign");
  return point_ ? lower_.is_negative() : gap_sign() < 0;
}

template <class End>
bool Enclosure<End>::equals(const Enclosure& other) const {
  if constexpr (marked) return mark().same(other.mark());
  else return false;
}

template <class End>
std::partial_ordering Enclosure<End>::compare(const Enclosure& a, const Enclosure& b) {
  if (a.is_nan() || b.is_nan()) return std::partial_ordering::unordered;
  if (a.point_ && b.point_) return End::compare(a.lower_, b.lower_) <=> 0;
  const int above = End::compare(a.upper(), b.lower_);
  if (above < 0 || (above == 0 && (a.upper_is_open() || b.lower_is_open()))) return std::partial_ordering::less;
  const int below = End::compare(a.lower_, b.upper());
  if (below > 0 || (below == 0 && (a.lower_is_open() || b.upper_is_open()))) return std::partial_ordering::greater;
  if (a.equals(b)) return std::partial_ordering::equivalent;
  throw Undecided("a comparison");
}

template <class End>
std::partial_ordering Enclosure<End>::sign() const {
  if (is_nan()) return std::partial_ordering::unordered;
  if (is_zero()) return std::partial_ordering::equivalent;
  return surely_negative() ? std::partial_ordering::less : std::partial_ordering::greater;
}

template <class End>
std::int64_t Enclosure<End>::to_integer() const {
  if (is_nan()) return 0;
  const Enclosure whole = function(spec::Primitive::trunc, *this);
  const std::int64_t least = whole.lower_.to_integer();
  if (least != whole.upper().to_integer()) throw Undecided("an integral part");
  return least;
}

namespace detail {

/// A number, or the numbers next to it upwards (1) or downwards (-1): they are on that side of a tie.
template <class End>
struct Beyond {
  const End& end;
  int direction;
  [[nodiscard]] bool is_nan() const { return end.is_nan(); }
  [[nodiscard]] bool is_inf() const { return end.is_inf(); }
  [[nodiscard]] bool is_zero() const { return end.is_zero(); }
  [[nodiscard]] bool is_negative() const { return end.is_negative(); }
  [[nodiscard]] std::int64_t exponent() const { return end.exponent(); }
  [[nodiscard]] double rounded_quotient(int quantum) const { return end.rounded_quotient(quantum, direction); }
};
template <class End>
Beyond(const End&, int) -> Beyond<End>;

}  // namespace detail

template <class End>
double Enclosure<End>::rounded(const spec::Format& format) const {
  if (unsigned_zero_) return 0;
  const double below = nearest(detail::Beyond{lower_, lower_is_open() ? 1 : 0}, format);
  if (point_) return below;
  const double above = nearest(detail::Beyond{upper_, upper_is_open() ? -1 : 0}, format);
  if (below == above) return below == 0 && gap_sign() == 0 ? 0.0 : below;
  // A number halfway between two of the format may be equal to what is to be rounded.
  const double largest = std::ldexp(2 - std::ldexp(1.0, 1 - format.precision), format.emax);
  const auto finite = [&](double v) { return std::isinf(v) ? std::copysign(largest, v) : v; };
  Enclosure half;
  End other;
  half.lower_.set(finite(below));
  other.set(finite(above));
  half.lower_.add(half.lower_, other, Toward::nearest);
  other.set(0.5);
  half.lower_.multiply(half.lower_, other, Toward::nearest);
  if (std::isinf(below) || std::isinf(above)) {
    // Halfway to the number beyond the largest.
    const double beyond = std::ldexp(1.0, format.emax - format.precision);
    other.set(std::isinf(above) ? beyond : -beyond);
    half.lower_.add(half.lower_, other, Toward::nearest);
  }
  if (!equals(half)) throw Undecided("the rounding");
  return nearest(detail::Beyond{half.lower_, 0}, format);
}

// --- arithmetic ---

template <class End>
Enclosure<End> Enclosure<End>::negated() const {
  Enclosure r = point(upper());
  r.lower_.negate();
  r.unsigned_zero_ = unsigned_zero_;
  if (point_) return r;
  r.point_ = false;
  r.upper_ = lower_;
  r.upper_.negate();
  r.lower_open_ = upper_open_;
  r.upper_open_ = lower_open_;
  if constexpr (marked) r.mark_ = mark_.negated();
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::sum(const Enclosure& a, const Enclosure& b) {
  Enclosure r;
  if (a.point_ && b.point_) {
    const int side = r.lower_.add(a.lower_, b.lower_, Toward::nearest);
    // +0 with any zero is +0.
    r.unsigned_zero_ = (a.unsigned_zero_ && b.is_zero() && (b.unsigned_zero_ || b.lower_.is_negative())) ||
                       (b.unsigned_zero_ && a.is_zero() && a.lower_.is_negative());
    if (side == 0) return r;
    r = beside(r.lower_, side);
  } else {
    if (a.is_nan() || a.is_inf()) return a;
    if (b.is_nan() || b.is_inf()) return b;
    r.point_ = false;
    const int below = r.lower_.add(a.lower_, b.lower_, Toward::down);
    const int above = r.upper_.add(a.upper(), b.upper(), Toward::up);
    const bool lower_attained = below == 0 && !a.lower_is_open() && !b.lower_is_open();
    const bool upper_attained = above == 0 && !a.upper_is_open() && !b.upper_is_open();
    r = between(r.lower_, r.upper_, lower_attained, upper_attained);
    r.lower_open_ = !lower_attained;
    r.upper_open_ = !upper_attained;
  }
  if constexpr (marked) {
    if (r.point_) return r;
    r.mark_ = Mark::sum(a.mark(), b.mark());
    if (r.gap_sign() == 0 && r.mark_.is_zero()) return Enclosure();
  }
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::product(const Enclosure& a, const Enclosure& b) {
  Enclosure r;
  if (a.point_ && b.point_) {
    const int side = r.lower_.multiply(a.lower_, b.lower_, Toward::nearest);
    r.unsigned_zero_ = (a.unsigned_zero_ || b.unsigned_zero_) && r.is_zero();
    if (side == 0) return r;
    r = beside(r.lower_, side);
  } else {
    if (a.is_nan() || b.is_nan()) return special(std::numeric_limits<double>::quiet_NaN());
    if (a.is_inf() || b.is_inf()) return infinity(a.surely_negative() != b.surely_negative());
    if (a.is_zero() || b.is_zero()) {
      return a.has_sign() && b.has_sign() ? zero(a.surely_negative() != b.surely_negative()) : unsigned_zero();
    }
    r = product_of_gaps(a, b);
  }
  if constexpr (marked) r.mark_ = Mark::product(a.mark(), b.mark());
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::product_of_gaps(const Enclosure& a, const Enclosure& b) {
  const auto sign = [](const Enclosure& x) { return x.point_ ? (x.lower_.is_negative() ? -1 : 1) : x.gap_sign(); };
  const int sa = sign(a);
  const int sb = sign(b);
  Enclosure r;
  r.point_ = false;
  if (sa == 0 && sb == 0) {
    End other;
    r.lower_.multiply(a.lower_, b.upper(), Toward::down);
    other.multiply(a.upper(), b.lower_, Toward::down);
    if (End::compare(other, r.lower_) < 0) r.lower_ = other;
    r.upper_.multiply(a.lower_, b.lower_, Toward::up);
    other.multiply(a.upper(), b.upper(), Toward::up);
    if (End::compare(other, r.upper_) > 0) r.upper_ = other;
    return r;
  }
  if (sa == 0) return product_of_gaps(b, a);
  // The least product takes b's lower end where a is positive, and of a the end that makes it least.
  const auto is_open = [](const Enclosure& x, bool upper) { return upper ? x.upper_is_open() : x.lower_is_open(); };
  const bool least_takes_upper = (sb == 0 || sb * sa < 0) == (sa > 0);
  const bool greatest_takes_upper = (sb == 0 || sb * sa > 0) == (sa > 0);
  const int down = r.lower_.multiply(least_takes_upper ? a.upper() : a.lower_, sa > 0 ? b.lower_ : b.upper(), Toward::down);
  const int up = r.upper_.multiply(greatest_takes_upper ? a.upper() : a.lower_, sa > 0 ? b.upper() : b.lower_, Toward::up);
  r = between(r.lower_, r.upper_, false, false);
  // An end is attained only where both of its factors are.
  r.lower_open_ = down != 0 || is_open(a, least_takes_upper) || is_open(b, sa < 0);
  r.upper_open_ = up != 0 || is_open(a, greatest_takes_upper) || is_open(b, sa > 0);
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::quotient(const Enclosure& a, const Enclosure& b) {
  Enclosure r;
  if (a.point_ && b.point_) {
    const int side = r.lower_.divide(a.lower_, b.lower_, Toward::nearest);
    if (b.unsigned_zero_ && r.is_inf()) throw Undecided("the sign of a divisor");
    r.unsigned_zero_ = a.unsigned_zero_ && r.is_zero();
    if (side == 0) return r;
    r = beside(r.lower_, side);
  } else {
    if (a.is_nan() || b.is_nan()) return special(std::numeric_limits<double>::quiet_NaN());
    const bool negative = b.surely_negative();
    if (a.is_inf() || b.is_zero()) return infinity(a.surely_negative() != negative);
    if (b.is_inf() || a.is_zero()) return a.has_sign() ? zero(a.surely_negative() != negative) : unsigned_zero();
    r = quotient_of_gaps(a, b);
  }
  if constexpr (marked) r.mark_ = Mark::quotient(a.mark(), b.mark());
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::quotient_of_gaps(const Enclosure& a, const Enclosure& b) {
  if (b.upper().is_negative()) return quotient_of_gaps(a.negated(), b.negated());
  Enclosure r;
  const auto is_open = [](const Enclosure& x, bool upper) { return upper ? x.upper_is_open() : x.lower_is_open(); };
  const bool least_takes_upper = !a.lower_.is_negative();
  const bool greatest_takes_upper = a.upper().is_negative();
  const int down = r.lower_.divide(a.lower_, least_takes_upper ? b.upper() : b.lower_, Toward::down);
  const int up = r.upper_.divide(a.upper(), greatest_takes_upper ? b.upper() : b.lower_, Toward::up);
  r = between(r.lower_, r.upper_, false, false);
  r.lower_open_ = down != 0 || is_open(a, false) || is_open(b, least_takes_upper);
  r.upper_open_ = up != 0 || is_open(a, true) || is_open(b, greatest_takes_upper);
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::modulo(const Enclosure& a, const Enclosure& b) {
  if (a.point_ && b.point_) {
    Enclosure r;
    r.lower_.remainder(a.lower_, b.lower_);
    if (r.lower_.is_nan()) return r;
    if (r.lower_.is_zero()) r.lower_.set_sign(b.lower_.is_negative());
    return r.lower_.is_negative() == b.lower_.is_negative() ? r : sum(r, b);
  }
  if (a.is_nan() || b.is_nan() || a.is_inf()) return special(std::numeric_limits<double>::quiet_NaN());
  if (b.is_inf()) return a.surely_negative() == b.surely_negative() ? a : b;
  if (b.is_zero()) return special(std::numeric_limits<double>::quiet_NaN());
  const Enclosure whole = function(spec::Primitive::floor, quotient(a, b));
  if (!whole.point_) throw Undecided("an integral part");
  const Enclosure r = a - product(b, whole);
  return r.is_zero() ? zero(b.surely_negative()) : r;
}

template <class End>
Enclosure<End> Enclosure<End>::extremum(const Enclosure& a, const Enclosure& b, bool greatest) {
  if (a.is_nan()) return a;
  if (b.is_nan()) return b;
  const int lower = End::compare(a.lower_, b.lower_);
  const int upper = End::compare(a.upper(), b.upper());
  if (a.point_ && b.point_) return (greatest ? lower < 0 : lower > 0) ? b : a;
  const bool a_beats = greatest ? End::compare(a.lower_, b.upper()) >= 0 : End::compare(a.upper(), b.lower_) <= 0;
  const bool b_beats = greatest ? End::compare(b.lower_, a.upper()) >= 0 : End::compare(b.upper(), a.lower_) <= 0;
  if (a_beats) return a;
  if (b_beats) return b;
  if (a.equals(b)) return a.point_ ? a : b.point_ ? b : a;
  const Enclosure& low = (greatest ? lower >= 0 : lower <= 0) ? a : b;
  const Enclosure& high = (greatest ? upper >= 0 : upper <= 0) ? a : b;
  Enclosure r = between(low.lower_, high.upper(), low.point_, high.point_);
  if constexpr (marked) {
    if (!r.point_) r.mark_ = Mark::function(greatest ? spec::Primitive::maximum : spec::Primitive::minimum, a.mark(), b.mark());
  }
  return r;
}

template <class End>
Enclosure<End> Enclosure<End>::maximum(const Enclosure& a, const Enclosure& b) {
  return extremum(a, b, true);
}

template <class End>
Enclosure<End> Enclosure<End>::minimum(const Enclosure& a, const Enclosure& b) {
  return extremum(a, b, false);
}

}  // namespace etalon::reference
