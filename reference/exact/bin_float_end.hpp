/// \file
/// Floating-point numbers of a fixed number of bits by Boost, each operation rounded as it is told: the ends of
/// enclosures where MPFR is not to be had, as in WebAssembly. It knows no intervals. Heavy to include.
#pragma once

#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/expm1.hpp>
#include <boost/math/special_functions/log1p.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "reference/exact/mark.hpp"
#include "reference/exact/toward.hpp"
#include "reference/exact/undecided.hpp"
#include "spec/error.hpp"
#include "spec/scalar.hpp"

namespace etalon::reference {

/// An operation sets the number and returns the side of the exact result on which it lies: -1, 0 or 1, or 2 where only
/// the neighbours on both sides are known to enclose it. What IEEE 754 says of NaN, infinities and zeros counts as exact.
/// Sums, products, quotients and roots are Boost's, rounded to nearest; functions are taken with twice the bits, of
/// which those beyond 24 more than the number has are not relied on.
template <unsigned Bits>
class BinFloatEnd {
  template <unsigned B>
  using Binary = boost::multiprecision::number<
      boost::multiprecision::cpp_bin_float<B, boost::multiprecision::digit_base_2, void, std::int32_t>,
      boost::multiprecision::et_off>;
  using Number = Binary<Bits>;
  using Double = Binary<2 * Bits + 64>;

 public:
  static constexpr unsigned bits = Bits;

  int set(std::int64_t v, Toward = Toward::nearest) {
    v_ = v;
    return 0;
  }
  int set(double v) {
    v_ = v;
    if (v == 0) set_sign(std::signbit(v));
    return 0;
  }
  int set_decimal(const spec::Number& decimal, Toward t) {
    const boost::multiprecision::cpp_int mantissa(spec::digits_of(decimal));
    if (mantissa == 0) return set(0.0);
    const Double ten = pow(Double(10), std::abs(decimal.exponent));
    return near(decimal.exponent < 0 ? Double(mantissa) / ten : Double(mantissa) * ten, t, is_short(mantissa, decimal.exponent));
  }
  int set_pi(Toward t) { return near(boost::math::constants::pi<Double>(), t); }

  int add(const BinFloatEnd& a, const BinFloatEnd& b, Toward t) {
    if (a.is_special() || b.is_special()) {
      if (a.is_zero() && !b.is_special()) v_ = b.v_;
      else if (b.is_zero() && !a.is_special()) v_ = a.v_;
      else return set(a.representative() + b.representative());
      return 0;
    }
    const Number x = a.v_;
    const Number y = b.v_;
    const Number sum = x + y;
    const Number part = sum - x;
    const Number error = (x - (sum - part)) + (y - part);  // exactly what rounding took away
    return finish(sum, error > 0 ? -1 : error < 0 ? 1 : 0, t);
  }
  int subtract(const BinFloatEnd& a, const BinFloatEnd& b, Toward t) {
    BinFloatEnd other = b;
    other.negate();
    return add(a, other, t);
  }
  int multiply(const BinFloatEnd& a, const BinFloatEnd& b, Toward t) {
    if (a.is_special() || b.is_special()) return set(a.representative() * b.representative());
    const Double exact = Double(a.v_) * Double(b.v_);
    return finish(a.v_ * b.v_, exact, t);
  }
  int divide(const BinFloatEnd& a, const BinFloatEnd& b, Toward t) {
    if (a.is_special() || b.is_special()) return set(a.representative() / b.representative());
    const Number q = a.v_ / b.v_;
    const int order = Double(q).compare(Double(0)) == 0 ? 0 : (Double(q) * Double(b.v_)).compare(Double(a.v_));
    return finish(q, b.v_ < 0 ? -order : order, t);
  }
  int power(const BinFloatEnd& a, const BinFloatEnd& b, Toward t) {
    const bool plain = !a.is_special() && !b.is_special() && (!a.is_negative() || b.is_whole()) && abs(a.v_) != 1;
    if (!plain) return set(std::pow(a.representative(), b.representative()));
    const Double size = Double(b.v_) * log(Double(abs(a.v_))) / log(Double(2));
    if (abs(size) > 0x1p30) throw Undecided("a power");
    const bool odd = b.is_whole() && b.is_odd();
    // The exponent's size takes bits from the result.
    const Double r = pow(Double(abs(a.v_)), Double(b.v_));
    const bool exact = b.is_whole() && b.v_ > 0 && b.v_ * a.length() <= Bits;
    return near(a.is_negative() && odd ? Double(-r) : r, t, exact);
  }
  int angle(const BinFloatEnd& y, const BinFloatEnd& x, Toward t) {
    if (!y.is_special() && !x.is_special()) return near(atan2(Double(y.v_), Double(x.v_)), t);
    const double angle = std::atan2(y.representative(), x.representative());
    if (std::isnan(angle) || angle == 0) return set(angle);
    if (!(y.is_zero() || x.is_zero() || y.is_inf() || x.is_inf())) throw InternalError("angle: not special");
    const double quarters = std::round(angle / 0.78539816339744831);
    return near(boost::math::constants::pi<Double>() * Double(quarters) / 4, t);
  }
  /// The remainder with the sign of a, exactly.
  void remainder(const BinFloatEnd& a, const BinFloatEnd& b) {
    if (a.is_special() || b.is_special()) {
      if (b.is_inf() && !a.is_special()) v_ = a.v_;
      else set(std::fmod(a.representative(), b.representative()));
      return;
    }
    using boost::multiprecision::cpp_int;
    const std::int64_t quantum = std::min(a.exponent(), b.exponent()) - std::int64_t{Bits} + 1;
    if (std::max(a.exponent(), b.exponent()) - quantum > (1 << 16)) throw Undecided("a remainder");
    const auto whole = [&](const Number& v) { return static_cast<cpp_int>(ldexp(abs(v), static_cast<int>(-quantum))); };
    const bool negative = a.is_negative();
    v_ = ldexp(Number(whole(a.v_) % whole(b.v_)), static_cast<int>(quantum));
    set_sign(negative);
  }
  void negate() { v_.backend().negate(); }
  void set_sign(bool negative) {
    if (is_negative() != negative) negate();
  }
  /// To the next number upwards (1) or downwards (-1).
  void step(int direction) {
    if (is_nan()) return;
    if (is_inf()) {
      if (is_negative() == (direction > 0)) v_ = is_negative() ? -most() : most();
      return;
    }
    if (is_zero()) {
      v_ = direction > 0 ? (std::numeric_limits<Number>::min)() : Number(-(std::numeric_limits<Number>::min)());
      return;
    }
    const auto e = static_cast<int>(exponent());
    const bool power_of_two = abs(v_) == ldexp(Number(1), e);
    const bool inwards = is_negative() == (direction > 0);
    const Number unit = ldexp(Number(1), e - static_cast<int>(Bits) + (power_of_two && inwards ? 0 : 1));
    v_ = direction > 0 ? Number(v_ + unit) : Number(v_ - unit);
  }
  /// A function of one real.
  int apply(spec::Primitive f, const BinFloatEnd& a, Toward t) {
    using P = spec::Primitive;
    switch (f) {
      case P::sqrt: {
        if (a.is_special() || a.is_negative()) return set(std::sqrt(a.representative()));
        const Number r = boost::multiprecision::sqrt(a.v_);
        return finish(r, (Double(r) * Double(r)).compare(Double(a.v_)), t);
      }
      case P::floor: return whole(a, boost::multiprecision::floor(a.v_));
      case P::ceil: return whole(a, boost::multiprecision::ceil(a.v_));
      case P::trunc: return whole(a, boost::multiprecision::trunc(a.v_));
      case P::round: {
        const Number below = boost::multiprecision::floor(a.v_);
        const Number twice = (a.v_ - below) * 2;
        BinFloatEnd low;
        low.v_ = below;
        return whole(a, twice > 1 || (twice == 1 && low.is_odd()) ? Number(below + 1) : below);
      }
      default: return function(f, a, t);
    }
  }

  [[nodiscard]] bool is_nan() const { return (boost::math::isnan)(v_); }
  [[nodiscard]] bool is_inf() const { return (boost::math::isinf)(v_); }
  [[nodiscard]] bool is_zero() const { return v_.is_zero(); }
  [[nodiscard]] bool is_whole() const { return !is_nan() && !is_inf() && boost::multiprecision::trunc(v_) == v_; }
  /// Of zeros too.
  [[nodiscard]] bool is_negative() const { return v_.backend().sign(); }
  /// -1, 0 or 1 as a < b, a = b, a > b; neither is NaN.
  [[nodiscard]] static int compare(const BinFloatEnd& a, const BinFloatEnd& b) {
    return a.v_ < b.v_ ? -1 : a.v_ > b.v_ ? 1 : 0;
  }
  /// floor(log2 |x|) of a number that is not zero.
  [[nodiscard]] std::int64_t exponent() const { return v_.backend().exponent(); }
  /// x / 2^quantum rounded to an integer below 2^64, ties to even, or upwards (1) or downwards (-1).
  [[nodiscard]] double rounded_quotient(int quantum, int ties = 0) const {
    BinFloatEnd q;
    q.v_ = ldexp(v_, -quantum);
    const Number below = boost::multiprecision::floor(q.v_);
    if (ties != 0 && q.v_ - below == 0.5) return Number(ties > 0 ? below + 1 : below).template convert_to<double>();
    q.apply(spec::Primitive::round, q, Toward::nearest);
    return q.v_.template convert_to<double>();
  }
  /// Of an integer; the nearest end beyond the integers of 64 bits.
  [[nodiscard]] std::int64_t to_integer() const {
    if (v_ >= 0x1p63) return INT64_MAX;
    return v_ < -0x1p63 ? INT64_MIN : v_.template convert_to<std::int64_t>();
  }
  /// Of a finite number.
  [[nodiscard]] Dyadic dyadic() const {
    Dyadic d;
    if (is_zero()) return d;
    d.negative = is_negative();
    d.exponent = exponent() - std::int64_t{Bits} + 1;
    const auto digits = static_cast<boost::multiprecision::cpp_int>(ldexp(abs(v_), static_cast<int>(-d.exponent)));
    export_bits(digits, std::back_inserter(d.digits), 64, false);
    return d;
  }

 private:
  static Number most() { return (std::numeric_limits<Number>::max)(); }
  [[nodiscard]] bool is_special() const { return is_nan() || is_inf() || is_zero(); }
  [[nodiscard]] bool is_odd() const { return boost::multiprecision::trunc(v_ / 2) * 2 != v_; }

  /// A double of the same kind: NaN, infinity, zero, or the sign, the side of 1 and whether it is odd or whole.
  [[nodiscard]] double representative() const {
    if (is_nan()) return std::numeric_limits<double>::quiet_NaN();
    const double sign = is_negative() ? -1.0 : 1.0;
    if (is_inf()) return sign * std::numeric_limits<double>::infinity();
    if (is_zero()) return sign * 0.0;
    const Number size = abs(v_);
    if (size == 1) return sign;
    if (!is_whole()) return sign * (size < 1 ? 0.5 : 1.5);
    return sign * (is_odd() ? 3 : 2);
  }
  /// The bits between the first and the last that are set.
  [[nodiscard]] std::int64_t length() const {
    const Dyadic d = dyadic();
    boost::multiprecision::cpp_int digits;
    import_bits(digits, d.digits.begin(), d.digits.end(), 64, false);
    return static_cast<std::int64_t>(msb(digits)) - static_cast<std::int64_t>(lsb(digits)) + 1;
  }
  /// mantissa · 10^exponent fits in the bits.
  [[nodiscard]] static bool is_short(boost::multiprecision::cpp_int mantissa, std::int32_t exponent) {
    const auto length = static_cast<std::int64_t>(msb(abs(mantissa)));
    if (length + 4 * std::max<std::int64_t>(exponent, 0) >= static_cast<std::int64_t>(Bits)) return false;
    for (; exponent < 0 && mantissa % 5 == 0; ++exponent) mantissa /= 5;
    return exponent >= 0;
  }

  /// `nearest`, of whose side the operands tell, or its neighbour where that is asked for.
  int finish(const Number& nearest, int side, Toward t) {
    v_ = nearest;
    if (side == 0) {
      if (is_zero()) set_sign(false);
      return 0;
    }
    if (t == Toward::nearest) return side;
    const int wanted = t == Toward::down ? -1 : 1;
    if (side != wanted) step(wanted);
    return wanted;
  }
  int finish(const Number& nearest, const Double& exact, Toward t) { return finish(nearest, Double(nearest).compare(exact), t); }

  /// A value that is right to 24 bits more than the number has, or exact.
  template <class Wide>
  int near(const Wide& value, Toward t, bool exact = false) {
    const Number nearest(value);
    if (exact) return finish(nearest, 0, t);
    const Wide off = Wide(nearest) - value;
    const Wide doubt = ldexp(abs(value), -static_cast<int>(Bits) - 24);
    if (abs(off) > doubt) return finish(nearest, off > 0 ? 1 : -1, t);
    v_ = nearest;
    if (t == Toward::nearest) return 2;
    step(t == Toward::down ? -1 : 1);
    return t == Toward::down ? -1 : 1;
  }

  /// An integral part; a zero has the operand's sign.
  int whole(const BinFloatEnd& a, const Number& part) {
    const bool negative = a.is_negative();
    if (a.is_special()) {
      v_ = a.v_;
      return 0;
    }
    v_ = part;
    if (is_zero()) set_sign(negative);
    return 0;
  }

  int function(spec::Primitive f, const BinFloatEnd& a, Toward t) {
    using P = spec::Primitive;
    if (a.is_special()) return at_special(f, a, t);
    const bool one = a.v_ == 1;
    if (one && (f == P::log || f == P::log2)) return set(0.0);
    if (f == P::exp2 && a.is_whole() && abs(a.v_) < 0x1p30) {
      v_ = ldexp(Number(1), static_cast<int>(a.to_integer()));
      return 0;
    }
    if (f == P::log2 && a.v_ == ldexp(Number(1), static_cast<int>(a.exponent()))) return set(a.exponent());
    if ((f == P::log || f == P::log2) && a.is_negative()) return set(std::numeric_limits<double>::quiet_NaN());
    if (f == P::log1p && a.v_ <= -1) return set(a.v_ == -1 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN());
    if (a.exponent() >= 29) return at_large(f, a, t);
    if (a.exponent() < -static_cast<std::int64_t>(Bits)) return at_small(f, a, t);
    return near(value_of(f, Double(a.v_)), t);
  }

  int at_special(spec::Primitive f, const BinFloatEnd& a, Toward t) {
    using P = spec::Primitive;
    const double x = a.representative();
    switch (f) {
      case P::exp: return set(std::exp(x));
      case P::exp2: return set(std::exp2(x));
      case P::log: return set(std::log(x));
      case P::log2: return set(std::log2(x));
      case P::sin: return set(std::sin(x));
      case P::cos: return set(std::cos(x));
      case P::tan: return set(std::tan(x));
      case P::sinh: return set(std::sinh(x));
      case P::cosh: return set(std::cosh(x));
      case P::tanh: return set(std::tanh(x));
      case P::erf: return set(std::erf(x));
      case P::expm1: return set(std::expm1(x));
      case P::log1p: return set(std::log1p(x));
      default: return near(value_of(f, Double(a.v_)), t);
    }
  }

  /// Of 2^29 and more: what saturates, overflows or underflows does so beyond all doubt from 2^32 on.
  int at_large(spec::Primitive f, const BinFloatEnd& a, Toward t) {
    using P = spec::Primitive;
    if (f == P::log || f == P::log2 || f == P::log1p) return near(value_of(f, Double(a.v_)), t);
    if (f == P::sin || f == P::cos || f == P::tan) {
      // Reducing the operand takes as many bits as its exponent has, and as many again where the result is small.
      if (a.exponent() > static_cast<std::int64_t>(Bits)) throw Undecided("a function of a large number");
      return near(value_of(f, Binary<4 * Bits + 64>(a.v_)), t);
    }
    const bool down = a.is_negative();
    if (f == P::tanh || f == P::erf || (f == P::expm1 && down)) return finish(Number(down ? -1 : 1), down ? -1 : 1, t);
    if (a.exponent() < 32) throw Undecided("a function of a large number");
    const bool vanishes = down && (f == P::exp || f == P::exp2);
    const bool negative = down && f == P::sinh;
    const double limit = vanishes ? 0.0 : negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return finish(Number(limit), vanishes || negative ? -1 : 1, t);
  }

  /// Of less than 2^-Bits: the operand itself or 1, and the side on which the next term of the series lies.
  int at_small(spec::Primitive f, const BinFloatEnd& a, Toward t) {
    using P = spec::Primitive;
    const int sign = a.is_negative() ? -1 : 1;
    switch (f) {
      case P::exp:
      case P::exp2: return finish(Number(1), -sign, t);
      case P::cos: return finish(Number(1), 1, t);
      case P::cosh: return finish(Number(1), -1, t);
      case P::sin:
      case P::tanh: return finish(Number(a.v_), sign, t);
      case P::tan:
      case P::sinh: return finish(Number(a.v_), -sign, t);
      case P::expm1: return finish(Number(a.v_), -1, t);
      case P::log1p: return finish(Number(a.v_), 1, t);
      case P::erf: return near(Double(a.v_) * 2 / sqrt(boost::math::constants::pi<Double>()), t);
      default: return near(value_of(f, Double(a.v_)), t);
    }
  }

  template <class Wide>
  static Wide value_of(spec::Primitive f, const Wide& x) {
    using P = spec::Primitive;
    using namespace boost::multiprecision;
    switch (f) {
      case P::exp: return exp(x);
      case P::exp2: return exp(Wide(x * log(Wide(2))));
      case P::log: return log(x);
      case P::log2: return log(x) / log(Wide(2));
      case P::sin: return sin(x);
      case P::cos: return cos(x);
      case P::tan: return tan(x);
      case P::sinh: return sinh(x);
      case P::cosh: return cosh(x);
      case P::tanh: return tanh(x);
      case P::erf: return boost::math::erf(x);
      case P::expm1: return boost::math::expm1(x);
      case P::log1p: return boost::math::log1p(x);
      default: throw InternalError("reference: " + std::string(spec::info(f).name) + " is no function of one real");
    }
  }

  Number v_ = 0;
};

}  // namespace etalon::reference
