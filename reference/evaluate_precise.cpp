#include "reference/evaluator.hpp"
#include "reference/exact/precisions.hpp"
#include "reference/exact/scalar.hpp"

namespace etalon::reference {

#define ETALON_INSTANTIATE(Bits) ETALON_EVALUATE(Precise<Bits>)
ETALON_FOR_EACH_PRECISION(ETALON_INSTANTIATE)
#undef ETALON_INSTANTIATE

}  // namespace etalon::reference
