#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "spec/system/fresh_names.hpp"
#include "spec/system/naming.hpp"
#include "spec/system/reach.hpp"
#include "spec/system/recurrence.hpp"
#include "spec/system/simplify.hpp"

namespace etalon::spec {

namespace {

struct HashExpr {
  std::size_t operator()(const Expr& e) const { return e.hash(); }
};

/// Where in a right side a reduction stands.
struct Position {
  std::vector<Binder> scope;     ///< the binders around it
  std::vector<Expr> conditions;  ///< what holds there
  bool root = true;              ///< it is the whole right side
  bool linear = true;            ///< between it and the root are only sums, differences and branches
  bool inside = false;           ///< it is inside another reduction
};

/// The expression with the free variables numbered from -1 down in the given order and every other binder after
/// them: equal for equal reductions whatever their variables are.
Expr canonical(const Expr& e, const std::vector<Binder>& free) {
  Substitution renamed;
  VariableId next = -1;
  for (const Binder& b : free) renamed.emplace(b.variable, variable({--next, b.extent, ""}));
  const std::function<Expr(const Expr&)> visit = [&](const Expr& x) -> Expr {
    if (x.form() == Form::variable) return substitute(x, renamed);
    if (x->args.empty()) return x;
    if (x.form() != Form::reduce) {
      std::vector<Expr> args;
      for (const Expr& a : x->args) args.push_back(visit(a));
      return with_args(x, std::move(args));
    }
    std::vector<Binder> binders;
    for (const Binder& b : x->binders) {
      binders.push_back({--next, b.extent, ""});
      renamed.insert_or_assign(b.variable, variable(binders.back()));
    }
    std::vector<Expr> args;
    for (const Expr& a : x->args) args.push_back(visit(a));
    return reduce(x->reduction, binders, args[0], args[1], args.size() > 2 ? args[2] : Expr{});
  };
  return visit(e);
}

class Namer {
 public:
  Namer(System& system, Naming naming, bool apart) : system_(system), naming_(naming), apart_(apart) {
    base_.tensors = ranges_ = std::make_shared<std::vector<Interval>>(value_ranges(system));
    recurrent_.resize(system.tensors.size(), -1);
    const auto groups = recurrent_groups(system);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const std::size_t i : groups[g]) recurrent_[index(system.equations[i].target)] = static_cast<int>(g);
    }
  }

  void run(std::size_t first) {
    std::vector<Equation> old(system_.equations.begin() + static_cast<std::ptrdiff_t>(first), system_.equations.end());
    system_.equations.resize(first);
    for (Equation& e : old) {
      current_ = &e;
      if (apart_) names_.clear();
      Position root;
      root.scope = e.binders;
      e.value = visit(e.value, root);
      system_.equations.push_back(e);
    }
  }

 private:
  Expr visit(const Expr& e, const Position& at) {
    if (e->args.empty()) return e;
    std::vector<Expr> args;
    for (std::size_t i = 0; i < e->args.size(); ++i) args.push_back(visit(e->args[i], below(e, i, at)));
    const Expr rebuilt = with_args(e, std::move(args));
    if (e.form() != Form::reduce || !wanted(e, at)) return rebuilt;
    return named(rebuilt, at);
  }

  [[nodiscard]] bool wanted(const Expr& e, const Position& at) const {
    const bool position = e->reduction == Reduction::argmax || e->reduction == Reduction::argmin;
    if (position && !at.root) return true;
    switch (naming_) {
      case Naming::every: return !at.root;
      case Naming::nonlinear: return !at.linear || at.inside;
      case Naming::nested: return at.inside;
    }
    return false;
  }

  static Position below(const Expr& e, std::size_t argument, const Position& at) {
    Position inner = at;
    inner.root = false;
    const bool sum = e.is(Primitive::add) || e.is(Primitive::sub) || e.is(Primitive::neg);
    const bool branch = e.form() == Form::select && argument > 0;
    inner.linear = at.linear && (sum || branch || e.form() == Form::detach);
    if (branch) inner.conditions.push_back(argument == 1 ? e->args[0] : apply(Primitive::logical_not, {e->args[0]}));
    if (e.is(Primitive::logical_and) && argument == 1) inner.conditions.push_back(e->args[0]);
    if (e.form() == Form::reduce && argument < 2) {
      inner.inside = true;
      inner.scope.insert(inner.scope.end(), e->binders.begin(), e->binders.end());
      if (argument == 1) inner.conditions.push_back(e->args[0]);
    }
    return inner;
  }

  static std::size_t index(TensorId t) { return static_cast<std::size_t>(t); }

  /// Whether a reduction in the current equation reads its recurrence; a name for it then joins that recurrence.
  [[nodiscard]] bool is_recurrent(const Expr& e) const {
    const int own = recurrent_[index(current_->target)];
    bool found = false;
    for_each(e, [&](const Expr& x) {
      found = found || (own >= 0 && x.form() == Form::read && recurrent_[index(x->tensor)] == own);
    });
    return found;
  }

  /// A read of a local tensor that holds the reduction for every value of its free variables.
  Expr named(const Expr& e, const Position& at) {
    const std::vector<VariableId> free = free_variables(e);
    std::vector<Binder> axes;
    for (const Binder& b : at.scope) {
      if (std::binary_search(free.begin(), free.end(), b.variable)) axes.push_back(b);
    }
    if (axes.size() > Dims::max_rank) return e;
    const bool recurrent = is_recurrent(e);
    const auto value = total(e, axes, at.conditions, recurrent);
    if (!value) return e;
    const Expr key = canonical(*value, axes);
    const auto known = names_.find(key);
    const TensorId tensor = known != names_.end() ? known->second : define(*value, e, axes);
    if (known == names_.end()) recurrent_.resize(system_.tensors.size(), recurrent ? recurrent_[index(current_->target)] : -1);
    names_.emplace(key, tensor);
    return system_.at(tensor, variables(axes));
  }

  /// The reduction itself where it can be evaluated everywhere, else behind the conditions that make it so.
  /// In a recurrence the conditions may also be what keeps its reads at earlier steps.
  std::optional<Expr> total(const Expr& e, const std::vector<Binder>& axes, const std::vector<Expr>& conditions,
                            bool recurrent) {
    Ranges known = base_;
    known.bind(axes);
    const bool empty = std::any_of(axes.begin(), axes.end(), [](const Binder& b) { return b.extent == 0; });
    const bool anywhere = empty || !first_fault(system_, e, known);
    if (anywhere && (!recurrent || conditions.empty())) return e;
    Expr guard;
    for (const Expr& condition : conditions) {
      for (const Expr& c : conjuncts(condition)) {
        if (!only_of(c, axes)) continue;
        guard = guard.valid() ? guard && c : c;
        known.assume(c);
      }
    }
    if (!guard.valid() && anywhere) return e;
    if (!guard.valid() || e.kind() == Kind::boolean) return std::nullopt;
    const Expr whole = select(guard, e, e.kind() == Kind::real ? decimal(0) : integer(0));
    Ranges outside = base_;
    outside.bind(axes);
    if (first_fault(system_, whole, outside)) return std::nullopt;
    return whole;
  }

  static bool only_of(const Expr& e, const std::vector<Binder>& axes) {
    for (const VariableId v : free_variables(e)) {
      if (std::none_of(axes.begin(), axes.end(), [&](const Binder& b) { return b.variable == v; })) return false;
    }
    return true;
  }

  TensorId define(const Expr& value, const Expr& reduction, const std::vector<Binder>& axes) {
    Dims dims;
    for (const Binder& b : axes) dims.push_back(b.extent);
    const std::string base = system_[current_->target].name + "." + std::string(name_of(reduction->reduction));
    if (!taken_) taken_.emplace(system_);
    const TensorId tensor = system_.add_tensor(taken_->take(base), dtype_of(reduction), dims);
    Substitution renamed;
    std::vector<Binder> binders;
    for (const Binder& b : axes) {
      binders.push_back(system_.bind(b.name, b.extent));
      renamed.emplace(b.variable, variable(binders.back()));
    }
    system_.define(tensor, binders, refresh(system_, substitute(value, renamed)), current_->origin);
    Ranges inside = base_;
    inside.bind(binders);
    const Interval range = reduction.kind() == Kind::integer ? interval(system_.equations.back().value, inside) : Interval{};
    ranges_->push_back(range);
    return tensor;
  }

  /// The type of what is reduced: that of the widest real read in it, f32 for 16-bit types: it is arithmetic, not storage.
  [[nodiscard]] DType dtype_of(const Expr& e) const {
    if (e.kind() == Kind::boolean) return DType::boolean;
    if (e.kind() == Kind::integer) return DType::i64;
    const DType own = system_[current_->target].dtype;
    std::optional<DType> widest = kind_of(own) == Kind::real ? std::optional(own) : std::nullopt;
    for_each(e, [&](const Expr& x) {
      if (x.form() != Form::read || x.kind() != Kind::real) return;
      const DType d = system_[x->tensor].dtype;
      if (!widest || size_of(d) > size_of(*widest)) widest = d;
    });
    return widest && size_of(*widest) > 2 ? *widest : DType::f32;
  }

  System& system_;
  Naming naming_;
  bool apart_;
  std::shared_ptr<std::vector<Interval>> ranges_;  ///< of the system's tensors
  Ranges base_;
  std::optional<FreshNames> taken_;  ///< of the system's tensors, once one is defined
  Equation* current_ = nullptr;
  std::unordered_map<Expr, TensorId, HashExpr> names_;
  std::vector<int> recurrent_;  ///< per tensor, the number of its recurrence, or -1
};

}  // namespace

void name_reductions(System& system, std::size_t first, Naming naming) { Namer(system, naming, false).run(first); }

void name_reductions_apart(System& system) { Namer(system, Naming::every, true).run(0); }

void name_reductions(System& system) { name_reductions(system, 0, Naming::every); }

}  // namespace etalon::spec
