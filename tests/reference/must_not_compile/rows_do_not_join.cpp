// expected: add: p is [2, 3] and q is [2], which do not join
#include "reference/tensor.hpp"
#include "spec/library/elementwise.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)ops::add(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<2>>());
#else
  (void)ops::add(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<3>>());
#endif
}
