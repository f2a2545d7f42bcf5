/// \file
/// Operators on typed tensors, with plain numbers on either side.
#pragma once

#include "reference/typed_call.hpp"
#include "spec/library/syntax.hpp"

namespace etalon::reference {

/// A tensor and a tensor, or a tensor and a plain number on either side.
template <class A, class B>
concept OperatorArguments = (AnyTensor<A> && (AnyTensor<B> || PlainNumber<B>)) || (PlainNumber<A> && AnyTensor<B>);

template <class A, class B>
  requires OperatorArguments<A, B>
[[nodiscard]] auto operator+(const A& a, const B& b) {
  return spec::syntax::plus(a, b);
}
template <class A, class B>
  requires OperatorArguments<A, B>
[[nodiscard]] auto operator-(const A& a, const B& b) {
  return spec::syntax::minus(a, b);
}
template <class A, class B>
  requires OperatorArguments<A, B>
[[nodiscard]] auto operator*(const A& a, const B& b) {
  return spec::syntax::times(a, b);
}
template <class A, class B>
  requires OperatorArguments<A, B>
[[nodiscard]] auto operator/(const A& a, const B& b) {
  return spec::syntax::over(a, b);
}
template <AnyTensor A>
[[nodiscard]] auto operator-(const A& a) {
  return spec::syntax::negative(a);
}

}  // namespace etalon::reference
