#include <algorithm>
#include <utility>
#include <vector>

#include "compiled/passes/passes.hpp"
#include "compiled/plan/plan.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::compiled {

using spec::Binder;
using spec::Equation;
using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::Substitution;
using spec::System;
using spec::TensorId;
using spec::VariableId;

namespace {

DType stored_type(Kind kind, DType arithmetic) {
  switch (kind) {
    case Kind::integer:
      return DType::i64;
    case Kind::boolean:
      return DType::boolean;
    case Kind::real:
      break;
  }
  return arithmetic;
}

/// Takes the reductions out of one equation.
class Naming {
 public:
  Naming(System& system, const Equation& equation, std::vector<Equation>& before)
      : system_(system), equation_(equation), before_(before), arithmetic_(arithmetic_type(system, equation)) {}

  /// The expression with its reductions replaced by reads of the new tensors.
  [[nodiscard]] Expr operator()(const Expr& e) {
    if (e.form() == Form::reduce && depends_only_on_binders(e)) return name(e);
    if (e->args.empty() || e.form() == Form::reduce) return e;
    std::vector<Expr> args = e->args;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (always_evaluated(e, i)) args[i] = (*this)(args[i]);
    }
    return spec::with_args(e, std::move(args));
  }

 private:
  static bool always_evaluated(const Expr& e, std::size_t argument) {
    const bool lazy = e.form() == Form::select || e.is(Primitive::logical_and) || e.is(Primitive::logical_or);
    return argument == 0 || !lazy;
  }

  bool depends_only_on_binders(const Expr& e) const {
    const std::vector<VariableId> free = spec::free_variables(e);
    return std::all_of(free.begin(), free.end(), [&](VariableId v) {
      return std::any_of(equation_.binders.begin(), equation_.binders.end(),
                         [v](const Binder& b) { return b.variable == v; });
    });
  }

  Expr name(const Expr& e) {
    const std::vector<VariableId> free = spec::free_variables(e);
    std::vector<Binder> binders;
    std::vector<Expr> indices;
    Substitution renamed;
    Dims dims;
    for (const Binder& b : equation_.binders) {
      if (!std::binary_search(free.begin(), free.end(), b.variable)) continue;
      const Binder fresh = system_.bind(b.name, b.extent);
      renamed.emplace(b.variable, spec::variable(fresh));
      indices.push_back(spec::variable(b));
      dims.push_back(b.extent);
      binders.push_back(fresh);
    }
    const std::string name = system_[equation_.target].name + "." + std::string(spec::name_of(e->reduction)) +
                             std::to_string(system_.tensors.size());
    const TensorId local = system_.add_tensor(name, stored_type(e.kind(), arithmetic_), dims);
    Equation equation{local, binders, spec::variables(binders), spec::substitute(e, renamed), equation_.origin};
    before_.push_back(std::move(equation));
    return system_.at(local, std::move(indices));
  }

  System& system_;
  const Equation& equation_;
  std::vector<Equation>& before_;
  DType arithmetic_;
};

}  // namespace

void name_reductions(System& system) {
  std::vector<Equation> result;
  result.reserve(system.equations.size());
  for (Equation& equation : system.equations) {
    if (equation.value.form() != Form::reduce) {
      Naming naming(system, equation, result);
      Expr value = naming(equation.value);
      equation.value = std::move(value);
    }
    result.push_back(std::move(equation));
  }
  system.equations = std::move(result);
  spec::order_equations(system);
}

}  // namespace etalon::compiled
