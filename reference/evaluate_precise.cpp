#include "reference/evaluator.hpp"
#include "reference/exact/precisions.hpp"
#include "reference/exact/scalar.hpp"

namespace etalon::reference {

#define ETALON_INSTANTIATE(Bits)                                                                                       \
  template std::vector<Array<Precise<Bits>>> evaluate(const spec::System&, std::span<const Array<Precise<Bits>>>);     \
  template std::vector<Array<Dual<Precise<Bits>>>> evaluate(const spec::System&,                                       \
                                                            std::span<const Array<Dual<Precise<Bits>>>>);
ETALON_FOR_EACH_PRECISION(ETALON_INSTANTIATE)
#undef ETALON_INSTANTIATE

}  // namespace etalon::reference
