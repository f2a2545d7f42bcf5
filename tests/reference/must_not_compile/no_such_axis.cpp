// expected: sum: axes names axis 2, x has rank 2
#include "reference/tensor.hpp"
#include "spec/library/reductions.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)ops::sum.with<"axes=[2]">(Tensor<double, Shape<2, 3>>());
#else
  (void)ops::sum.with<"axes=[1]">(Tensor<double, Shape<2, 3>>());
#endif
}
