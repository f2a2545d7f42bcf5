// expected: add: 
#include "reference/tensor.hpp"
#include "spec/library/elementwise.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)spec::add(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<2>>());
#else
  (void)spec::add(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<3>>());
#endif
}
