#include "compiled/plan/plan.hpp"

namespace etalon::compiled {

using spec::Expr;

DType arithmetic_type(const spec::System& system, const spec::Equation& equation) {
  const DType target = system[equation.target].dtype;
  if (target == DType::f64) return DType::f64;
  if (kind_of(target) == Kind::real) return DType::f32;
  DType widest = DType::f32;
  spec::for_each(equation.value, [&](const Expr& e) {
    if (e.form() == spec::Form::read && system[e->tensor].dtype == DType::f64) widest = DType::f64;
  });
  return widest;
}

}  // namespace etalon::compiled
