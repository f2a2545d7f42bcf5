#include "compiled/passes/rewriting.hpp"

#include <utility>
#include <vector>

#include "compiled/plan/plan.hpp"

namespace etalon::compiled {

using spec::Expr;

Expr Rewriter::operator()(const Expr& e) {
  const auto found = done_.find(&*e);
  if (found != done_.end()) return found->second.rewritten;
  Expr result = e;
  if (!e->args.empty()) {
    std::vector<Expr> args;
    args.reserve(e->args.size());
    bool changed = false;
    for (const Expr& a : e->args) {
      args.push_back((*this)(a));
      changed = changed || &*args.back() != &*a;
    }
    if (changed) result = spec::with_args(e, std::move(args));
  }
  if (Expr better = change_(result); better.valid()) result = std::move(better);
  done_.emplace(&*e, Entry{e, result});
  return result;
}

namespace {

/// A rule's result may fit another rule; its children never need a second visit because rules only rearrange them.
Expr settle(Expr e, std::span<const Rule> rules) {
  Expr last;
  for (std::size_t i = 0; i < rules.size();) {
    if (Expr better = rules[i].apply(e); better.valid()) {
      e = last = std::move(better);
      i = 0;
    } else {
      ++i;
    }
  }
  return last;
}

}  // namespace

void apply_rules(spec::System& system, std::span<const Rule> rules) {
  for (spec::Equation& equation : system.equations) {
    const DType arithmetic = arithmetic_type(system, equation);
    // A rule knows no types: what it drops may be what made the rest single precision.
    Rewriter rewrite([&](const Expr& e) {
      Expr better = settle(e, rules);
      const bool same_type = !better.valid() || arithmetic == DType::f64 || is_single(system, e) == is_single(system, better);
      return same_type ? better : Expr{};
    });
    const Expr before = equation.value;
    equation.value = rewrite(before);
    if (arithmetic_type(system, equation) != arithmetic) equation.value = before;
    for (Expr& p : equation.place) p = rewrite(p);
  }
}

}  // namespace etalon::compiled
