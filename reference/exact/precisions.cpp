#include "reference/exact/precisions.hpp"

#include "reference/exact/enclosure_functions.hpp"

namespace etalon::reference {

#define ETALON_INSTANTIATE(Bits) template class Enclosure<End<Bits>>;
ETALON_FOR_EACH_PRECISION(ETALON_INSTANTIATE)
#undef ETALON_INSTANTIATE

}  // namespace etalon::reference
