// expected: sum: no attribute axis; did you mean axes?
#include "reference/tensor.hpp"
#include "spec/library/reductions.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)ops::sum.with<"axis=1">(Tensor<double, Shape<2, 3>>());
#else
  (void)ops::sum.with<"axes=[1]">(Tensor<double, Shape<2, 3>>());
#endif
}
