#include "spec/derivative/absent_seeds.hpp"

#include <unordered_map>
#include <utility>
#include <vector>

#include "spec/derivative/dependence.hpp"

namespace etalon::spec {

namespace {

[[nodiscard]] bool is_zero(const Expr& e) { return e.form() == Form::number && e->number.is(0); }

[[nodiscard]] Expr or_zero(const Expr& e) { return e.valid() ? e : decimal(0); }

/// Expressions without the terms of what is absent. An empty Expr stands for nothing.
class Remaining {
 public:
  Remaining(const System& system, std::span<const TensorId> absent) : absent_(system.tensors.size(), false), depends_(system, absent) {
    for (const TensorId t : absent) mark(t, true);
    // In a recurrence a tensor reads itself: all that might be nothing are, until one turns out to be something.
    for (const Equation& q : system.equations) {
      if (depends_.has(q.target)) mark(q.target, true);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Equation& q : system.equations) {
        if (!is_absent(q.target) || !of(q.value).valid()) continue;
        mark(q.target, false);
        changed = true;
      }
    }
  }

  [[nodiscard]] Expr of(const Expr& e) const {
    if (!depends_.has(e)) return e;
    if (e.form() == Form::read) return is_absent(e->tensor) ? Expr{} : e;
    // Expressions share their parts.
    const auto found = known_.find(&*e);
    if (found != known_.end()) return found->second.second;
    Expr remaining = of_parts(e);
    known_.emplace(&*e, std::pair{e, remaining});
    return remaining;
  }

 private:
  [[nodiscard]] bool is_absent(TensorId t) const { return absent_[static_cast<std::size_t>(t)]; }
  void mark(TensorId t, bool absent) {
    absent_[static_cast<std::size_t>(t)] = absent;
    known_.clear();
  }

  [[nodiscard]] Expr of_parts(const Expr& e) const {
    switch (e.form()) {
      case Form::select: return of_branches(e);
      case Form::reduce: return of_reduction(e);
      case Form::apply: return of_primitive(e);
      default: return e;
    }
  }

  [[nodiscard]] Expr of_branches(const Expr& e) const {
    const Expr then = of(e->args[1]), otherwise = of(e->args[2]);
    const auto is_nothing = [](const Expr& branch) { return !branch.valid() || is_zero(branch); };
    if (is_nothing(then) && is_nothing(otherwise)) return {};
    return select(e->args[0], or_zero(then), or_zero(otherwise));
  }

  [[nodiscard]] Expr of_reduction(const Expr& e) const {
    const Expr body = of(e->args[1]);
    if (e->reduction == Reduction::sum && !body.valid()) return {};
    std::vector<Expr> args = e->args;
    args[1] = or_zero(body);
    if (args.size() > 2) args[2] = or_zero(of(args[2]));
    return with_args(e, std::move(args));
  }

  [[nodiscard]] Expr of_primitive(const Expr& e) const {
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(of(a));
    const auto is_there = [&](std::size_t i) { return args[i].valid(); };
    switch (e->primitive) {
      case Primitive::neg:
        if (!is_there(0)) return {};
        break;
      case Primitive::add:
        if (!is_there(0) || !is_there(1)) return is_there(0) ? args[0] : args[1];
        break;
      case Primitive::sub:
        if (!is_there(0)) return is_there(1) ? -args[1] : Expr{};
        if (!is_there(1)) return args[0];
        break;
      case Primitive::mul:
        if (!is_there(0) || !is_there(1)) return {};
        break;
      case Primitive::div:
        if (!is_there(0)) return {};
        break;
      default: break;
    }
    for (Expr& a : args) a = or_zero(a);
    return with_args(e, std::move(args));
  }

  std::vector<bool> absent_;
  Dependence depends_;
  mutable std::unordered_map<const Node*, std::pair<Expr, Expr>> known_;
};

}  // namespace

System without_seeds(const System& system, std::span<const TensorId> absent) {
  System remaining = system;
  if (absent.empty()) return remaining;
  const Remaining terms(system, absent);
  for (Equation& q : remaining.equations) q.value = or_zero(terms.of(q.value));
  return remaining;
}

}  // namespace etalon::spec
