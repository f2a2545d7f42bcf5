/// \file
/// How large the terms of a derivative are: beside each value the sum of the absolute values of all terms that add up to
/// its tangent. It is the scale against which two derivatives are compared.
#pragma once

#include <utility>

#include "reference/evaluator.hpp"

namespace etalon::reference {

template <class T>
struct Weighed {
  T value{};
  T weight{};
  Weighed() = default;
  explicit Weighed(T v) : value(std::move(v)), weight(0) {}
  Weighed(T v, T w) : value(std::move(v)), weight(std::move(w)) {}
};

template <class T>
struct Scalar<Weighed<T>> {
  using W = Weighed<T>;
  using D = Dual<T>;
  using S = Scalar<T>;
  using Sd = Scalar<D>;
  using Unary = D (*)(const D&);
  using Binary = D (*)(const D&, const D&);
  static T part(const D& along, const T& weight) {
    return along.active && weight != 0 ? T(S::abs(along.tangent) * weight) : T(0);
  }
  static W each(Unary f, const W& a) {
    const D d = f(D(a.value, T(1)));
    return W(d.value, part(d, a.weight));
  }
  static W each(Binary f, const W& a, const W& b) {
    const D da = f(D(a.value, T(1)), D(b.value));
    const D db = f(D(a.value), D(b.value, T(1)));
    return W(da.value, part(da, a.weight) + part(db, b.weight));
  }
  static W of(std::int64_t v) { return W(S::of(v)); }
  static W of(const spec::Number& n) { return W(S::of(n)); }
  static const T& value(const W& v) { return v.value; }
  static bool is_nan(const W& v) { return S::is_nan(v.value); }
  static bool is_inf(const W& v) { return S::is_inf(v.value); }
  static W detach(const W& v) { return W(v.value); }
  static W pi() { return W(S::pi()); }
  static W add(const W& a, const W& b) { return each(Sd::add, a, b); }
  static W sub(const W& a, const W& b) { return each(Sd::sub, a, b); }
  static W mul(const W& a, const W& b) { return each(Sd::mul, a, b); }
  static W div(const W& a, const W& b) { return each(Sd::div, a, b); }
  static W pow(const W& a, const W& b) { return each(Sd::pow, a, b); }
  static W maximum(const W& a, const W& b) { return each(Sd::maximum, a, b); }
  static W minimum(const W& a, const W& b) { return each(Sd::minimum, a, b); }
  static W neg(const W& a) { return each(Sd::neg, a); }
  static W abs(const W& a) { return each(Sd::abs, a); }
  static W sign(const W& a) { return each(Sd::sign, a); }
  static W exp(const W& a) { return each(Sd::exp, a); }
  static W log(const W& a) { return each(Sd::log, a); }
  static W sqrt(const W& a) { return each(Sd::sqrt, a); }
  static W sin(const W& a) { return each(Sd::sin, a); }
  static W cos(const W& a) { return each(Sd::cos, a); }
  static W tanh(const W& a) { return each(Sd::tanh, a); }
  static W erf(const W& a) { return each(Sd::erf, a); }
  static W expm1(const W& a) { return each(Sd::expm1, a); }
  static W log1p(const W& a) { return each(Sd::log1p, a); }
  static W floor(const W& a) { return each(Sd::floor, a); }
  static W exp2(const W& a) { return each(Sd::exp2, a); }
  static W log2(const W& a) { return each(Sd::log2, a); }
  static W tan(const W& a) { return each(Sd::tan, a); }
  static W sinh(const W& a) { return each(Sd::sinh, a); }
  static W cosh(const W& a) { return each(Sd::cosh, a); }
  static W ceil(const W& a) { return each(Sd::ceil, a); }
  static W trunc(const W& a) { return each(Sd::trunc, a); }
  static W round(const W& a) { return each(Sd::round, a); }
  static W atan2(const W& a, const W& b) { return each(Sd::atan2, a, b); }
  static W modulo(const W& a, const W& b) { return each(Sd::modulo, a, b); }
  static std::int64_t to_integer(const W& a) { return S::to_integer(a.value); }
};

}  // namespace etalon::reference
