/// \file
/// Central differences through the evaluator: a number that carries f(x), f(x + h·v) and f(x - h·v) at once. Decisions
/// are taken at x, and `detach` holds its value there, so that the difference sees what the derivative sees.
#pragma once

#include <functional>
#include <utility>

#include "reference/evaluator.hpp"

namespace etalon::reference {

template <class T>
struct Difference {
  T at{};
  T ahead{};
  T behind{};
  Difference() = default;
  explicit Difference(const T& v) : at(v), ahead(v), behind(v) {}
  Difference(T a, T plus, T minus) : at(std::move(a)), ahead(std::move(plus)), behind(std::move(minus)) {}
};

template <class T>
struct Scalar<Difference<T>> {
  using D = Difference<T>;
  using S = Scalar<T>;
  using Unary = T (*)(const T&);
  using Binary = T (*)(const T&, const T&);
  static D each(Unary f, const D& a) { return D(f(a.at), f(a.ahead), f(a.behind)); }
  static D each(Binary f, const D& a, const D& b) {
    return D(f(a.at, b.at), f(a.ahead, b.ahead), f(a.behind, b.behind));
  }
  static D of(std::int64_t v) { return D(S::of(v)); }
  static D of(const spec::Number& n) { return D(S::of(n)); }
  static const T& value(const D& v) { return v.at; }
  static bool is_nan(const D& v) { return S::is_nan(v.at); }
  static bool is_inf(const D& v) { return S::is_inf(v.at); }
  static D detach(const D& v) { return D(v.at); }
  static D pi() { return D(S::pi()); }
  static D add(const D& a, const D& b) { return each(S::add, a, b); }
  static D sub(const D& a, const D& b) { return each(S::sub, a, b); }
  static D mul(const D& a, const D& b) { return each(S::mul, a, b); }
  static D div(const D& a, const D& b) { return each(S::div, a, b); }
  static D pow(const D& a, const D& b) { return each(S::pow, a, b); }
  static D maximum(const D& a, const D& b) { return each(S::maximum, a, b); }
  static D minimum(const D& a, const D& b) { return each(S::minimum, a, b); }
  static D neg(const D& a) { return each(S::neg, a); }
  static D abs(const D& a) { return each(S::abs, a); }
  static D sign(const D& a) { return each(S::sign, a); }
  static D exp(const D& a) { return each(S::exp, a); }
  static D log(const D& a) { return each(S::log, a); }
  static D sqrt(const D& a) { return each(S::sqrt, a); }
  static D sin(const D& a) { return each(S::sin, a); }
  static D cos(const D& a) { return each(S::cos, a); }
  static D tanh(const D& a) { return each(S::tanh, a); }
  static D erf(const D& a) { return each(S::erf, a); }
  static D expm1(const D& a) { return each(S::expm1, a); }
  static D log1p(const D& a) { return each(S::log1p, a); }
  static D floor(const D& a) { return each(S::floor, a); }
  static D exp2(const D& a) { return each(S::exp2, a); }
  static D log2(const D& a) { return each(S::log2, a); }
  static D tan(const D& a) { return each(S::tan, a); }
  static D sinh(const D& a) { return each(S::sinh, a); }
  static D cosh(const D& a) { return each(S::cosh, a); }
  static D ceil(const D& a) { return each(S::ceil, a); }
  static D trunc(const D& a) { return each(S::trunc, a); }
  static D round(const D& a) { return each(S::round, a); }
  static D atan2(const D& a, const D& b) { return each(S::atan2, a, b); }
  static D modulo(const D& a, const D& b) { return each(S::modulo, a, b); }
  static std::int64_t to_integer(const D& a) { return S::to_integer(a.at); }
};

}  // namespace etalon::reference
