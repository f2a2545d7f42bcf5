// expected: where: c is f64, want bool
#include "reference/tensor.hpp"
#include "spec/library/elementwise.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)ops::where(Tensor<double, Shape<2>>(), Tensor<double, Shape<2>>(), Tensor<double, Shape<2>>());
#else
  (void)ops::where(Tensor<bool, Shape<2>>(), Tensor<double, Shape<2>>(), Tensor<double, Shape<2>>());
#endif
}
