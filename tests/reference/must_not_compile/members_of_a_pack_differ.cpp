// expected: concat: ..rest is [3] in x, [4] in x
#include "reference/tensor.hpp"
#include "spec/library/shape.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)ops::concat(boost::hana::make_tuple(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<1, 4>>()));
#else
  (void)ops::concat(boost::hana::make_tuple(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<1, 3>>()));
#endif
}
