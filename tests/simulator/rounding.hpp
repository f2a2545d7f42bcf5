/// \file
/// The freedoms of single roundings: functions anywhere within their ulps or always at one end, flushed results and
/// operands, reciprocals, operands of products in few bits. It knows no equations.
#pragma once

#include <type_traits>

#include "reference/bounds/wide.hpp"
#include "spec/contract/contract.hpp"
#include "tests/simulator/choices.hpp"

namespace etalon::bounds_test {

/// Arithmetic in T (float or double) that errs as the contract lets it.
template <class T>
class Rounding {
 public:
  using Wider = std::conditional_t<std::is_same_v<T, float>, double, reference::bounds::Quad>;

  /// Draws how this evaluator errs; the choices stay with the caller, as the contract does.
  Rounding(const spec::Contract& contract, Choices& random);

  /// A result as the format and the contract let it be: a subnormal one may be zero.
  [[nodiscard]] T result(T x) { return contract_.flush_results && vanishes(x) ? T(0) : x; }
  [[nodiscard]] T operand(T x) { return contract_.flush_operands && vanishes(x) ? T(0) : x; }
  /// An operand of a product that is summed up, in the few bits that the contract may declare.
  [[nodiscard]] T narrow(T x);
  [[nodiscard]] T quotient(T a, T b);
  /// Any number of the format within the promised ulps of the exact function value.
  [[nodiscard]] T function(spec::Primitive p, T x, T y);

 private:
  [[nodiscard]] bool vanishes(T x);

  const spec::Contract& contract_;
  Choices& random_;
  int lean_ = 0;
  bool flush_ = false;
};

extern template class Rounding<float>;
extern template class Rounding<double>;

}  // namespace etalon::bounds_test
