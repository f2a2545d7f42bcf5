#include "reference/evaluator.hpp"

namespace etalon::reference {

ETALON_EVALUATE(double)

}  // namespace etalon::reference
