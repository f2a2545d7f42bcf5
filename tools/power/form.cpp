#include "tools/power/form.hpp"

#include "spec/functions.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::power {
namespace {

using spec::Form;
using spec::Primitive;
using spec::Reduction;

bool is_arithmetic(const spec::Expr& e) {
  if (e.form() != Form::apply || e.kind() != Kind::real) return false;
  switch (e->primitive) {
    case Primitive::add:
    case Primitive::sub:
    case Primitive::mul:
    case Primitive::div:
    case Primitive::sqrt:
    case Primitive::modulo:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string class_of(const spec::System& system) {
  bool functions = false, arithmetic = false, extrema = false;
  bool sums = !spec::recurrent_groups(system).empty();
  for (const spec::Equation& equation : system.equations) {
    spec::for_each(equation.value, [&](const spec::Expr& e) {
      if (e.form() == Form::apply && spec::is_function(e->primitive)) functions = true;
      arithmetic = arithmetic || is_arithmetic(e);
      if (e.form() != Form::reduce || e.kind() == Kind::boolean) return;
      const bool accumulates = e->reduction == Reduction::sum || e->reduction == Reduction::prod;
      (accumulates && e.kind() == Kind::real ? sums : extrema) = true;
    });
  }
  if (functions && sums) return "functions and sums";
  if (functions) return "functions";
  if (sums) return "sums";
  if (arithmetic) return "elementwise";
  return extrema ? "extrema" : "movement";
}

}  // namespace etalon::power
