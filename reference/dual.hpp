/// \file
/// Dual numbers: a value and its tangent. The scalar derivatives that go with them are in scalar_math.hpp.
#pragma once

#include <utility>

namespace etalon::reference {

/// value + ε·tangent. Where nothing depends on the differentiated inputs the number is not `active`: its tangent is
/// zero and takes no part in any product, so that an infinite derivative times "does not depend" is not NaN.
template <class T>
struct Dual {
  using Primal = T;
  T value{};
  T tangent{};
  bool active = false;

  Dual() = default;
  explicit Dual(T v) : value(std::move(v)) {}
  Dual(T v, T t) : value(std::move(v)), tangent(std::move(t)), active(true) {}
};

}  // namespace etalon::reference
