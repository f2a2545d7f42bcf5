#include "spec/system/loop_rules.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace etalon::spec {

namespace {

/// A guard that is an integer comparison, in normal form.
struct Fact {
  std::size_t guard = 0;
  Comparison comparison;
};

std::vector<Fact> comparisons(const Loop& loop, const Ranges& known, Primitive relation) {
  std::vector<Fact> facts;
  for (std::size_t i = 0; i < loop.guards.size(); ++i) {
    auto c = as_comparison(loop.guards[i], known);
    if (c && c->relation == relation) facts.push_back({i, std::move(*c)});
  }
  return facts;
}

bool mentions(const Expr& e, VariableId variable) {
  bool found = false;
  for_each(e, [&](const Expr& x) { found = found || (x.form() == Form::variable && x->variable == variable); });
  return found;
}

void replace(Loop& loop, VariableId variable, const Expr& by) {
  const Substitution substitution{{variable, by}};
  for (Expr& g : loop.guards) g = substitute(g, substitution);
  loop.body = substitute(loop.body, substitution);
}

void erase_guard(Loop& loop, std::size_t at) { loop.guards.erase(loop.guards.begin() + static_cast<std::ptrdiff_t>(at)); }

void erase_binder(Loop& loop, std::size_t at) {
  loop.binders.erase(loop.binders.begin() + static_cast<std::ptrdiff_t>(at));
}

void guard_first(Loop& loop, std::vector<Expr> guards) {
  loop.guards.insert(loop.guards.begin(), guards.begin(), guards.end());
}

std::vector<Expr> in_range(const Affine& value, std::int64_t extent) {
  return {compare(Primitive::ge, value), compare(Primitive::ge, constant(extent - 1) - value)};
}

/// A binder with its coefficient in a form that does not hide it elsewhere.
struct Candidate {
  std::size_t binder = 0;
  std::int64_t coefficient = 0;
};

std::vector<Candidate> candidates(const Loop& loop, const Affine& form) {
  std::vector<Candidate> result;
  for (std::size_t b = 0; b < loop.binders.size(); ++b) {
    const VariableId v = loop.binders[b].variable;
    const std::int64_t k = form.coefficient_of(v);
    if (k != 0 && !form.hides(v)) result.push_back({b, k});
  }
  return result;
}

Affine without(const Affine& form, const Binder& binder) {
  Affine rest = form;
  rest.add(variable(binder), -form.coefficient_of(binder.variable));
  return rest;
}

// [k < 1] f(k)  =  f(0)
bool substitute_single(System&, Loop& loop, const Ranges& known) {
  for (std::size_t b = 0; b < loop.binders.size(); ++b) {
    const auto found = known.variables.find(loop.binders[b].variable);
    if (found == known.variables.end() || !found->second.is_point()) continue;
    replace(loop, loop.binders[b].variable, integer(found->second.low));
    erase_binder(loop, b);
    return true;
  }
  return false;
}

std::int64_t inverse_modulo(std::int64_t a, std::int64_t m) {
  for (std::int64_t x = 1; x < m; ++x) {
    if (floor_remainder(a * x, m) == 1) return x;
  }
  return 0;
}

/// `e % m + c = 0`, if the form is that: the dividend, m and the wanted remainder.
struct Congruence {
  Affine dividend;
  std::int64_t modulus = 0;
  std::int64_t remainder = 0;
};

std::optional<Congruence> as_congruence(const Affine& form, const Ranges& known) {
  const Affine shown = with_remainders(form);
  if (shown.terms.size() != 1 || !shown.terms[0].atom.is(Primitive::modulo)) return std::nullopt;
  const std::int64_t k = shown.terms[0].coefficient;
  if (k != 1 && k != -1) return std::nullopt;
  const Node& n = *shown.terms[0].atom;
  const std::int64_t remainder = -k * shown.constant;
  const std::int64_t modulus = n.args[1]->number.mantissa;
  if (remainder < 0 || remainder >= modulus || modulus > (1 << 20)) return std::nullopt;
  return Congruence{affine(n.args[0], known), modulus, remainder};
}

// [k < n where (a*k + r) % m = c] f(k)  =  [j < ceil(n/m)] f(m*j + w % m),  w = a^-1 * (c - r)
bool step_through_residue(System& system, Loop& loop, const Ranges& known) {
  for (const Fact& fact : comparisons(loop, known, Primitive::eq)) {
    const auto congruence = as_congruence(fact.comparison.difference, known);
    if (!congruence || congruence->dividend.has_reads()) continue;
    const std::int64_t m = congruence->modulus;
    for (const Candidate& c : candidates(loop, congruence->dividend)) {
      if (std::gcd(c.coefficient, m) != 1 || m < 2) continue;
      const Binder old = loop.binders[c.binder];
      const std::int64_t inverse = inverse_modulo(floor_remainder(c.coefficient, m), m);
      Affine wanted = inverse * (constant(congruence->remainder) - without(congruence->dividend, old));
      for (Term& t : wanted.terms) t.coefficient = floor_remainder(t.coefficient, m);
      wanted.constant = floor_remainder(wanted.constant, m);
      const Binder step = system.bind(old.name, (old.extent + m - 1) / m);
      const Expr value = integer(m) * variable(step) + apply(Primitive::modulo, {to_expr(wanted), integer(m)});
      erase_guard(loop, fact.guard);
      guard_first(loop, {apply(Primitive::lt, {variable(old), integer(old.extent)})});
      replace(loop, old.variable, value);
      loop.binders[c.binder] = step;
      return true;
    }
  }
  return false;
}

std::optional<Quotient> quotient_over_binders(const Loop& loop, const Affine& form) {
  for (const Term& t : form.terms) {
    const auto quotient = as_quotient(t.atom);
    if (!quotient) continue;
    for (const Binder& b : loop.binders) {
      if (mentions(t.atom, b.variable)) return quotient;
    }
  }
  return std::nullopt;
}

// [k < n where … (k + r) // m …] f(k)  =  [q, s < m where k in range] f(m*q + s - r)
bool split_quotient(System& system, Loop& loop, const Ranges& known) {
  for (const Fact& fact : comparisons(loop, known, Primitive::eq)) {
    const auto quotient = quotient_over_binders(loop, fact.comparison.difference);
    if (!quotient || fact.comparison.difference.has_reads()) continue;
    const Affine dividend = affine(quotient->dividend, known);
    const Interval range = interval(dividend, known);
    if (dividend.has_reads() || range.low <= -Interval::unbounded || range.high >= Interval::unbounded) continue;
    Candidate best;
    for (const Candidate& c : candidates(loop, dividend)) {
      if (c.coefficient != 1 && c.coefficient != -1) continue;
      if (best.coefficient == 0 || loop.binders[c.binder].extent > loop.binders[best.binder].extent) best = c;
    }
    if (best.coefficient == 0) continue;
    const std::int64_t m = quotient->divisor;
    const std::int64_t low = floor_quotient(range.low, m);
    const Binder old = loop.binders[best.binder];
    const Binder q = system.bind(old.name, floor_quotient(range.high, m) - low + 1);
    const Binder s = system.bind(old.name, m);
    Affine value = constant(m * low) - without(dividend, old);
    value.add(variable(q), m);
    value.add(variable(s), 1);
    value = best.coefficient * value;
    guard_first(loop, in_range(value, old.extent));
    replace(loop, old.variable, to_expr(value));
    loop.binders[best.binder] = q;
    loop.binders.insert(loop.binders.begin() + static_cast<std::ptrdiff_t>(best.binder) + 1, s);
    return true;
  }
  return false;
}

/// Whether a guard before `at` would see the solution before the conditions that make it legal.
bool seen_before(const Loop& loop, std::size_t at, VariableId variable) {
  return std::any_of(loop.guards.begin(), loop.guards.begin() + static_cast<std::ptrdiff_t>(at),
                     [&](const Expr& g) { return mentions(g, variable); });
}

/// Puts `value` in the place of a binder by the guard at `at`, which is replaced by the value's own conditions.
void solve_for(Loop& loop, std::size_t at, std::size_t binder, const Expr& value, std::vector<Expr> conditions,
               bool in_place) {
  const Binder old = loop.binders[binder];
  erase_guard(loop, at);
  const auto where = loop.guards.begin() + static_cast<std::ptrdiff_t>(in_place ? at : 0);
  loop.guards.insert(where, conditions.begin(), conditions.end());
  replace(loop, old.variable, value);
  erase_binder(loop, binder);
}

bool substitute_unit(Loop& loop, const Ranges& known, bool with_reads) {
  for (const Fact& fact : comparisons(loop, known, Primitive::eq)) {
    const Affine& form = fact.comparison.difference;
    if (form.has_reads() != with_reads) continue;
    Candidate best;
    for (const Candidate& c : candidates(loop, form)) {
      if (c.coefficient != 1 && c.coefficient != -1) continue;
      if (with_reads && seen_before(loop, fact.guard, loop.binders[c.binder].variable)) continue;
      if (best.coefficient == 0 || loop.binders[c.binder].extent > loop.binders[best.binder].extent) best = c;
    }
    if (best.coefficient == 0) continue;
    const Binder& old = loop.binders[best.binder];
    const Affine value = -best.coefficient * without(form, old);
    solve_for(loop, fact.guard, best.binder, to_expr(value), in_range(value, old.extent), with_reads);
    return true;
  }
  return false;
}

// [k < n where k = e] f(k)  =  [where 0 <= e < n] f(e)
bool substitute_index(System&, Loop& loop, const Ranges& known) { return substitute_unit(loop, known, false); }
bool substitute_gathered(System&, Loop& loop, const Ranges& known) { return substitute_unit(loop, known, true); }

// where e // m = x  =  where m*x <= e and e < m*x + m
bool quotient_to_range(System&, Loop& loop, const Ranges& known) {
  for (const Fact& fact : comparisons(loop, known, Primitive::eq)) {
    const Affine& form = fact.comparison.difference;
    if (form.has_reads() || as_congruence(form, known)) continue;
    for (const Term& t : form.terms) {
      const auto quotient = as_quotient(t.atom);
      if (!quotient || (t.coefficient != 1 && t.coefficient != -1)) continue;
      const bool binds = std::any_of(loop.binders.begin(), loop.binders.end(),
                                     [&](const Binder& b) { return mentions(t.atom, b.variable); });
      if (!binds) continue;
      Affine rest = form;
      rest.add(t.atom, -t.coefficient);
      const Affine wanted = (-t.coefficient * quotient->divisor) * rest;
      const Affine above = affine(quotient->dividend, known) - wanted;
      loop.guards[fact.guard] =
          compare(Primitive::ge, above) && compare(Primitive::ge, constant(quotient->divisor - 1) - above);
      return true;
    }
  }
  return false;
}

// [k < n where c*k = e] f(k)  =  [where e % c = 0 and 0 <= e <= c*(n - 1)] f(e // c)
bool divide_equality(System&, Loop& loop, const Ranges& known) {
  for (const Fact& fact : comparisons(loop, known, Primitive::eq)) {
    const Affine& form = fact.comparison.difference;
    if (form.has_reads() || as_congruence(form, known)) continue;
    Candidate best;
    for (const Candidate& c : candidates(loop, form)) {
      if (best.coefficient == 0 || std::abs(c.coefficient) < std::abs(best.coefficient)) best = c;
    }
    if (best.coefficient == 0) continue;
    const Binder& old = loop.binders[best.binder];
    const std::int64_t c = std::abs(best.coefficient);
    const Affine value = (best.coefficient > 0 ? -1 : 1) * without(form, old);
    const Expr dividend = to_expr(value);
    solve_for(loop, fact.guard, best.binder, apply(Primitive::floor_div, {dividend, integer(c)}),
              {apply(Primitive::eq, {apply(Primitive::modulo, {dividend, integer(c)}), integer(0)}),
               compare(Primitive::ge, value), compare(Primitive::ge, constant(c * (old.extent - 1)) - value)},
              false);
    return true;
  }
  return false;
}

/// A bound on a binder: `form ≥ 0` with the binder's coefficient in it; quotients cleared where they hide a binder.
std::vector<Affine> bounds(const Loop& loop, const Ranges& known) {
  std::vector<Affine> result;
  for (const Fact& fact : comparisons(loop, known, Primitive::ge)) {
    const Affine& form = fact.comparison.difference;
    result.push_back(form);
    for (const Term& t : form.terms) {
      const auto quotient = as_quotient(t.atom);
      if (!quotient || (t.coefficient != 1 && t.coefficient != -1)) continue;
      Affine rest = form;
      rest.add(t.atom, -t.coefficient);
      const Affine dividend = affine(quotient->dividend, known);
      const std::int64_t m = quotient->divisor;
      result.push_back(t.coefficient > 0 ? dividend + m * rest : m * rest + constant(m - 1) - dividend);
    }
  }
  for (const Binder& b : loop.binders) {
    Affine own;
    own.add(variable(b), 1);
    result.push_back(own);
    result.push_back(constant(b.extent - 1) - own);
  }
  return result;
}

/// The values between a lower and an upper bound of a binder: how many at most, and the first.
struct Window {
  std::size_t binder = 0;
  std::int64_t width = 0;
  Affine lower;  ///< a*k + r ≥ 0 with a > 0
};

std::optional<Window> window_between(const Loop& loop, std::size_t b, const Affine& lower, const Affine& upper,
                                     const Ranges& known) {
  const Binder& binder = loop.binders[b];
  const std::int64_t a = lower.coefficient_of(binder.variable);
  const std::int64_t c = -upper.coefficient_of(binder.variable);
  if (a <= 0 || c <= 0 || lower.hides(binder.variable) || upper.hides(binder.variable)) return std::nullopt;
  const Affine gap = a * without(upper, binder) + c * without(lower, binder);
  const std::int64_t most = interval_of_variables(gap, known).high;
  if (most < 0 || most >= Interval::unbounded) return std::nullopt;
  return Window{b, most / (a * c) + 1, lower};
}

std::optional<Window> narrowest(const Loop& loop, const Ranges& known) {
  std::optional<Window> best;
  double best_ratio = 1;
  const std::vector<Affine> all = bounds(loop, known);
  for (std::size_t b = 0; b < loop.binders.size(); ++b) {
    const VariableId v = loop.binders[b].variable;
    for (const Affine& lower : all) {
      if (lower.coefficient_of(v) <= 0 || lower.has_reads()) continue;
      for (const Affine& upper : all) {
        if (upper.coefficient_of(v) >= 0 || upper.has_reads()) continue;
        const auto window = window_between(loop, b, lower, upper, known);
        if (!window) continue;
        const double ratio = static_cast<double>(window->width) / static_cast<double>(loop.binders[b].extent);
        if (ratio < best_ratio) {
          best = window;
          best_ratio = ratio;
        }
      }
    }
  }
  return best;
}

// [k < n where l <= k and k < l + w] f(k)  =  [j < w where k in range and …] f(l + j)
bool narrow_to_window(System& system, Loop& loop, const Ranges& known) {
  const auto window = narrowest(loop, known);
  if (!window) return false;
  const Binder old = loop.binders[window->binder];
  const std::int64_t a = window->lower.coefficient_of(old.variable);
  const Affine rest = without(window->lower, old);
  const Expr first = apply(Primitive::floor_div, {to_expr(constant(a - 1) - rest), integer(a)});
  const Binder inner = system.bind(old.name, window->width);
  Affine value = affine(first, known);
  value.add(variable(inner), 1);
  guard_first(loop, in_range(value, old.extent));
  replace(loop, old.variable, to_expr(value));
  loop.binders[window->binder] = inner;
  return true;
}

constexpr LoopRule rules[] = {
    {"substitute_single", substitute_single},       {"step_through_residue", step_through_residue},
    {"split_quotient", split_quotient},             {"substitute_index", substitute_index},
    {"quotient_to_range", quotient_to_range},       {"divide_equality", divide_equality},
    {"narrow_to_window", narrow_to_window},         {"substitute_gathered", substitute_gathered},
};

}  // namespace

std::span<const LoopRule> loop_rules() { return rules; }

Expr compare(Primitive relation, const Affine& difference) {
  const Affine shown = with_remainders(difference);
  Affine left;
  Affine right;
  for (const Term& t : shown.terms) {
    if (t.coefficient > 0) left.add(t.atom, t.coefficient);
    if (t.coefficient < 0) right.add(t.atom, -t.coefficient);
  }
  const bool on_left = right.terms.empty() ? false : left.terms.empty() || shown.constant > 0;
  (on_left ? left : right).constant = on_left ? shown.constant : -shown.constant;
  if (relation == Primitive::ge) return apply(Primitive::le, {to_expr(right), to_expr(left)});
  return apply(relation, {to_expr(left), to_expr(right)});
}

}  // namespace etalon::spec
