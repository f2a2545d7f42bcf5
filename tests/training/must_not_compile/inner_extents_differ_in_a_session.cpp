// expected: matmul: k is 3 in a, 4 in b
#include "spec/library/linear.hpp"
#include "training/session/session.hpp"

using namespace etalon;
using training::Handles;

void call(const Handles<Shape<2, 3>>& a, const Handles<Shape<4, 2>>& b, const Handles<Shape<3, 2>>& c) {
#ifdef ILL_TYPED
  (void)ops::matmul(a, b), void(c);
#else
  (void)ops::matmul(a, c), void(b);
#endif
}
