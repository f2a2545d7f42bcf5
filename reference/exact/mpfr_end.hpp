/// \file
/// Floating-point numbers of a fixed number of bits by MPFR, each operation rounded as it is told: the ends of
/// enclosures. It knows no intervals.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "reference/exact/mark.hpp"
#include "reference/exact/toward.hpp"
#include "reference/thread_caches.hpp"
#include "spec/error.hpp"
#include "spec/scalar.hpp"

namespace etalon::reference {

/// The digits of a number: few lie within it; many are made when they are first needed, since most numbers of a system
/// are never computed with many, and recursion would take them onto the stack.
template <std::size_t Size, bool few = Size <= 4>
class Limbs {
 public:
  [[nodiscard]] mp_limb_t* get() { return at_.data(); }
  [[nodiscard]] const mp_limb_t* get() const { return at_.data(); }
  [[nodiscard]] mp_limb_t* made() { return at_.data(); }

 private:
  std::array<mp_limb_t, Size> at_;
};

template <std::size_t Size>
class Limbs<Size, false> {
 public:
  [[nodiscard]] mp_limb_t* get() { return at_.get(); }
  [[nodiscard]] const mp_limb_t* get() const { return at_.get(); }
  [[nodiscard]] mp_limb_t* made() {
    if (!at_) at_ = std::make_unique_for_overwrite<mp_limb_t[]>(Size);
    return at_.get();
  }

 private:
  std::unique_ptr<mp_limb_t[]> at_;
};

/// An operation sets the number and returns the side of the exact result on which it lies: -1, 0 or 1. What IEEE 754
/// says of NaN, infinities and zeros counts as exact. Exponents have 62 bits.
template <unsigned Bits>
class MpfrEnd {
 public:
  static constexpr unsigned bits = Bits;

  MpfrEnd() noexcept { mpfr_custom_init_set(x_, MPFR_ZERO_KIND, 0, Bits, limbs_.get()); }
  MpfrEnd(const MpfrEnd& other) : MpfrEnd() { copy(other); }
  MpfrEnd& operator=(const MpfrEnd& other) {
    if (this != &other) copy(other);
    return *this;
  }
  ~MpfrEnd() = default;

  int set(std::int64_t v, Toward t = Toward::nearest) { return side(mpfr_set_si(out(), v, mode(t))); }
  int set(double v) { return side(mpfr_set_d(out(), v, MPFR_RNDN)); }
  int set_decimal(const spec::Number& decimal, Toward t) {
    return side(mpfr_strtofr(out(), spec::exponential_text(decimal).c_str(), nullptr, 10, mode(t)));
  }
  int set_pi(Toward t) {
    free_caches_with_thread();
    return side(mpfr_const_pi(out(), mode(t)));
  }

  int add(const MpfrEnd& a, const MpfrEnd& b, Toward t) { return side(mpfr_add(out(), a.x_, b.x_, mode(t))); }
  int subtract(const MpfrEnd& a, const MpfrEnd& b, Toward t) { return side(mpfr_sub(out(), a.x_, b.x_, mode(t))); }
  int multiply(const MpfrEnd& a, const MpfrEnd& b, Toward t) { return side(mpfr_mul(out(), a.x_, b.x_, mode(t))); }
  int divide(const MpfrEnd& a, const MpfrEnd& b, Toward t) { return side(mpfr_div(out(), a.x_, b.x_, mode(t))); }
  int power(const MpfrEnd& a, const MpfrEnd& b, Toward t) {
    free_caches_with_thread();
    return side(mpfr_pow(out(), a.x_, b.x_, mode(t)));
  }
  int angle(const MpfrEnd& y, const MpfrEnd& x, Toward t) {
    free_caches_with_thread();
    return side(mpfr_atan2(out(), y.x_, x.x_, mode(t)));
  }
  /// The remainder with the sign of a, exactly.
  void remainder(const MpfrEnd& a, const MpfrEnd& b) {
    free_caches_with_thread();
    mpfr_fmod(out(), a.x_, b.x_, MPFR_RNDN);
  }
  void negate() { mpfr_neg(x_, x_, MPFR_RNDN); }
  void set_sign(bool negative) { mpfr_setsign(x_, x_, negative ? 1 : 0, MPFR_RNDN); }
  /// To the next number upwards (1) or downwards (-1).
  void step(int direction) {
    if (direction > 0) mpfr_nextabove(out());
    else mpfr_nextbelow(out());
  }
  /// A function of one real.
  int apply(spec::Primitive f, const MpfrEnd& a, Toward t) {
    using P = spec::Primitive;
    switch (f) {
      case P::sqrt: return side(mpfr_sqrt(out(), a.x_, mode(t)));
      case P::floor: return whole(mpfr_rint_floor(out(), a.x_, MPFR_RNDN));
      case P::ceil: return whole(mpfr_rint_ceil(out(), a.x_, MPFR_RNDN));
      case P::trunc: return whole(mpfr_rint_trunc(out(), a.x_, MPFR_RNDN));
      case P::round: return whole(mpfr_rint(out(), a.x_, MPFR_RNDN));
      default: break;
    }
    free_caches_with_thread();
    return side(function_of(f)(out(), a.x_, mode(t)));
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
    mpfr_mul_2si(q.out(), x_, -quantum, MPFR_RNDN);
    MpfrEnd whole;
    mpfr_rint(whole.out(), q.x_, MPFR_RNDN);
    if (ties != 0) {
      MpfrEnd off;
      mpfr_sub(off.out(), q.x_, whole.x_, MPFR_RNDN);
      if (mpfr_cmpabs(off.x_, half().x_) == 0) (ties > 0 ? mpfr_ceil : mpfr_floor)(whole.out(), q.x_);
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
    d.digits.assign(limbs_.get(), limbs_.get() + size);
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

  /// For the result of an operation.
  mpfr_ptr out() {
    mpfr_custom_move(x_, limbs_.made());
    return x_;
  }

  void copy(const MpfrEnd& other) {
    x_[0] = other.x_[0];
    if (mpfr_regular_p(x_) != 0) std::copy(other.limbs_.get(), other.limbs_.get() + size, limbs_.made());
    mpfr_custom_move(x_, limbs_.get());
  }

  mpfr_t x_;
  Limbs<size> limbs_;
};

}  // namespace etalon::reference
