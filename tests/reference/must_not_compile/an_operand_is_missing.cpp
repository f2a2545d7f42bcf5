// expected: layer_norm: takes 3 operands (x, gamma, beta), got 2
#include "reference/tensor.hpp"
#include "spec/library/normalisation.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)ops::layer_norm(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<3>>());
#else
  (void)ops::layer_norm(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<3>>(), Tensor<double, Shape<3>>());
#endif
}
