// expected: sum: no attribute axis; did you mean axes?
#include "reference/tensor.hpp"
#include "spec/library/reductions.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)spec::sum.with<"axis=1">(Tensor<double, Shape<2, 3>>());
#else
  (void)spec::sum.with<"axes=[1]">(Tensor<double, Shape<2, 3>>());
#endif
}
