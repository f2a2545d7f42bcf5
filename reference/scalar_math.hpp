/// \file
/// What the scalar primitives are over each number type, with IEEE behaviour at NaN and infinities; and their
/// derivatives over dual numbers, written here from the conventions of the notation and from nothing else.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "reference/number.hpp"
#include "reference/thread_caches.hpp"
#include "spec/contract/contract.hpp"
#include "spec/error.hpp"
#include "spec/system/expr.hpp"

namespace etalon::reference {

template <class T>
struct Math;

template <>
struct Math<double> {
  static double of(std::int64_t v) { return static_cast<double>(v); }
  static double of_binary(double v) { return v; }
  /// The nearest double; strtod rounds once.
  static double of_decimal(const spec::Number& n) { return std::strtod(spec::exponential_text(n).c_str(), nullptr); }
  static bool is_nan(double v) { return std::isnan(v); }
  static bool is_inf(double v) { return std::isinf(v); }
  static double pi() { return 3.14159265358979323846; }
  static double exp(double v) { return std::exp(v); }
  static double log(double v) { return std::log(v); }
  static double sqrt(double v) { return std::sqrt(v); }
  static double sin(double v) { return std::sin(v); }
  static double cos(double v) { return std::cos(v); }
  static double tanh(double v) { return std::tanh(v); }
  static double erf(double v) { return std::erf(v); }
  static double expm1(double v) { return std::expm1(v); }
  static double log1p(double v) { return std::log1p(v); }
  static double floor(double v) { return std::floor(v); }
  static double exp2(double v) { return std::exp2(v); }
  static double log2(double v) { return std::log2(v); }
  static double tan(double v) { return std::tan(v); }
  static double sinh(double v) { return std::sinh(v); }
  static double cosh(double v) { return std::cosh(v); }
  static double ceil(double v) { return std::ceil(v); }
  static double trunc(double v) { return std::trunc(v); }
  static double round(double v) { return std::nearbyint(v); }
  static double atan2(double y, double x) { return std::atan2(y, x); }
  static double modulo(double a, double b) {
    const double r = std::fmod(a, b);
    if (r == 0) return std::copysign(r, b);
    return (r < 0) != (b < 0) ? r + b : r;
  }
  static std::int64_t to_integer(double v) {
    if (std::isnan(v)) return 0;
    if (v >= 0x1p63) return INT64_MAX;
    return v < -0x1p63 ? INT64_MIN : static_cast<std::int64_t>(v);
  }
  static double pow(double a, double b) { return std::pow(a, b); }
  static double div(double a, double b) { return a / b; }
};

template <unsigned Digits>
struct Math<Wide<Digits>> {
  using T = Wide<Digits>;
  using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  static T call(Function f, const T& v) {
    free_caches_with_thread();
    T result;
    f(result.backend().data(), v.backend().data(), MPFR_RNDN);
    return result;
  }
  static T of(std::int64_t v) { return T(v); }
  static T of_binary(double v) {
    T result;
    mpfr_set_d(result.backend().data(), v, MPFR_RNDN);
    return result;
  }
  static T of_decimal(const spec::Number& n) {
    T result;
    mpfr_set_str(result.backend().data(), spec::exponential_text(n).c_str(), 10, MPFR_RNDN);
    return result;
  }
  static bool is_nan(const T& v) { return mpfr_nan_p(v.backend().data()) != 0; }
  static bool is_inf(const T& v) { return mpfr_inf_p(v.backend().data()) != 0; }
  static T pi() {
    free_caches_with_thread();
    T result;
    mpfr_const_pi(result.backend().data(), MPFR_RNDN);
    return result;
  }
  static T exp(const T& v) { return call(mpfr_exp, v); }
  static T log(const T& v) { return call(mpfr_log, v); }
  static T sqrt(const T& v) { return call(mpfr_sqrt, v); }
  static T sin(const T& v) { return call(mpfr_sin, v); }
  static T cos(const T& v) { return call(mpfr_cos, v); }
  static T tanh(const T& v) { return call(mpfr_tanh, v); }
  static T erf(const T& v) { return call(mpfr_erf, v); }
  static T expm1(const T& v) { return call(mpfr_expm1, v); }
  static T log1p(const T& v) { return call(mpfr_log1p, v); }
  static T floor(const T& v) {
    T result;
    mpfr_floor(result.backend().data(), v.backend().data());
    return result;
  }
  static T exp2(const T& v) { return call(mpfr_exp2, v); }
  static T log2(const T& v) { return call(mpfr_log2, v); }
  static T tan(const T& v) { return call(mpfr_tan, v); }
  static T sinh(const T& v) { return call(mpfr_sinh, v); }
  static T cosh(const T& v) { return call(mpfr_cosh, v); }
  static T ceil(const T& v) { return call(mpfr_rint_ceil, v); }
  static T trunc(const T& v) { return call(mpfr_rint_trunc, v); }
  static T round(const T& v) { return call(mpfr_rint, v); }
  static T atan2(const T& y, const T& x) {
    free_caches_with_thread();
    T result;
    mpfr_atan2(result.backend().data(), y.backend().data(), x.backend().data(), MPFR_RNDN);
    return result;
  }
  static T modulo(const T& a, const T& b) {
    free_caches_with_thread();
    T r;
    mpfr_fmod(r.backend().data(), a.backend().data(), b.backend().data(), MPFR_RNDN);
    if (r == 0) mpfr_setsign(r.backend().data(), r.backend().data(), mpfr_signbit(b.backend().data()), MPFR_RNDN);
    else if ((r < 0) != (b < 0)) r += b;
    return r;
  }
  static std::int64_t to_integer(const T& v) { return mpfr_get_si(v.backend().data(), MPFR_RNDZ); }
  static T pow(const T& a, const T& b) {
    free_caches_with_thread();
    T result;
    mpfr_pow(result.backend().data(), a.backend().data(), b.backend().data(), MPFR_RNDN);
    return result;
  }
  static T div(const T& a, const T& b) {
    T result;
    mpfr_div(result.backend().data(), a.backend().data(), b.backend().data(), MPFR_RNDN);
    return result;
  }
};

template <>
struct Math<Rational> {
  using T = Rational;
  [[noreturn]] static T refuse(const char* what) {
    throw Unsupported(std::string("rational numbers: ") + what + " is not rational");
  }
  static T of(std::int64_t v) { return T(v); }
  static T of_binary(double v) {
    if (!std::isfinite(v)) refuse("an infinity or NaN");
    return T(v);
  }
  static T of_decimal(const spec::Number& n) {
    using boost::multiprecision::cpp_int;
    const cpp_int mantissa(spec::digits_of(n));
    const cpp_int scale = boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(std::abs(n.exponent)));
    return n.exponent < 0 ? T(mantissa, scale) : T(mantissa * scale);
  }
  static bool is_nan(const T&) { return false; }
  static bool is_inf(const T&) { return false; }
  static T pi() { refuse("pi"); }
  static T exp(const T& v) { return v == 0 ? T(1) : refuse("exp"); }
  static T log(const T& v) { return v == 1 ? T(0) : refuse("log"); }
  static T sqrt(const T& v) {
    using boost::multiprecision::cpp_int;
    if (v < 0) refuse("a square root");
    const cpp_int n = boost::multiprecision::sqrt(numerator(v));
    const cpp_int d = boost::multiprecision::sqrt(denominator(v));
    if (n * n != numerator(v) || d * d != denominator(v)) refuse("a square root");
    return T(n, d);
  }
  static T sin(const T& v) { return v == 0 ? v : refuse("sin"); }
  static T cos(const T& v) { return v == 0 ? T(1) : refuse("cos"); }
  static T tanh(const T& v) { return v == 0 ? v : refuse("tanh"); }
  static T erf(const T& v) { return v == 0 ? v : refuse("erf"); }
  static T expm1(const T& v) { return v == 0 ? v : refuse("expm1"); }
  static T log1p(const T& v) { return v == 0 ? v : refuse("log1p"); }
  static T floor(const T& v) {
    using boost::multiprecision::cpp_int;
    const cpp_int n = numerator(v);
    const cpp_int d = denominator(v);
    cpp_int q = n / d;
    if (n < 0 && q * d != n) --q;
    return T(q);
  }
  static T exp2(const T& v) { return pow(T(2), v); }
  static T log2(const T& v) { return v == 1 ? T(0) : refuse("log2"); }
  static T tan(const T& v) { return v == 0 ? v : refuse("tan"); }
  static T sinh(const T& v) { return v == 0 ? v : refuse("sinh"); }
  static T cosh(const T& v) { return v == 0 ? T(1) : refuse("cosh"); }
  static T ceil(const T& v) { return -floor(T(-v)); }
  static T trunc(const T& v) { return v < 0 ? ceil(v) : floor(v); }
  static T round(const T& v) {
    const T below = floor(v);
    const T twice = (v - below) * 2;
    const bool odd = numerator(below) % 2 != 0;
    return twice > 1 || (twice == 1 && odd) ? T(below + 1) : below;
  }
  static T atan2(const T& y, const T& x) { return y == 0 && x > 0 ? y : refuse("atan2"); }
  static T modulo(const T& a, const T& b) { return a - b * floor(div(a, b)); }
  static std::int64_t to_integer(const T& v) {
    const boost::multiprecision::cpp_int whole = numerator(v) / denominator(v);
    if (whole > INT64_MAX) return INT64_MAX;
    return whole < INT64_MIN ? INT64_MIN : whole.convert_to<std::int64_t>();
  }
  static T pow(const T& a, const T& b) {
    if (denominator(b) != 1 || abs(numerator(b)) > 4096) refuse("a power");
    const int e = numerator(b).convert_to<int>();
    if (a == 0 && e < 0) refuse("a power");
    T result(1);
    for (int i = 0; i < std::abs(e); ++i) result *= a;
    return e < 0 ? T(1) / result : result;
  }
  static T div(const T& a, const T& b) {
    if (b == 0) refuse("a quotient by zero");
    return a / b;
  }
};

// --- the operations that only need the above; Dual has its own below ---

template <class T>
struct Scalar {
  using M = Math<T>;
  static T of(std::int64_t v) { return M::of(v); }
  static T of(const spec::Number& n) {
    return n.is_binary ? M::of_binary(n.binary) : M::of_decimal(n);
  }
  static T of_binary(double v) { return M::of_binary(v); }
  static const T& value(const T& v) { return v; }
  static bool is_nan(const T& v) { return M::is_nan(v); }
  static bool is_inf(const T& v) { return M::is_inf(v); }
  static T detach(T v) { return v; }
  static T add(const T& a, const T& b) { return a + b; }
  static T sub(const T& a, const T& b) { return a - b; }
  static T mul(const T& a, const T& b) { return a * b; }
  static T neg(const T& a) { return -a; }
  static T maximum(const T& a, const T& b) { return is_nan(a) ? a : is_nan(b) || a < b ? b : a; }
  static T minimum(const T& a, const T& b) { return is_nan(a) ? a : is_nan(b) || b < a ? b : a; }
  static T abs(const T& a) { return a == 0 ? of(0) : a < 0 ? T(-a) : a; }
  static T sign(const T& a) { return is_nan(a) ? a : of(a < 0 ? -1 : (a > 0 ? 1 : 0)); }
  static T pi() { return M::pi(); }
  static T div(const T& a, const T& b) { return M::div(a, b); }
  static T pow(const T& a, const T& b) { return M::pow(a, b); }
  static T exp(const T& a) { return M::exp(a); }
  static T log(const T& a) { return M::log(a); }
  static T sqrt(const T& a) { return M::sqrt(a); }
  static T sin(const T& a) { return M::sin(a); }
  static T cos(const T& a) { return M::cos(a); }
  static T tanh(const T& a) { return M::tanh(a); }
  static T erf(const T& a) { return M::erf(a); }
  static T expm1(const T& a) { return M::expm1(a); }
  static T log1p(const T& a) { return M::log1p(a); }
  static T floor(const T& a) { return M::floor(a); }
  static T exp2(const T& a) { return M::exp2(a); }
  static T log2(const T& a) { return M::log2(a); }
  static T tan(const T& a) { return M::tan(a); }
  static T sinh(const T& a) { return M::sinh(a); }
  static T cosh(const T& a) { return M::cosh(a); }
  static T ceil(const T& a) { return M::ceil(a); }
  static T trunc(const T& a) { return M::trunc(a); }
  static T round(const T& a) { return M::round(a); }
  static T atan2(const T& y, const T& x) { return M::atan2(y, x); }
  static T modulo(const T& a, const T& b) { return M::modulo(a, b); }
  static std::int64_t to_integer(const T& a) { return M::to_integer(a); }
};

/// Derivative conventions: abs, sign and the roundings have derivative 0 where they are not smooth (abs'(0) = 0); maximum and
/// minimum give ½ to each side at a tie and nothing beside NaN; x^0 is constant in x; 0^b is constant in b for b ≥ 0.
template <class T>
struct Scalar<Dual<T>> {
  using D = Dual<T>;
  using S = Scalar<T>;
  static D of(std::int64_t v) { return D(S::of(v)); }
  static D of(const spec::Number& n) { return D(S::of(n)); }
  static const T& value(const D& v) { return S::value(v.value); }
  static bool is_nan(const D& v) { return S::is_nan(v.value); }
  static bool is_inf(const D& v) { return S::is_inf(v.value); }
  static D detach(const D& v) { return D(v.value); }

  /// f(a) with f'(a) given lazily: it may be infinite where nothing depends.
  template <class Slope>
  static D chain(const D& a, T value, Slope slope) {
    return a.active ? D(std::move(value), T(slope() * a.tangent)) : D(std::move(value));
  }
  template <class SlopeA, class SlopeB>
  static D chain(const D& a, const D& b, T value, SlopeA da, SlopeB db) {
    if (!a.active && !b.active) return D(std::move(value));
    if (!b.active) return D(std::move(value), T(da() * a.tangent));
    if (!a.active) return D(std::move(value), T(db() * b.tangent));
    return D(std::move(value), T(da() * a.tangent + db() * b.tangent));
  }

  static D add(const D& a, const D& b) {
    const T v = a.value + b.value;
    if (a.active && b.active) return D(v, a.tangent + b.tangent);
    return a.active ? D(v, a.tangent) : b.active ? D(v, b.tangent) : D(v);
  }
  static D sub(const D& a, const D& b) { return add(a, neg(b)); }
  static D neg(const D& a) { return a.active ? D(T(-a.value), T(-a.tangent)) : D(T(-a.value)); }
  static D mul(const D& a, const D& b) {
    return chain(a, b, T(a.value * b.value), [&] { return b.value; }, [&] { return a.value; });
  }
  static D div(const D& a, const D& b) {
    return chain(a, b, S::div(a.value, b.value), [&] { return S::div(S::of(1), b.value); },
                 [&] { return T(-S::div(a.value, T(b.value * b.value))); });
  }
  /// Which side wins is asked only where something depends on it.
  static D extremum(const D& a, const D& b, T value, bool greatest) {
    const auto share = [&](const T& mine, const T& other) {
      const bool wins = greatest ? mine > other : mine < other;  // NaN neither wins nor ties
      return wins ? S::of(1) : mine == other ? S::div(S::of(1), S::of(2)) : S::of(0);
    };
    return chain(a, b, std::move(value), [&] { return share(a.value, b.value); }, [&] { return share(b.value, a.value); });
  }
  static D maximum(const D& a, const D& b) { return extremum(a, b, S::maximum(a.value, b.value), true); }
  static D minimum(const D& a, const D& b) { return extremum(a, b, S::minimum(a.value, b.value), false); }
  static D pow(const D& a, const D& b) {
    const auto base_slope = [&] {
      return b.value == 0 ? S::of(0) : T(b.value * S::pow(a.value, T(b.value - S::of(1))));
    };
    const auto exponent_slope = [&] {
      return a.value == 0 && b.value >= 0 ? S::of(0) : T(S::pow(a.value, b.value) * S::log(a.value));
    };
    return chain(a, b, S::pow(a.value, b.value), base_slope, exponent_slope);
  }
  static D abs(const D& a) {
    return chain(a, S::abs(a.value), [&] { return S::sign(a.value); });
  }
  static D sign(const D& a) { return D(S::sign(a.value)); }
  static D floor(const D& a) { return D(S::floor(a.value)); }
  static D pi() { return D(S::pi()); }
  static D exp(const D& a) {
    const T e = S::exp(a.value);
    return chain(a, e, [&] { return e; });
  }
  static D log(const D& a) {
    return chain(a, S::log(a.value), [&] { return S::div(S::of(1), a.value); });
  }
  static D sqrt(const D& a) {
    const T r = S::sqrt(a.value);
    return chain(a, r, [&] { return S::div(S::of(1), T(r + r)); });
  }
  static D sin(const D& a) {
    return chain(a, S::sin(a.value), [&] { return S::cos(a.value); });
  }
  static D cos(const D& a) {
    return chain(a, S::cos(a.value), [&] { return T(-S::sin(a.value)); });
  }
  static D tanh(const D& a) {
    const T t = S::tanh(a.value);
    return chain(a, t, [&] { return T(S::of(1) - t * t); });
  }
  static D erf(const D& a) {
    return chain(a, S::erf(a.value), [&] {
      return T(S::div(S::of(2), S::sqrt(S::pi())) * S::exp(T(-(a.value * a.value))));
    });
  }
  static D expm1(const D& a) {
    return chain(a, S::expm1(a.value), [&] { return S::exp(a.value); });
  }
  static D log1p(const D& a) {
    return chain(a, S::log1p(a.value), [&] { return S::div(S::of(1), T(S::of(1) + a.value)); });
  }
  static D exp2(const D& a) {
    const T e = S::exp2(a.value);
    return chain(a, e, [&] { return T(e * S::log(S::of(2))); });
  }
  static D log2(const D& a) {
    return chain(a, S::log2(a.value), [&] { return S::div(S::of(1), T(a.value * S::log(S::of(2)))); });
  }
  static D tan(const D& a) {
    const T t = S::tan(a.value);
    return chain(a, t, [&] { return T(S::of(1) + t * t); });
  }
  static D sinh(const D& a) {
    return chain(a, S::sinh(a.value), [&] { return S::cosh(a.value); });
  }
  static D cosh(const D& a) {
    return chain(a, S::cosh(a.value), [&] { return S::sinh(a.value); });
  }
  static D ceil(const D& a) { return D(S::ceil(a.value)); }
  static D trunc(const D& a) { return D(S::trunc(a.value)); }
  static D round(const D& a) { return D(S::round(a.value)); }
  static D atan2(const D& y, const D& x) {
    const T square = y.value * y.value + x.value * x.value;
    return chain(y, x, S::atan2(y.value, x.value), [&] { return S::div(x.value, square); },
                 [&] { return T(-S::div(y.value, square)); });
  }
  static D modulo(const D& a, const D& b) {
    return chain(a, b, S::modulo(a.value, b.value), [&] { return S::of(1); },
                 [&] { return T(-S::floor(S::div(a.value, b.value))); });
  }
  static std::int64_t to_integer(const D& a) { return S::to_integer(a.value); }
};

}  // namespace etalon::reference
