#include "compiled/memory/overwriting.hpp"

#include "compiled/ir/access.hpp"
#include "compiled/ir/language.hpp"

namespace etalon::compiled {

namespace {

/// Reads of `old` in an earlier statement stay in the slice that belongs to the current values of the shared loops.
bool reads_own_slice(const System& system, const Statement& statement, TensorId old,
                     const std::vector<std::size_t>& loop_axes) {
  const Equation& equation = system.equations[statement.equation];
  bool own = !statement.in_turn && !statement.in_passing;
  for_each_read(equation, [&](const Expr& e) {
    if (e->tensor != old || !own) return;
    for (std::size_t loop = 0; loop < loop_axes.size(); ++loop) {
      const Expr& index = e->args[loop_axes[loop]];
      const spec::VariableId wanted = equation.binders[statement.shared[loop]].variable;
      own = own && index.form() == Form::variable && index->variable == wanted;
    }
  });
  return own;
}

bool reads_same_element(const Equation& equation, TensorId old) {
  return !holds(equation.value, [&](const Expr& e) { return e.form() == Form::read && e->tensor == old && e->args != equation.place; });
}

bool reads(const Equation& equation, TensorId old) {
  return compiled::reads(equation.value, old) || std::any_of(equation.place.begin(), equation.place.end(), [&](const Expr& p) { return compiled::reads(p, old); });
}

}  // namespace

bool may_overwrite(const System& system, const Kernel& kernel, TensorId old, TensorId value) {
  if (kernel.kind != KernelKind::loops) return false;
  if (system[old].dtype != system[value].dtype || !(system[old].dims == system[value].dims)) return false;
  std::vector<std::size_t> loop_axes;
  std::size_t writer = kernel.statements.size();
  for (std::size_t s = 0; s < kernel.statements.size(); ++s) {
    const Equation& equation = system.equations[kernel.statements[s].equation];
    if (equation.target != value) continue;
    const auto axes = axes_of_binders(equation);
    if (!axes || writer != kernel.statements.size()) return false;
    writer = s;
    for (const std::size_t binder : kernel.statements[s].shared) loop_axes.push_back((*axes)[binder]);
  }
  for (std::size_t s = 0; s < kernel.statements.size(); ++s) {
    const Equation& equation = system.equations[kernel.statements[s].equation];
    if (!reads(equation, old)) continue;
    if (s > writer) return false;
    const bool safe =
        s == writer ? reads_same_element(equation, old) : reads_own_slice(system, kernel.statements[s], old, loop_axes);
    if (!safe) return false;
  }
  return writer != kernel.statements.size();
}

}  // namespace etalon::compiled
