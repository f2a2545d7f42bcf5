// expected: einsum: index l is in no operand (at 1:9)
#include "reference/tensor.hpp"
#include "spec/library/einsum.hpp"

using namespace etalon;
using reference::Tensor;

void call() {
#ifdef ILL_TYPED
  (void)ops::einsum<"ij,jk->il">(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<3, 2>>());
#else
  (void)ops::einsum<"ij,jk->ik">(Tensor<double, Shape<2, 3>>(), Tensor<double, Shape<3, 2>>());
#endif
}
