#include "compiled/rewrite/local_equations.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compiled/ir/language.hpp"
#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

using spec::VariableId;

bool always_evaluated(const Expr& e, std::size_t argument) {
  const bool lazy = e.form() == Form::select || e.is(Primitive::logical_and) || e.is(Primitive::logical_or);
  return argument == 0 || !lazy;
}

bool depends_only_on_binders(const Expr& e, const Equation& equation) {
  const std::vector<VariableId> free = spec::free_variables(e);
  return std::all_of(free.begin(), free.end(), [&](VariableId v) {
    return std::any_of(equation.binders.begin(), equation.binders.end(), [v](const Binder& b) { return b.variable == v; });
  });
}

Expr with_own_equation(spec::System& system, const Equation& equation, const Expr& part, std::string_view what, std::vector<Equation>& before) {
  const std::optional<DType> type = type_of_part(system, equation, part);
  if (!type) return {};
  const std::vector<VariableId> free = spec::free_variables(part);
  std::vector<Binder> binders;
  std::vector<Expr> indices;
  spec::Substitution renamed;
  Dims dims;
  for (const Binder& b : equation.binders) {
    if (!std::binary_search(free.begin(), free.end(), b.variable)) continue;
    const Binder fresh = system.bind(b.name, b.extent);
    renamed.emplace(b.variable, spec::variable(fresh));
    indices.push_back(spec::variable(b));
    dims.push_back(b.extent);
    binders.push_back(fresh);
  }
  const std::string name = system[equation.target].name + "." + std::string(what) + std::to_string(system.tensors.size());
  const spec::TensorId local = system.add_tensor(name, *type, dims);
  before.push_back({local, binders, spec::variables(binders), spec::substitute(part, renamed), equation.origin});
  return system.at(local, std::move(indices));
}

}  // namespace etalon::compiled
