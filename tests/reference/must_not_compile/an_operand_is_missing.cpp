// expected: where: takes 3 operands (c, a, b), got 2
#include "reference/tensor.hpp"
#include "spec/library/elementwise.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)ops::where(Tensor<bool, Shape<3>>(), Tensor<double, Shape<3>>());
#else
  (void)ops::where(Tensor<bool, Shape<3>>(), Tensor<double, Shape<3>>(), Tensor<double, Shape<3>>());
#endif
}
