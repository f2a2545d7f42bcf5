#include "reference/evaluator.hpp"

namespace etalon::reference {

ETALON_EVALUATE(Real50)
ETALON_EVALUATE(Real100)

}  // namespace etalon::reference
