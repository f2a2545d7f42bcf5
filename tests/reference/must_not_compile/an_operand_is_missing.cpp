// expected: layer_norm: 
#include "reference/tensor.hpp"
#include "spec/library/normalisation.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)spec::layer_norm(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<3>>());
#else
  (void)spec::layer_norm(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<3>>(), Tensor<double, Shape<3>>());
#endif
}
