#include "compiled/rewrite/rewriting.hpp"

#include <utility>
#include <vector>

#include "compiled/ir/language.hpp"
#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

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

[[nodiscard]] bool has_reals(const Expr& value) {
  return holds(value, [](const Expr& e) { return e.kind() == Kind::real; });
}

}  // namespace

bool is_typeless(const Expr& e) {
  constexpr std::int64_t held_by_bf16 = 256;
  if (e.form() != spec::Form::number || e->number.is_binary || e->number.exponent != 0 || !e->number.rest.empty()) return false;
  return e->number.mantissa <= held_by_bf16 && e->number.mantissa >= -held_by_bf16;
}

bool keeps_types(const spec::System& system, const spec::Equation& equation, const Expr& before, const Expr& after) {
  return arithmetic_type(system, equation) == DType::f64 || is_single(system, before) == is_single(system, after);
}

void replace_value(const spec::System& system, spec::Equation& equation, Expr value) {
  const DType arithmetic = arithmetic_type(system, equation);
  std::swap(equation.value, value);
  if (has_reals(equation.value) && arithmetic_type(system, equation) != arithmetic) equation.value = std::move(value);
}

void apply_rules(spec::System& system, std::span<const Rule> rules) {
  for (spec::Equation& equation : system.equations) {
    // A rule knows no types: what it drops may be what made the rest single precision.
    Rewriter rewrite([&](const Expr& e) {
      Expr better = settle(e, rules);
      return better.valid() && keeps_types(system, equation, e, better) ? better : Expr{};
    });
    Expr value = rewrite(equation.value);
    if (const Expr whole = settle(value, rules); whole.valid() && is_typeless(whole)) value = whole;
    replace_value(system, equation, std::move(value));
    for (Expr& p : equation.place) p = rewrite(p);
  }
}

}  // namespace etalon::compiled
