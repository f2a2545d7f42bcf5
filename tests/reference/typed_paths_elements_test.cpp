#include "spec/library/operations.hpp"
#include "typed_paths.hpp"

namespace {

using namespace etalon;
using namespace etalon::test;

template <class... A>
constexpr Operands<A...> of{};

}  // namespace

TEST_CASE("elementwise calls are the same with shapes as types and as values", "[typed_paths]") {
  check_all(hana::make_tuple(
      row(ops::neg, of<R<2, 3>>, of<B<2>>), row(ops::exp, of<R<1, 2>>, of<I<2>>),
      row(ops::log, of<R<>>, of<R<2>, R<2>>), row(ops::sqrt, of<R<4>>, of<>),
      row(ops::tanh, of<R<2, 1, 2>>, of<I<>>), row(ops::sigmoid, of<R<3>>, of<B<3>>),
      row(ops::relu, of<I<3>>, of<B<3>>), row(ops::abs, of<R<3>>, of<B<3>>),
      row<"approximate=tanh", "approximate=cosh">(ops::gelu, of<R<3>>, of<R<3>>),
      row(ops::add, of<R<2, 3>, R<3>>, of<R<2, 3>, R<2>>), row(ops::sub, of<R<2, 1>, R<3>>, of<R<2>, I<2>>),
      row(ops::mul, of<R<>, R<2>>, of<R<2>, R<3>>), row(ops::div, of<R<2>, R<1>>, of<I<2>, I<2>>),
      row(ops::maximum, of<I<2>, I<2>>, of<R<2>, R<3>>),
      row(ops::where, of<B<2, 1>, R<2>, R<>>, of<R<2>, R<2>, R<2>>),
      row<"dtype=f64", "dtype=f63">(ops::cast, of<I<3>>, of<I<3>>)));
}

TEST_CASE("reductions and products are the same with shapes as types and as values", "[typed_paths]") {
  check_all(hana::make_tuple(
      row<"axes=[1]", "axes=[2]">(ops::sum, of<R<2, 3>>, of<R<2, 3>>),
      row<"axes=[0, -1], keepdims=true", "axes=[0, 0]">(ops::sum, of<R<2, 3, 2>>, of<R<2, 3, 2>>),
      row<"axes=[0]", "keepdims=1">(ops::mean, of<R<2, 3>>, of<R<2, 3>>), row(ops::max, of<R<2, 3>>, of<R<0>>),
      row<"axes=[0]", "axes=[2]">(ops::argmax, of<R<2, 3>>, of<R<2, 3>>),
      row<"axes=[0]", "axis=0">(ops::logsumexp, of<R<2, 3>>, of<R<2, 3>>),
      row(ops::matmul, of<R<2, 3>, R<3, 2>>, of<R<2, 3>, R<4, 2>>),
      row(ops::matmul, of<R<2, 1, 2, 3>, R<4, 3, 1>>, of<R<2, 2, 3>, R<3, 3, 1>>),
      row(ops::linear, of<R<2, 3>, R<4, 3>, R<4>>, of<R<2, 3>, R<4, 3>, R<3>>),
      row(ops::linear, of<R<3>, R<4, 3>, spec::Absent>, of<R<2>, R<4, 3>>)));
}
