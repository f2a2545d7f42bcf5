#include "reference/evaluator.hpp"

namespace etalon::reference {

template std::vector<Array<double>> evaluate(const spec::System&, std::span<const Array<double>>);
template std::vector<Array<double>> evaluate_all(const spec::System&, std::span<const Array<double>>);
template std::vector<Array<Dual<double>>> evaluate(const spec::System&, std::span<const Array<Dual<double>>>);
template std::vector<Array<Dual<double>>> evaluate_all(const spec::System&, std::span<const Array<Dual<double>>>);

}  // namespace etalon::reference
