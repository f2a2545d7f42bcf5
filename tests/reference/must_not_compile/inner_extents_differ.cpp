// expected: matmul: k is 3 in a, 4 in b
#include "reference/tensor.hpp"
#include "spec/library/linear.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)ops::matmul(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<4, 2>>());
#else
  (void)ops::matmul(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<3, 2>>());
#endif
}
