/// \file
/// Derivatives of generic lambdas over typed tensors, by definition: the same lambda over dual numbers.
#pragma once

#include <boost/hana/integral_constant.hpp>
#include <boost/hana/transform.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>
#include <boost/hana/zip.hpp>
#include <type_traits>
#include <utility>

#include "reference/typed_tensor.hpp"

namespace etalon::reference {

namespace hana = boost::hana;

namespace detail {

template <class T, class S>
[[nodiscard]] auto lifted(const Tensor<T, S>& x) {
  if constexpr (!is_real_element<T>) {
    return x;
  } else {
    Tensor<Dual<T>, S> d;
    for (std::size_t i = 0; i < x.size(); ++i) d.set(i, Dual<T>(x[i]));
    return d;
  }
}

template <class T, class S>
[[nodiscard]] auto lifted(const Tensor<T, S>& x, const Tensor<T, S>& tangent) {
  static_assert(is_real_element<T>, "only a real operand has a tangent");
  Tensor<Dual<T>, S> d;
  for (std::size_t i = 0; i < x.size(); ++i) d.set(i, Dual<T>(x[i], tangent[i]));
  return d;
}

template <class T, class S>
[[nodiscard]] Tensor<T, S> primal_of(const Tensor<Dual<T>, S>& d) {
  Tensor<T, S> x;
  for (std::size_t i = 0; i < d.size(); ++i) x.set(i, d[i].value);
  return x;
}

template <class T, class S>
[[nodiscard]] Tensor<T, S> tangent_of(const Tensor<Dual<T>, S>& d) {
  Tensor<T, S> x;
  for (std::size_t i = 0; i < d.size(); ++i) x.set(i, d[i].active ? d[i].tangent : T(0));
  return x;
}

/// Σ cotangent · tangent.
template <class T, class S>
[[nodiscard]] T pairing(const Tensor<Dual<T>, S>& out, const Tensor<T, S>& cotangent) {
  T total(0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].active) total += cotangent[i] * out[i].tangent;
  }
  return total;
}

/// The cotangent of one operand, `dual` being it among `duals`.
template <class F, class T, class S, class Duals, class D, class C>
void transpose_operand(const F& f, const Tensor<T, S>& primal, const Duals& duals, D& dual, const C& cotangent,
                       Tensor<T, S>& gradient) {
  gradient = Tensor<T, S>();
  if constexpr (is_real_element<T>) {
    for (std::size_t i = 0; i < primal.size(); ++i) {
      dual.set(i, Dual<T>(primal[i], T(1)));
      gradient.set(i, pairing(hana::unpack(duals, f), cotangent));
      dual.set(i, Dual<T>(primal[i]));
    }
  }
}

}  // namespace detail

/// The value of f and its tangent: `auto [y, dy] = jvp(f, hana::make_tuple(x, w), hana::make_tuple(dx, dw))`. `f` returns
/// one real tensor.
template <class F, class... Xs, class... Ts>
[[nodiscard]] auto jvp(const F& f, const hana::tuple<Xs...>& primals, const hana::tuple<Ts...>& tangents) {
  static_assert(sizeof...(Xs) == sizeof...(Ts), "one tangent per operand");
  const auto pairs = hana::zip(primals, tangents);
  const auto out = hana::unpack(
      hana::transform(pairs, [](const auto& p) { return detail::lifted(p[hana::size_c<0>], p[hana::size_c<1>]); }), f);
  return std::pair(detail::primal_of(out), detail::tangent_of(out));
}

/// The cotangents of all operands, given that of f's result: a hana::tuple with a tensor per operand, all zero for
/// integers and truth values. One evaluation of `f` per real element.
template <class F, class... Xs, class T, class S>
[[nodiscard]] auto vjp(const F& f, const hana::tuple<Xs...>& primals, const Tensor<T, S>& cotangent) {
  auto duals = hana::transform(primals, [](const auto& x) { return detail::lifted(x); });
  auto result = primals;
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    (detail::transpose_operand(f, primals[hana::size_c<K>], duals, duals[hana::size_c<K>], cotangent,
                               result[hana::size_c<K>]),
     ...);
  }(std::index_sequence_for<Xs...>{});
  return result;
}

/// The gradients of a scalar function by all operands, as a hana::tuple.
template <class F, class... Xs>
[[nodiscard]] auto gradient(const F& f, const Xs&... xs) {
  using Out = decltype(f(xs...));
  static_assert(is_tensor<Out>, "gradient: f returns one tensor");
  static_assert(Out::dims.rank == 0, "gradient: f returns a scalar; for other results give vjp a cotangent");
  return vjp(f, hana::make_tuple(xs...), Out({typename Out::Element(1)}));
}

}  // namespace etalon::reference
