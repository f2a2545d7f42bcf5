#include <algorithm>
#include <map>
#include <utility>

#include "spec/derivative/dependence.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/derivative/literal.hpp"
#include "spec/derivative/reductions.hpp"
#include "spec/derivative/scalar_rules.hpp"
#include "spec/error.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::spec {

namespace {

/// Contributions that one equation adds up: those who walk down an expression go as deep as it has terms.
constexpr std::size_t most_terms = 256;

/// What one read gives to the cotangent of its tensor: the sum of `value` over the binders wherever the guards
/// hold and the read's indices equal the element's.
struct Contribution {
  std::vector<Binder> binders;
  std::vector<Expr> guards;  ///< outermost first: an earlier one may be what makes a later one legal
  std::vector<Expr> indices;
  Expr value;
  std::int32_t origin = -1;
};

/// Where a pull stands: the binders and conditions it has come through.
struct Scope {
  std::vector<Binder> binders;
  std::vector<Expr> guards;
  std::int32_t origin = -1;

  [[nodiscard]] Scope with(const Expr& guard) const {
    Scope inner = *this;
    if (!(guard.form() == Form::number && guard->number.mantissa != 0)) inner.guards.push_back(guard);
    return inner;
  }
};

/// Transposes the tangent equations of values, form by form, into contributions per tensor that is read.
class Transposition {
 public:
  Transposition(System& system, const Dependence& depends) : system_(system), depends_(depends) {}

  void pull(const Expr& e, const Expr& cotangent, const Scope& scope) {
    if (!depends_.has(e)) return;
    switch (e.form()) {
      case Form::read:
        reads_[e->tensor].push_back({scope.binders, scope.guards, e->args, cotangent, scope.origin});
        return;
      case Form::apply: pull_primitive(*e, cotangent, scope); return;
      case Form::select:
        pull(e->args[1], cotangent, scope.with(e->args[0]));
        pull(e->args[2], cotangent, scope.with(apply(Primitive::logical_not, {e->args[0]})));
        return;
      case Form::reduce: pull_reduction(e, cotangent, scope); return;
      case Form::number:
      case Form::variable:
      case Form::detach: return;
    }
  }

  /// The contributions to a tensor so far.
  [[nodiscard]] const std::vector<Contribution>& reads_of(TensorId tensor) { return reads_[tensor]; }

 private:
  void pull_primitive(const Node& n, const Expr& cotangent, const Scope& scope) {
    for (std::size_t i = 0; i < n.args.size(); ++i) {
      const ArgumentRule& rule = derivative_rule(n.primitive, i);
      if (rule.push == nullptr || !depends_.has(n.args[i])) continue;
      const Expr matters = rule.matters != nullptr ? rule.matters(n.args) : Expr{};
      pull(n.args[i], rule.push(n.args, cotangent), matters.valid() ? scope.with(matters) : scope);
    }
  }

  void pull_reduction(const Expr& e, const Expr& cotangent, const Scope& scope) {
    Scope inner = scope.with(e->args[0]);
    inner.binders.insert(inner.binders.end(), e->binders.begin(), e->binders.end());
    switch (e->reduction) {
      case Reduction::sum: pull(e->args[1], cotangent, inner); return;
      case Reduction::prod: pull(e->args[1], cotangent * product_of_others(system_, e), inner); return;
      case Reduction::max:
      case Reduction::min: {
        const Expr first = first_extremum(system_, e);
        pull(e->args[1], cotangent, inner.with(apply(Primitive::eq, {position_of(e->binders), first})));
        if (e->args.size() > 2) pull(e->args[2], cotangent, scope.with(apply(Primitive::lt, {first, integer(0)})));
        return;
      }
      default: return;
    }
  }

  System& system_;
  const Dependence& depends_;
  std::map<TensorId, std::vector<Contribution>> reads_;
};

Expr gathered(const Contribution& c, const std::vector<Binder>& element) {
  Expr guard;
  const auto add = [&](const Expr& g) { guard = guard.valid() ? guard && g : g; };
  for (const Expr& g : c.guards) add(g);
  for (std::size_t axis = 0; axis < element.size(); ++axis) {
    add(apply(Primitive::eq, {c.indices[axis], variable(element[axis])}));
  }
  if (c.binders.empty()) return guard.valid() ? select(guard, c.value, decimal(0)) : c.value;
  return reduce(Reduction::sum, c.binders, guard.valid() ? guard : boolean(true), c.value);
}

/// Builds the cotangents of a system's tensors from the last to the first.
class Reverse {
 public:
  Reverse(System& system, const Dependence& depends, std::span<const TensorId> of, std::span<const TensorId> cotangents)
      : system_(system), depends_(depends), transposition_(system, depends), names_(system) {
    for (std::size_t i = 0; i < of.size(); ++i) seeds_[of[i]].push_back(cotangents[i]);
  }

  void run() {
    const std::size_t count = system_.equations.size();
    std::vector<std::vector<std::size_t>> writers(system_.tensors.size());
    for (std::size_t i = 0; i < count; ++i) {
      writers[static_cast<std::size_t>(system_.equations[i].target)].push_back(i);
    }
    std::vector<std::size_t> group_of(count, 0);  // one more than the number of the recurrence that ends there
    const auto groups = recurrent_groups(system_);
    for (std::size_t g = 0; g < groups.size(); ++g) group_of[groups[g].back()] = g + 1;
    for (std::size_t i = count; i-- > 0;) {
      if (group_of[i] > 0) {
        pull_recurrence(groups[group_of[i] - 1]);
        i -= groups[group_of[i] - 1].size() - 1;
        continue;
      }
      const TensorId target = system_.equations[i].target;
      const auto& own = writers[static_cast<std::size_t>(target)];
      if (own.back() != i || !depends_.has(target) || depends_.is_wrt(target)) continue;
      const TensorId cotangent = cotangent_of(target);
      if (cotangent < 0) continue;
      for (const std::size_t w : own) pull_equation(system_.equations[w], cotangent);
    }
  }

  /// The cotangent tensor of a variable: a new tensor even where it only repeats a seed.
  TensorId of_variable(TensorId tensor) {
    const TensorId result = defined(tensor);
    return result >= 0 ? result : define_zero(system_, tensor, "~", names_);
  }

 private:
  void pull_equation(const Equation primal, TensorId cotangent) {
    const Expr c = system_.at(cotangent, primal.place);
    transposition_.pull(primal.value, c, Scope{primal.binders, {}, primal.origin});
  }

  /// The cotangents of a recurrence read each other: all are declared before any equation is pulled. Their equations
  /// stand in the opposite order, and what was read one step back is now read one step ahead.
  void pull_recurrence(const std::vector<std::size_t>& group) {
    std::vector<TensorId> targets;  // the last written first
    bool reached = false;
    for (auto i = group.rbegin(); i != group.rend(); ++i) {
      const TensorId target = system_.equations[*i].target;
      if (!depends_.has(target) || depends_.is_wrt(target)) continue;
      if (std::find(targets.begin(), targets.end(), target) != targets.end()) continue;
      targets.push_back(target);
      reached = reached || seeds_.contains(target) || !transposition_.reads_of(target).empty();
    }
    if (!reached) return;
    std::map<TensorId, TensorId> cotangents;
    for (const TensorId t : targets) cotangents[t] = declared(t);
    for (auto i = group.rbegin(); i != group.rend(); ++i) {
      const auto cotangent = cotangents.find(system_.equations[*i].target);
      if (cotangent != cotangents.end()) pull_equation(system_.equations[*i], cotangent->second);
    }
    for (const TensorId t : targets) define(t, cotangents.at(t), static_cast<std::size_t>(-1));
  }

  TensorId cotangent_of(TensorId tensor) {
    const auto seed = seeds_.find(tensor);
    if (seed != seeds_.end() && seed->second.size() == 1 && transposition_.reads_of(tensor).empty()) {
      return seed->second.front();
    }
    return defined(tensor);
  }

  TensorId defined(TensorId tensor) {
    if (transposition_.reads_of(tensor).empty() && !seeds_.contains(tensor)) return -1;
    const TensorId result = declared(tensor);
    define(tensor, result, most_terms);
    return result;
  }

  TensorId declared(TensorId tensor) {
    const TensorInfo info = system_[tensor];
    return system_.add_tensor(names_.take(info.name + "~"), info.dtype, info.dims);
  }

  /// The equation of a cotangent from all that reads its tensor. After so many terms what is added up has an equation of
  /// its own, and the order of the sum stays.
  void define(TensorId tensor, TensorId result, std::size_t terms_of_one) {
    const std::vector<Contribution> reads = transposition_.reads_of(tensor);
    const auto seed = seeds_.find(tensor);
    const std::vector<Binder> element = system_.bind_all(result);
    const std::int32_t origin = reads.empty() ? -1 : reads.front().origin;
    Expr total;
    std::size_t terms = 0;
    const auto add = [&](const Expr& term) {
      if (terms == terms_of_one) {
        total = part(result, element, total, origin);
        terms = 1;
      }
      total = total.valid() ? total + term : term;
      ++terms;
    };
    if (seed != seeds_.end()) {
      for (const TensorId s : seed->second) add(system_.at(s, variables(element)));
    }
    for (const Contribution& c : reads) add(gathered(c, element));
    append_refreshed(system_, {result, element, variables(element), total.valid() ? total : decimal(0), origin});
  }

  /// A tensor for a sum that goes on. Like arithmetic, it has at least 32 bits.
  Expr part(TensorId result, const std::vector<Binder>& element, const Expr& sum, std::int32_t origin) {
    const TensorInfo info = system_[result];
    const DType dtype = size_of(info.dtype) > 2 ? info.dtype : DType::f32;
    const TensorId tensor = system_.add_tensor(names_.take(info.name + ".part"), dtype, info.dims);
    append_refreshed(system_, {tensor, element, variables(element), sum, origin});
    return system_.at(tensor, variables(element));
  }

  System& system_;
  const Dependence& depends_;
  Transposition transposition_;
  FreshNames names_;
  std::map<TensorId, std::vector<TensorId>> seeds_;
};

}  // namespace

std::vector<TensorId> append_literal_vjp(System& system, std::span<const TensorId> of,
                                         std::span<const TensorId> cotangents, std::span<const TensorId> wrt) {
  if (of.size() != cotangents.size()) throw SpecViolation("vjp: one cotangent per result is wanted");
  for (const TensorId t : of) require_real(system, t, "result");
  for (const TensorId t : wrt) require_real(system, t, "variable");
  for (std::size_t i = 0; i < of.size(); ++i) require_shape(system, cotangents[i], of[i], "cotangent");

  name_for_derivative(system);
  const Dependence depends(system, wrt);
  Reverse reverse(system, depends, of, cotangents);
  reverse.run();

  std::vector<TensorId> result;
  for (const TensorId t : wrt) result.push_back(reverse.of_variable(t));
  return result;
}

std::vector<TensorId> append_vjp(System& system, std::span<const TensorId> of, std::span<const TensorId> cotangents,
                                 std::span<const TensorId> wrt) {
  const std::size_t first = name_for_derivative(system);
  std::vector<TensorId> result = append_literal_vjp(system, of, cotangents, wrt);
  simplify_derivative(system, first);
  return result;
}

System vjp(const System& primal, std::span<const std::size_t> wrt) {
  System result = primal;
  FreshNames names(result);
  std::vector<TensorId> of;
  std::vector<TensorId> cotangents;
  for (const TensorId y : primal.outputs) {
    const TensorInfo info = primal[y];
    if (kind_of(info.dtype) != Kind::real) continue;
    of.push_back(y);
    cotangents.push_back(result.add_tensor(names.take(info.name + "~"), info.dtype, info.dims));
    result.inputs.push_back(cotangents.back());
  }
  std::vector<TensorId> variables;
  for (const std::size_t i : wrt) variables.push_back(primal.inputs.at(i));
  for (const TensorId t : append_vjp(result, of, cotangents, variables)) result.outputs.push_back(t);
  return result;
}

}  // namespace etalon::spec
