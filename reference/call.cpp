#include "reference/call.hpp"

#include "reference/evaluate.hpp"
#include "reference/number.hpp"
#include "spec/notation/attributes.hpp"
#include "spec/notation/elaborate.hpp"

namespace etalon::reference {

template <class T>
std::vector<Array<T>> call_operation(const spec::Definition& definition,
                                     std::span<const std::optional<spec::ValueType>> operands,
                                     std::span<const std::size_t> packs, std::string_view attributes,
                                     const spec::Attributes& set, std::span<const Array<T>> values) {
  spec::Attributes all = spec::attributes_from_text(definition, attributes);
  for (const auto& [name, value] : set) all.insert_or_assign(name, value);
  return evaluate<T>(spec::instantiate(definition, operands, packs, all).system, values);
}

#define ETALON_INSTANTIATE(T)                                                                                      \
  template std::vector<Array<T>> call_operation(const spec::Definition&, std::span<const std::optional<spec::ValueType>>, \
                                                std::span<const std::size_t>, std::string_view,                    \
                                                const spec::Attributes&, std::span<const Array<T>>);
ETALON_INSTANTIATE(double)
ETALON_INSTANTIATE(Real50)
ETALON_INSTANTIATE(Real100)
ETALON_INSTANTIATE(Rational)
ETALON_INSTANTIATE(Dual<double>)
ETALON_INSTANTIATE(Dual<Real50>)
ETALON_INSTANTIATE(Dual<Real100>)
ETALON_INSTANTIATE(Dual<Rational>)
#undef ETALON_INSTANTIATE

}  // namespace etalon::reference
