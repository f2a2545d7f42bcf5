#include "reference/evaluator.hpp"

namespace etalon::reference {

ETALON_EVALUATE(Rational)

}  // namespace etalon::reference
