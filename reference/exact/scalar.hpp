/// \file
/// The scalar primitives over enclosures, for the evaluator. Maxima, minima and magnitudes need no decision.
#pragma once

#include "reference/exact/enclosure.hpp"
#include "reference/scalar_math.hpp"

namespace etalon::reference {

template <class End>
struct Scalar<Enclosure<End>> {
  using T = Enclosure<End>;
  using P = spec::Primitive;
  static T of(std::int64_t v) { return T(v); }
  static T of(const spec::Number& n) { return n.is_binary ? T::of(n.binary) : T::of_decimal(n); }
  static T of_binary(double v) { return T::of(v); }
  static const T& value(const T& v) { return v; }
  static bool is_nan(const T& v) { return v.is_nan(); }
  static bool is_inf(const T& v) { return v.is_inf(); }
  static T detach(T v) { return v; }
  static T add(const T& a, const T& b) { return T::sum(a, b); }
  static T sub(const T& a, const T& b) { return T::sum(a, b.negated()); }
  static T mul(const T& a, const T& b) { return T::product(a, b); }
  static T neg(const T& a) { return a.negated(); }
  static T maximum(const T& a, const T& b) { return T::maximum(a, b); }
  static T minimum(const T& a, const T& b) { return T::minimum(a, b); }
  static T abs(const T& a) { return T::abs(a); }
  static T sign(const T& a) {
    const std::partial_ordering s = a.sign();
    return a.is_nan() ? a : T(s < 0 ? -1 : s > 0 ? 1 : 0);
  }
  static T pi() { return T::pi(); }
  static T div(const T& a, const T& b) { return T::quotient(a, b); }
  static T pow(const T& a, const T& b) { return T::power(a, b); }
  static T exp(const T& a) { return T::function(P::exp, a); }
  static T log(const T& a) { return T::function(P::log, a); }
  static T sqrt(const T& a) { return T::function(P::sqrt, a); }
  static T sin(const T& a) { return T::function(P::sin, a); }
  static T cos(const T& a) { return T::function(P::cos, a); }
  static T tanh(const T& a) { return T::function(P::tanh, a); }
  static T erf(const T& a) { return T::function(P::erf, a); }
  static T expm1(const T& a) { return T::function(P::expm1, a); }
  static T log1p(const T& a) { return T::function(P::log1p, a); }
  static T floor(const T& a) { return T::function(P::floor, a); }
  static T exp2(const T& a) { return T::function(P::exp2, a); }
  static T log2(const T& a) { return T::function(P::log2, a); }
  static T tan(const T& a) { return T::function(P::tan, a); }
  static T sinh(const T& a) { return T::function(P::sinh, a); }
  static T cosh(const T& a) { return T::function(P::cosh, a); }
  static T ceil(const T& a) { return T::function(P::ceil, a); }
  static T trunc(const T& a) { return T::function(P::trunc, a); }
  static T round(const T& a) { return T::function(P::round, a); }
  static T atan2(const T& y, const T& x) { return T::angle(y, x); }
  static T modulo(const T& a, const T& b) { return T::modulo(a, b); }
  static std::int64_t to_integer(const T& a) { return a.to_integer(); }
};

}  // namespace etalon::reference
