/// \file
/// Floating-point numbers of a fixed number of bits by MPFR, each operation rounded as it is told: the ends of
/// enclosures. It knows no intervals.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "reference/exact/mark.hpp"
#include "reference/exact/toward.hpp"
#include "reference/thread_caches.hpp"
#include "spec/error.hpp"
#include "spec/scalar.hpp"

namespace etalon::reference {

/// An operation sets the number and returns the side of the exact result on which it lies: -1, 0 or 1. What IEEE 754
/// says of NaN, infinities and zeros counts as exact. Exponents have 62 bits.
template <unsigned Bits>
class MpfrEnd {
 public:
  static constexpr unsigned bits = Bits;

  MpfrEnd() noexcept { mpfr_custom_init_set(x_, MPFR_ZERO_KIND, 0, Bits, limbs_); }
  MpfrEnd(const MpfrEnd& other) noexcept { copy(other); }
  MpfrEnd& operator=(const MpfrEnd& other) noexcept {
    if (this != &other) copy(other);
    return *this;
  }
  ~MpfrEnd() = default;

  int set(std::int64_t v, Toward t = Toward::nearest) { return side(mpfr_set_si(x_, v, mode(t))); }
  int set(double v) { return side(mpfr_set_d(x_, v, MPFR_RNDN)); }
  int set_decimal(const spec::Number& decimal, Toward t) {
    return side(mpfr_strtofr(x_, spec::exponential_text(decimal).c_str(), nullptr, 10, mode(t)));
  }
  int set_pi(Toward t) {
    free_caches_with_thread();
    return side(mpfr_const_pi(x_, mode(t)));
  }

  int add(const MpfrEnd& a, const MpfrEnd& b, Toward t) { return side(mpfr_add(x_, a.x_, b.x_, mode(t))); }
  int subtract(const MpfrEnd& a, const MpfrEnd& b, Toward t) { return side(mpfr_sub(x_, a.x_, b.x_, mode(t))); }
  int multiply(const MpfrEnd& a, const MpfrEnd& b, Toward t) { return side(mpfr_mul(x_, a.x_, b.x_, mode(t))); }
  int divide(const MpfrEnd& a, const MpfrEnd& b, Toward t) { return side(mpfr_div(x_, a.x_, b.x_, mode(t))); }
  int power(const MpfrEnd& a, const MpfrEnd& b, Toward t) {
    free_caches_with_thread();
    return side(mpfr_pow(x_, a.x_, b.x_, mode(t)));
  }
  int angle(const MpfrEnd& y, const MpfrEnd& x, Toward t) {
    free_caches_with_thread();
    return side(mpfr_atan2(x_, y.x_, x.x_, mode(t)));
  }
  /// The remainder with the sign of a, exactly.
  void remainder(const MpfrEnd& a, const MpfrEnd& b) { mpfr_fmod(x_, a.x_, b.x_, MPFR_RNDN); }
  void negate() { mpfr_neg(x_, x_, MPFR_RNDN); }
  void set_sign(bool negative) { mpfr_setsign(x_, x_, negative ? 1 : 0, MPFR_RNDN); }
  /// To the next number upwards (1) or downwards (-1).
  void step(int direction) { direction > 0 ? mpfr_nextabove(x_) : mpfr_nextbelow(x_); }
  /// A function of one real.
  int apply(spec::Primitive f, const MpfrEnd& a, Toward t) {
    using P = spec::Primitive;
    switch (f) {
      case P::sqrt: return side(mpfr_sqrt(x_, a.x_, mode(t)));
      case P::floor: return whole(mpfr_rint_floor(x_, a.x_, MPFR_RNDN));
      case P::ceil: return whole(mpfr_rint_ceil(x_, a.x_, MPFR_RNDN));
      case P::trunc: return whole(mpfr_rint_trunc(x_, a.x_, MPFR_RNDN));
      case P::round: return whole(mpfr_rint(x_, a.x_, MPFR_RNDN));
      default: break;
    }
    free_caches_with_thread();
    return side(function_of(f)(x_, a.x_, mode(t)));
  }

  [[nodiscard]] bool is_nan() const { return mpfr_nan_p(x_) != 0; }
  [[nodiscard]] bool is_inf() const { return mpfr_inf_p(x_) != 0; }
  [[nodiscard]] bool is_zero() const { return mpfr_zero_p(x_) != 0; }
  [[nodiscard]] bool is_whole() const { return mpfr_integer_p(x_) != 0; }
  /// Of zeros too.
  [[nodiscard]] bool is_negative() const { return mpfr_signbit(x_) != 0; }
  /// -1, 0 or 1 as a < b, a = b, a > b; neither is NaN.
  [[nodiscard]] static int compare(const MpfrEnd& a, const MpfrEnd& b) { return side(mpfr_cmp(a.x_, b.x_)); }
  /// floor(log2 |x|) of a number that is not zero.
  [[nodiscard]] std::int64_t exponent() const { return mpfr_get_exp(x_) - 1; }
  /// x / 2^quantum rounded to an integer below 2^64, ties to even, or upwards (1) or downwards (-1).
  [[nodiscard]] double rounded_quotient(int quantum, int ties = 0) const {
    MpfrEnd q;
    mpfr_mul_2si(q.x_, x_, -quantum, MPFR_RNDN);
    MpfrEnd whole;
    mpfr_rint(whole.x_, q.x_, MPFR_RNDN);
    if (ties != 0) {
      MpfrEnd off;
      mpfr_sub(off.x_, q.x_, whole.x_, MPFR_RNDN);
      if (mpfr_cmpabs(off.x_, half().x_) == 0) (ties > 0 ? mpfr_ceil : mpfr_floor)(whole.x_, q.x_);
    }
    return mpfr_get_d(whole.x_, MPFR_RNDN);
  }
  /// Of an integer; the nearest end beyond the integers of 64 bits.
  [[nodiscard]] std::int64_t to_integer() const { return mpfr_get_si(x_, MPFR_RNDZ); }
  /// Of a finite number.
  [[nodiscard]] Dyadic dyadic() const {
    Dyadic d;
    if (is_zero()) return d;
    d.negative = is_negative();
    d.digits.assign(limbs_, limbs_ + size);
    d.exponent = mpfr_get_exp(x_) - static_cast<std::int64_t>(size) * 64;
    return d;
  }

 private:
  static constexpr std::size_t size = (Bits + 63) / 64;
  static_assert(sizeof(mp_limb_t) == sizeof(std::uint64_t));

  static mpfr_rnd_t mode(Toward t) {
    return t == Toward::nearest ? MPFR_RNDN : t == Toward::down ? MPFR_RNDD : MPFR_RNDU;
  }
  static MpfrEnd half() {
    MpfrEnd h;
    h.set(0.5);
    return h;
  }
  static int side(int v) { return (v > 0) - (v < 0); }
  /// Integral parts have no more bits than their number.
  static int whole(int) { return 0; }

  using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  static Function function_of(spec::Primitive f) {
    using P = spec::Primitive;
    switch (f) {
      case P::exp: return mpfr_exp;
      case P::exp2: return mpfr_exp2;
      case P::log: return mpfr_log;
      case P::log2: return mpfr_log2;
      case P::sin: return mpfr_sin;
      case P::cos: return mpfr_cos;
      case P::tan: return mpfr_tan;
      case P::sinh: return mpfr_sinh;
      case P::cosh: return mpfr_cosh;
      case P::tanh: return mpfr_tanh;
      case P::erf: return mpfr_erf;
      case P::expm1: return mpfr_expm1;
      case P::log1p: return mpfr_log1p;
      default: throw InternalError("reference: " + std::string(spec::info(f).name) + " is no function of one real");
    }
  }

  void copy(const MpfrEnd& other) noexcept {
    x_[0] = other.x_[0];
    std::copy(other.limbs_, other.limbs_ + size, limbs_);
    mpfr_custom_move(x_, limbs_);
  }

  mpfr_t x_;
  mp_limb_t limbs_[size];
};

}  // namespace etalon::reference
