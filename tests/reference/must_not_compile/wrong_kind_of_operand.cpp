// expected: where: 
#include "reference/tensor.hpp"
#include "spec/library/elementwise.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)spec::where(Tensor<double, Shape<2>>(), Tensor<double, Shape<2>>(), Tensor<double, Shape<2>>());
#else
  (void)spec::where(Tensor<bool, Shape<2>>(), Tensor<double, Shape<2>>(), Tensor<double, Shape<2>>());
#endif
}
