#include "reference/evaluator.hpp"

namespace etalon::reference {

template std::vector<Array<Real50>> evaluate(const spec::System&, std::span<const Array<Real50>>);
template std::vector<Array<Real50>> evaluate_all(const spec::System&, std::span<const Array<Real50>>);
template std::vector<Array<Dual<Real50>>> evaluate(const spec::System&, std::span<const Array<Dual<Real50>>>);
template std::vector<Array<Dual<Real50>>> evaluate_all(const spec::System&, std::span<const Array<Dual<Real50>>>);
template std::vector<Array<Real100>> evaluate(const spec::System&, std::span<const Array<Real100>>);
template std::vector<Array<Real100>> evaluate_all(const spec::System&, std::span<const Array<Real100>>);
template std::vector<Array<Dual<Real100>>> evaluate(const spec::System&, std::span<const Array<Dual<Real100>>>);
template std::vector<Array<Dual<Real100>>> evaluate_all(const spec::System&, std::span<const Array<Dual<Real100>>>);

}  // namespace etalon::reference
