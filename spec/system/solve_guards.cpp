#include <algorithm>

#include "spec/system/loop_rules.hpp"
#include "spec/system/simplify.hpp"
#include "spec/system/solve.hpp"

namespace etalon::spec {

namespace {

Expr conjunction(const std::vector<Expr>& parts) {
  Expr all;
  for (const Expr& p : parts) all = all.valid() ? all && p : p;
  return all.valid() ? all : boolean(true);
}

bool is_zero(const Expr& e) {
  if (e.form() != Form::number || e.kind() == Kind::boolean) return false;
  return !e->number.is_binary && e->number.mantissa == 0;
}

bool has_read(const Expr& e) {
  bool found = false;
  for_each(e, [&](const Expr& x) { found = found || x.form() == Form::read; });
  return found;
}

bool is_index_arithmetic(const Expr& e) {
  if (e.kind() != Kind::integer || e.form() != Form::apply) return false;
  switch (e->primitive) {
    case Primitive::add:
    case Primitive::sub:
    case Primitive::mul:
    case Primitive::neg:
    case Primitive::floor_div:
    case Primitive::modulo: return true;
    default: return false;
  }
}

/// Takes the size of an expression off the budget; false once that is used up.
bool fits(const Expr& e, std::int64_t& budget) {
  if (--budget < 0) return false;
  for (const Expr& a : e->args) {
    if (!fits(a, budget)) return false;
  }
  return true;
}

/// Whether the machine computes both sides as numbers of the integers: neither leaves 64 bits, as b + 1 does where b is the
/// largest of all.
bool sides_stay(const Expr& comparison, const Ranges& known) {
  return std::all_of(comparison->args.begin(), comparison->args.end(), [&](const Expr& side) {
    const Affine form = exact_affine(side);
    if (form.terms.empty() || (form.terms.size() == 1 && form.terms[0].coefficient == 1 && form.constant == 0)) return true;
    const Interval found = interval(form, known);
    return found.low > -Interval::unbounded && found.high < Interval::unbounded;
  });
}

/// Rewrites one value top down, with what is known on the way.
class Solver {
 public:
  Solver(System& system, const Admits& admits) : system_(system), admits_(admits) {}

  Expr solve(const Equation& equation, const Ranges& known) {
    equation_ = &equation;
    return solve(equation.value, known);
  }

 private:
  Expr solve(const Expr& e, const Ranges& known) {
    Expr solved = solve_any(e, known);
    return !admits_ || e.kind() != Kind::real || admits_(*equation_, e, solved) ? solved : e;
  }

  Expr solve_any(const Expr& e, const Ranges& known) {
    switch (e.form()) {
      case Form::number: return e;
      case Form::variable: return to_expr(affine(e, known));
      case Form::read: return solve_read(e, known);
      case Form::select: return solve_choice(e, known);
      case Form::reduce: return solve_reduction(e, known);
      case Form::detach: return with_args(e, {solve(e->args[0], known)});
      case Form::apply: break;
    }
    if (e.kind() == Kind::boolean) return solve_condition(e, known);
    if (is_index_arithmetic(e) && !has_read(e)) return to_expr(affine(e, known));
    return with_solved_args(e, known);
  }

  Expr with_solved_args(const Expr& e, const Ranges& known) {
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(solve(a, known));
    return with_args(e, std::move(args));
  }

  Expr solve_index(const Expr& e, std::int64_t extent, const Ranges& known) {
    const Expr inner = e.form() == Form::apply ? with_solved_args(e, known) : solve(e, known);
    const Affine form = affine(inner, known);
    // Conditions speak of opaque atoms as they stood: an index that is no longer theirs is in range and cannot be shown to be.
    const bool opaque = std::any_of(form.terms.begin(), form.terms.end(), [](const Term& t) {
      return t.atom.form() != Form::variable && !as_quotient(t.atom);
    });
    if (opaque) {
      const Interval found = interval(form, known);
      if (found.low < 0 || found.high >= extent) return e;
    }
    return to_expr(form);
  }

  Expr solve_read(const Expr& e, const Ranges& known) {
    std::vector<Expr> args;
    const Dims& dims = system_[e->tensor].dims;
    for (std::size_t axis = 0; axis < e->args.size(); ++axis) args.push_back(solve_index(e->args[axis], dims[axis], known));
    return with_args(e, std::move(args));
  }

  Expr solve_condition(const Expr& e, const Ranges& known) {
    if (const auto decided = decide(e, known)) return boolean(*decided);
    const bool both = e.is(Primitive::logical_and);
    if (both || e.is(Primitive::logical_or)) {
      const Expr left = solve(e->args[0], known);
      Ranges beyond = known;
      both ? beyond.assume(left) : beyond.assume_not(left);
      const Expr right = solve(e->args[1], beyond);
      if (left.form() == Form::number) return (left->number.mantissa != 0) == both ? right : left;
      if (right.form() == Form::number && (right->number.mantissa != 0) == both) return left;
      return apply(e->primitive, {left, right});
    }
    if (e.is(Primitive::logical_not)) {
      const Expr inner = solve(e->args[0], known);
      if (inner.is(Primitive::logical_not)) return inner->args[0];
      const Expr otherwise = apply(Primitive::logical_not, {inner});
      const auto c = as_comparison(inner, known);
      return c ? where_sides_stay(negated(*c), otherwise, known) : otherwise;
    }
    const Expr inner = with_solved_args(e, known);
    const auto comparison = as_comparison(inner, known);
    return comparison ? where_sides_stay(compare(comparison->relation, comparison->difference), inner, known) : inner;
  }

  static Expr where_sides_stay(const Expr& rewritten, const Expr& otherwise, const Ranges& known) {
    return sides_stay(rewritten, known) ? rewritten : otherwise;
  }

  static Expr negated(const Comparison& c) {
    if (c.relation == Primitive::ge) return compare(Primitive::ge, -1 * c.difference - constant(1));
    return compare(c.relation == Primitive::eq ? Primitive::ne : Primitive::eq, c.difference);
  }

  Expr solve_choice(const Expr& e, const Ranges& known) {
    const Expr condition = solve(e->args[0], known);
    if (condition.form() == Form::number) return solve(e->args[condition->number.mantissa != 0 ? 1 : 2], known);
    Ranges then = known;
    then.assume(condition);
    Ranges otherwise = known;
    otherwise.assume_not(condition);
    return select(condition, solve(e->args[1], then), solve(e->args[2], otherwise));
  }

  // --- reductions ---

  /// The guards one by one, each under those before it; false if one never holds.
  bool solve_guards_of(Loop& loop, Ranges& known) {
    std::vector<Expr> kept;
    for (const Expr& guard : loop.guards) {
      for (const Expr& part : conjuncts(guard)) {
        for (const Expr& g : conjuncts(solve(part, known))) {
          if (g.form() == Form::number) return false;
          kept.push_back(g);
          known.assume(g);
        }
      }
    }
    loop.guards = std::move(kept);
    return true;
  }

  static bool is_empty(const Loop& loop) {
    for (const Binder& b : loop.binders) {
      if (b.extent <= 0) return true;
    }
    return false;
  }

  static Expr neutral(const Expr& e) {
    if (e->args.size() > 2) return e->args[2];
    switch (e->reduction) {
      case Reduction::sum: return e.kind() == Kind::real ? decimal(0) : integer(0);
      case Reduction::prod: return e.kind() == Kind::real ? decimal(1) : integer(1);
      case Reduction::any: return boolean(false);
      case Reduction::all: return boolean(true);
      default: return {};
    }
  }

  static std::int64_t points(const Loop& loop) {
    std::int64_t n = 1;
    for (const Binder& b : loop.binders) {
      if (__builtin_mul_overflow(n, b.extent, &n)) return Interval::unbounded;
    }
    return n;
  }

  /// Whether a loop's guards and body are still of a size that a solution can have.
  static bool is_small(const Loop& loop, const Loop& original) {
    std::int64_t size = 0;
    for_each(original.body, [&](const Expr&) { ++size; });
    constexpr std::int64_t room = 1000;
    std::int64_t budget = room + 8 * size;
    if (!fits(loop.body, budget)) return false;
    budget = room;
    for (const Expr& g : loop.guards) {
      if (!fits(g, budget)) return false;
    }
    return true;
  }

  /// Simplifies the guards only; false if nothing is reduced. `known` then holds them.
  bool tidy(Loop& loop, const Ranges& outside, Ranges& known) {
    if (is_empty(loop)) return false;
    known = outside;
    known.bind(loop.binders);
    return solve_guards_of(loop, known);
  }

  /// Rewrites until no rule applies; false if nothing is reduced. `known` then holds the guards. Where the rules do
  /// not come to an end soon, or to more points than there were, the loop stays as it was.
  bool rewrite(Loop& loop, const Expr& e, const Ranges& outside, Ranges& known) {
    if (!tidy(loop, outside, known)) return false;
    if (e->reduction == Reduction::argmax || e->reduction == Reduction::argmin) return true;
    const Loop original = loop;
    const std::size_t many = loop.guards.size() + 4 * loop.binders.size() + 8;
    constexpr int enough = 64;
    bool settled = false;
    for (int step = 0; step < enough && loop.guards.size() <= many && is_small(loop, original); ++step) {
      settled = !apply_first(loop, known);
      if (settled) break;
      if (!tidy(loop, outside, known)) return false;
    }
    if (settled && points(loop) <= points(original)) return true;
    loop = original;
    return tidy(loop, outside, known);
  }

  bool apply_first(Loop& loop, const Ranges& known) {
    for (const LoopRule& rule : loop_rules()) {
      if (rule.apply(system_, loop, known)) return true;
    }
    return false;
  }

  /// sum[g] (if c then a else 0)  =  sum[g and c] a
  static bool take_choice(Loop& loop, const Expr& e) {
    if (e->reduction != Reduction::sum || loop.body.form() != Form::select) return false;
    const auto& args = loop.body->args;
    if (is_zero(args[2])) {
      loop.guards.push_back(args[0]);
      loop.body = Expr(args[1]);
      return true;
    }
    if (!is_zero(args[1])) return false;
    loop.guards.push_back(apply(Primitive::logical_not, {args[0]}));
    loop.body = Expr(args[2]);
    return true;
  }

  Expr solve_reduction(const Expr& e, const Ranges& outside) {
    Loop loop{e->binders, conjuncts(e->args[0]), e->args[1]};
    Expr beyond = neutral(e);
    if (beyond.valid()) beyond = solve(beyond, outside);
    Ranges known;
    do {
      if (!rewrite(loop, e, outside, known)) return beyond.valid() ? beyond : e;
      loop.body = solve(loop.body, known);
    } while (take_choice(loop, e));
    return rebuilt(e, loop, beyond);
  }

  /// Conditions that no binder enters stand outside, so that nothing is visited where they fail.
  static Expr rebuilt(const Expr& e, const Loop& loop, const Expr& beyond) {
    if (loop.binders.empty() && (beyond.valid() || !loop.guards.empty())) {
      if (loop.guards.empty()) return loop.body;
      return beyond.valid() ? select(conjunction(loop.guards), loop.body, beyond) : loop.body;
    }
    if (loop.binders.empty()) return loop.body;
    std::vector<Expr> outer;
    std::vector<Expr> inner;
    for (const Expr& g : loop.guards) {
      const bool movable = beyond.valid() && !enters(loop, g) && (inner.empty() || !has_read(g));
      (movable ? outer : inner).push_back(g);
    }
    const Expr otherwise = e->args.size() > 2 ? beyond : Expr{};
    const Expr rest = reduce(e->reduction, loop.binders, conjunction(inner), loop.body, otherwise);
    return outer.empty() ? rest : select(conjunction(outer), rest, beyond);
  }

  static bool enters(const Loop& loop, const Expr& guard) {
    bool found = false;
    for_each(guard, [&](const Expr& x) {
      if (x.form() != Form::variable) return;
      for (const Binder& b : loop.binders) found = found || b.variable == x->variable;
    });
    return found;
  }

  System& system_;
  const Admits& admits_;
  const Equation* equation_ = nullptr;
};

void solve_from(System& system, std::size_t first, const Admits& admits) {
  Ranges base;
  base.tensors = std::make_shared<const std::vector<Interval>>(value_ranges(system));
  Solver solver(system, admits);
  for (std::size_t i = first; i < system.equations.size(); ++i) {
    Ranges known = base;
    known.bind(system.equations[i].binders);
    system.equations[i].value = solver.solve(system.equations[i], known);
  }
}

}  // namespace

void solve_guards(System& system, std::size_t first) { solve_from(system, first, {}); }

void solve_guards(System& system) { solve_from(system, 0, {}); }

void solve_guards(System& system, const Admits& admits) { solve_from(system, 0, admits); }

}  // namespace etalon::spec
