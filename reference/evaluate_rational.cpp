#include "reference/evaluator.hpp"

namespace etalon::reference {

template std::vector<Array<Rational>> evaluate(const spec::System&, std::span<const Array<Rational>>);
template std::vector<Array<Rational>> evaluate_all(const spec::System&, std::span<const Array<Rational>>);
template std::vector<Array<Dual<Rational>>> evaluate(const spec::System&, std::span<const Array<Dual<Rational>>>);
template std::vector<Array<Dual<Rational>>> evaluate_all(const spec::System&, std::span<const Array<Dual<Rational>>>);

}  // namespace etalon::reference
