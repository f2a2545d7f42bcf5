#include <utility>
#include <vector>

#include "compiled/ir/language.hpp"
#include "compiled/rewrite/local_equations.hpp"
#include "compiled/rewrite/passes.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::compiled {

namespace {

/// The expression with its reductions replaced by reads of new tensors.
Expr named(System& system, const Equation& equation, const Expr& e, std::vector<Equation>& before) {
  if (e.form() == Form::reduce && depends_only_on_binders(e, equation)) {
    const Expr read = with_own_equation(system, equation, e, spec::name_of(e->reduction), before);
    return read.valid() ? read : e;
  }
  if (e->args.empty() || e.form() == Form::reduce) return e;
  std::vector<Expr> args = e->args;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (always_evaluated(e, i)) args[i] = named(system, equation, args[i], before);
  }
  return spec::with_args(e, std::move(args));
}

}  // namespace

void name_reductions(System& system) {
  std::vector<Equation> result;
  result.reserve(system.equations.size());
  for (Equation& equation : system.equations) {
    if (equation.value.form() != Form::reduce) equation.value = named(system, equation, equation.value, result);
    result.push_back(std::move(equation));
  }
  system.equations = std::move(result);
  spec::order_equations(system);
}

}  // namespace etalon::compiled
