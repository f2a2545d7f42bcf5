// expected: conv2d: violated: requires c == e*groups
#include "reference/tensor.hpp"
#include "spec/library/convolution.hpp"
#include "spec/library/pooling.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)ops::conv2d(Tensor<double, Shape<1, 2, 4, 4>>(), Tensor<double, Shape<1, 1, 3, 3>>());
#else
  (void)ops::conv2d(Tensor<double, Shape<1, 2, 4, 4>>(), Tensor<double, Shape<1, 2, 3, 3>>());
#endif
}
