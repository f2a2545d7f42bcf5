#include <algorithm>

#include "spec/derivative/dependence.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/derivative/literal.hpp"
#include "spec/derivative/reductions.hpp"
#include "spec/derivative/scalar_rules.hpp"
#include "spec/error.hpp"

namespace etalon::spec {

namespace {

/// Tangents of expressions by form. An empty Expr stands for an exact zero, so that nothing is added for it.
class Tangents {
 public:
  Tangents(System& system, const Dependence& depends, std::span<const TensorId> wrt, std::span<const TensorId> tangents)
      : system_(system), depends_(depends), tangent_of_(system.tensors.size(), -1) {
    for (std::size_t i = 0; i < wrt.size(); ++i) tangent_of_[static_cast<std::size_t>(wrt[i])] = tangents[i];
  }

  [[nodiscard]] TensorId known(TensorId tensor) const {
    const auto i = static_cast<std::size_t>(tensor);
    return i < tangent_of_.size() ? tangent_of_[i] : -1;
  }
  void learn(TensorId tensor, TensorId tangent) { tangent_of_[static_cast<std::size_t>(tensor)] = tangent; }

  Expr tangent(const Expr& e) {
    if (!depends_.has(e)) return {};
    switch (e.form()) {
      case Form::read: return system_.at(known(e->tensor), e->args);
      case Form::apply: return of_primitive(*e);
      case Form::select: return select_or_zero(e->args[0], tangent(e->args[1]), tangent(e->args[2]));
      case Form::reduce: return of_reduction(e);
      case Form::number:
      case Form::variable:
      case Form::detach: return {};
    }
    return {};
  }

 private:
  static Expr select_or_zero(const Expr& condition, const Expr& then, const Expr& otherwise) {
    if (!then.valid() && !otherwise.valid()) return {};
    return select(condition, then.valid() ? then : decimal(0), otherwise.valid() ? otherwise : decimal(0));
  }

  Expr of_primitive(const Node& n) {
    Expr total;
    for (std::size_t i = 0; i < n.args.size(); ++i) {
      const ArgumentRule& rule = derivative_rule(n.primitive, i);
      if (rule.push == nullptr) continue;
      const Expr t = tangent(n.args[i]);
      if (!t.valid()) continue;
      Expr term = rule.push(n.args, t);
      const Expr matters = rule.matters != nullptr ? rule.matters(n.args) : Expr{};
      if (matters.valid()) term = select(matters, term, decimal(0));
      total = total.valid() ? total + term : term;
    }
    return total;
  }

  Expr of_reduction(const Expr& e) {
    const Expr& guard = e->args[0];
    const Expr t = tangent(e->args[1]);
    const Expr beyond = e->args.size() > 2 ? tangent(e->args[2]) : Expr{};
    switch (e->reduction) {
      case Reduction::sum: return t.valid() ? reduce(Reduction::sum, e->binders, guard, t) : Expr{};
      case Reduction::prod:
        if (!t.valid()) return {};
        return reduce(Reduction::sum, e->binders, guard, t * product_of_others(system_, e));
      case Reduction::max:
      case Reduction::min: {
        const Expr position = first_extremum(system_, e);
        const Substitution at = at_position(e->binders, position);
        const Expr there = t.valid() ? substitute(t, at) : Expr{};
        // The guard holds at an extremum; it is repeated because it is what proves the reads there in range.
        Expr reached = e->args.size() > 2 ? apply(Primitive::ge, {position, integer(0)}) : Expr{};
        if (guard.form() != Form::number) {
          const Expr held = substitute(guard, at);
          reached = reached.valid() ? reached && held : held;
        }
        return reached.valid() ? select_or_zero(reached, there, beyond) : there;
      }
      default: return {};
    }
  }

  System& system_;
  const Dependence& depends_;
  std::vector<TensorId> tangent_of_;
};

void define_tangents(System& system, Tangents& tangents, const Dependence& depends, FreshNames& names) {
  const std::size_t count = system.equations.size();
  const auto wanted = [&](TensorId target) { return depends.has(target) && !depends.is_wrt(target); };
  for (std::size_t i = 0; i < count; ++i) {  // all of them first: a recurrence reads them before their equations
    const TensorId target = system.equations[i].target;
    if (!wanted(target) || tangents.known(target) >= 0) continue;
    const TensorInfo of = system[target];
    tangents.learn(target, system.add_tensor(names.take(of.name + "'"), of.dtype, of.dims));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Equation primal = system.equations[i];
    if (!wanted(primal.target)) continue;
    const Expr t = tangents.tangent(primal.value);
    append_refreshed(system, {tangents.known(primal.target), primal.binders, primal.place,
                              t.valid() ? t : decimal(0), primal.origin});
  }
}

}  // namespace

std::vector<TensorId> append_literal_jvp(System& system, std::span<const TensorId> of, std::span<const TensorId> wrt,
                                         std::span<const TensorId> tangents) {
  if (wrt.size() != tangents.size()) throw SpecViolation("jvp: one tangent per variable is wanted");
  for (const TensorId t : wrt) require_real(system, t, "variable");
  for (const TensorId t : of) require_real(system, t, "result");
  for (std::size_t i = 0; i < wrt.size(); ++i) require_shape(system, tangents[i], wrt[i], "tangent");

  name_for_derivative(system);
  const Dependence depends(system, wrt);
  Tangents known(system, depends, wrt, tangents);
  FreshNames names(system);
  define_tangents(system, known, depends, names);

  std::vector<TensorId> result;
  for (const TensorId t : of) {
    const TensorId tangent = known.known(t);
    result.push_back(tangent >= 0 ? tangent : define_zero(system, t, "'", names));
  }
  return result;
}

std::vector<TensorId> append_jvp(System& system, std::span<const TensorId> of, std::span<const TensorId> wrt,
                                 std::span<const TensorId> tangents) {
  const std::size_t first = name_for_derivative(system);
  std::vector<TensorId> result = append_literal_jvp(system, of, wrt, tangents);
  simplify_derivative(system, first);
  return result;
}

System jvp(const System& primal, std::span<const std::size_t> wrt) {
  System result = primal;
  FreshNames names(result);
  std::vector<TensorId> variables;
  std::vector<TensorId> tangents;
  for (const std::size_t i : wrt) {
    const TensorId x = primal.inputs.at(i);
    const TensorInfo info = primal[x];
    variables.push_back(x);
    tangents.push_back(result.add_tensor(names.take(info.name + "'"), info.dtype, info.dims));
    result.inputs.push_back(tangents.back());
  }
  std::vector<TensorId> of;
  for (const TensorId y : primal.outputs) {
    if (kind_of(primal[y].dtype) == Kind::real) of.push_back(y);
  }
  for (const TensorId t : append_jvp(result, of, variables, tangents)) result.outputs.push_back(t);
  return result;
}

}  // namespace etalon::spec
