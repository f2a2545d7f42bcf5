#include "spec/system/ranges.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace etalon::spec {

namespace {

constexpr std::int64_t far = Interval::unbounded;

/// The interval of a form; `facts` says whether the conditions may be used. Inside a form from which a condition was
/// subtracted they may not: conditions mention quotients of each other, and that would not end.
Interval bounded(const Affine& a, const Ranges& known, bool facts);

Interval bounded(const Expr& e, const Ranges& known, bool facts) { return bounded(affine(e, known), known, facts); }

Interval of_remainder(const Interval& whole, std::int64_t m) {
  const bool finite = whole.low > -far && whole.high < far;
  if (finite && floor_quotient(whole.low, m) == floor_quotient(whole.high, m)) {
    const std::int64_t shift = m * floor_quotient(whole.low, m);
    return {whole.low - shift, whole.high - shift};
  }
  return {0, m - 1};
}

/// The facts, or the ranges of variables and tensors alone.
Ranges inside(const Ranges& known, bool facts) {
  Ranges inner = known;
  if (!facts) {
    inner.nonnegative.clear();
    inner.truths.clear();
  }
  return inner;
}

/// The row-major positions among the values of binders.
Interval of_positions(const std::vector<Binder>& binders) {
  Interval count{1, 1};
  for (const Binder& b : binders) count = scaled(count, b.extent);
  return {0, count.high - 1};
}

Interval of_reduction(const Node& n, const Ranges& known, bool facts) {
  Ranges inner = inside(known, facts);
  inner.bind(n.binders);
  inner.assume(n.args[0]);
  const Interval beyond = n.args.size() > 2 ? bounded(n.args[2], known, facts) : Interval{far, -far};
  switch (n.reduction) {
    case Reduction::max:
    case Reduction::min: return hull(interval(n.args[1], inner), beyond);
    case Reduction::argmax:
    case Reduction::argmin: return hull(of_positions(n.binders), beyond);
    default: return {};
  }
}

/// `at(i)` is the interval of argument i.
Interval of_application(const Node& n, const auto& at) {
  switch (n.primitive) {
    case Primitive::floor_div: {
      const Interval d = at(1);
      return d.is_point() && d.low > 0 ? floor_quotient(at(0), d.low) : Interval{};
    }
    case Primitive::modulo: {
      const Interval d = at(1);
      if (d.is_point() && d.low > 0) return of_remainder(at(0), d.low);
      return d.low > 0 && d.high < far ? Interval{0, d.high - 1} : Interval{};
    }
    case Primitive::maximum: return {std::max(at(0).low, at(1).low), std::max(at(0).high, at(1).high)};
    case Primitive::minimum: return {std::min(at(0).low, at(1).low), std::min(at(0).high, at(1).high)};
    case Primitive::sign: {
      const Interval i = at(0);
      return {i.low > 0 ? 1 : i.low == 0 ? 0 : -1, i.high < 0 ? -1 : i.high == 0 ? 0 : 1};
    }
    case Primitive::abs: {
      const Interval i = at(0);
      if (i.low <= -far) return {};  // that of the least integer wraps to itself
      return {i.low > 0 ? i.low : 0, std::max(i.high, -i.low)};
    }
    case Primitive::to_integer: {
      const Kind kind = n.args[0].kind();
      return kind == Kind::boolean ? Interval{0, 1} : kind == Kind::integer ? at(0) : Interval{};
    }
    case Primitive::philox: return {0, (std::int64_t{1} << 32U) - 1};
    default: return {};
  }
}

Interval of_variable(VariableId id, const Ranges& known) {
  const auto found = known.variables.find(id);
  return found == known.variables.end() ? Interval{} : found->second;
}

Interval of_tensor(TensorId tensor, const Ranges& known) {
  const auto id = static_cast<std::size_t>(tensor);
  return known.tensors && id < known.tensors->size() ? (*known.tensors)[id] : Interval{};
}

/// Beyond ±far one end is known.
Interval of_number(std::int64_t v) {
  if (v >= far) return {far - 1, far};
  return v <= -far ? Interval{-far, 1 - far} : Interval{v, v};
}

/// What the conditions say of the expression by itself.
Interval narrowed(Interval i, const Expr& e, const Ranges& known) {
  for (const Affine& a : known.nonnegative) {
    if (a.terms.size() != 1 || !(a.terms[0].atom == e)) continue;
    const std::int64_t k = a.terms[0].coefficient;
    if (k > 0) i.low = std::max(i.low, -floor_quotient(a.constant, k));
    else i.high = std::min(i.high, floor_quotient(a.constant, -k));
  }
  return i;
}

Interval computed_anywhere(const Expr& e, const Ranges& known);

/// The interval of what the machine computes, whose integers wrap: beyond ±far nothing is known.
Interval computed(const Expr& e, const Ranges& known) {
  const Interval i = computed_anywhere(e, known);
  return i.low > -far && i.high < far ? i : narrowed(i, e, known);
}

/// The same without conditions on the expression as a whole.
Interval computed_anywhere(const Expr& e, const Ranges& known) {
  const auto at = [&](std::size_t i) { return computed(e->args[i], known); };
  const auto bounded_only = [](const Interval& i) { return i.low <= -far || i.high >= far ? Interval{} : i; };
  switch (e.form()) {
    case Form::number: return of_number(e->number.mantissa);
    case Form::variable: return of_variable(e->variable, known);
    case Form::read: return of_tensor(e->tensor, known);
    case Form::select: return hull(at(1), at(2));
    case Form::detach: return at(0);
    case Form::reduce: {
      const bool extremum = e->reduction == Reduction::max || e->reduction == Reduction::min;
      if (!extremum && e->reduction != Reduction::argmax && e->reduction != Reduction::argmin) return {};
      Ranges inner = inside(known, false);
      inner.bind(e->binders);
      const Interval value = extremum ? computed(e->args[1], inner) : of_positions(e->binders);
      return e->args.size() > 2 ? hull(value, at(2)) : value;
    }
    case Form::apply: break;
  }
  switch (e->primitive) {
    case Primitive::add: return bounded_only(plus(at(0), at(1)));
    case Primitive::sub: return bounded_only(plus(at(0), scaled(at(1), -1)));
    case Primitive::neg: return bounded_only(scaled(at(0), -1));
    case Primitive::mul: {
      const Interval a = at(0);
      const Interval b = at(1);
      if (a.low <= -far || a.high >= far || b.low <= -far || b.high >= far) return {};
      return bounded_only(hull(scaled(a, b.low), scaled(a, b.high)));
    }
    default: return of_application(*e, at);
  }
}

/// Whether the arithmetic of this node, of whatever its arguments are, stays within 64 bits.
bool is_exact(const Expr& e, const Ranges& known) {
  const Interval i = computed_anywhere(e, known);
  return i.low > -far && i.high < far;
}

Interval of_atom(const Expr& atom, const Ranges& known, bool facts) {
  switch (atom.form()) {
    case Form::variable: return of_variable(atom->variable, known);
    case Form::read: return of_tensor(atom->tensor, known);
    case Form::apply: return of_application(*atom, [&](std::size_t i) { return bounded(atom->args[i], known, facts); });
    case Form::select: {
      Ranges then = inside(known, facts);
      Ranges otherwise = then;
      then.assume(atom->args[0]);
      otherwise.assume_not(atom->args[0]);
      return hull(interval(atom->args[1], then), interval(atom->args[2], otherwise));
    }
    case Form::reduce: return of_reduction(*atom, known, facts);
    case Form::detach: return bounded(atom->args[0], known, facts);
    case Form::number: return of_number(atom->number.mantissa);
  }
  return {};
}

Interval by_atoms(const Affine& a, const Ranges& known, bool facts) {
  const auto total = [&](const Affine& form) {
    Interval sum{form.constant, form.constant};
    for (const Term& t : form.terms) sum = plus(sum, scaled(of_atom(t.atom, known, facts), t.coefficient));
    return sum;
  };
  const Interval plain = total(a);
  const bool quotients = std::any_of(a.terms.begin(), a.terms.end(), [](const Term& t) {
    return t.atom.is(Primitive::floor_div);
  });
  return quotients ? common(plain, total(with_remainders(a, known))) : plain;
}

constexpr int steps = 2;

bool is_arithmetic(const Expr& e) {
  return e.is(Primitive::add) || e.is(Primitive::sub) || e.is(Primitive::neg) || e.is(Primitive::mul);
}

/// What a quotient means: 0 ≤ e - m*(e // m) ≤ m - 1.
void add_meaning(std::vector<Affine>& facts, const Expr& atom, const Ranges& known) {
  const auto quotient = as_quotient(atom);
  if (!quotient) return;
  const auto add = [&](Affine remainder) {
    remainder.add(atom, -quotient->divisor);
    facts.push_back(remainder);
    facts.push_back(constant(quotient->divisor - 1) - remainder);
  };
  // With its terms written out where it stays within 64 bits; and as a whole, as it stands in forms where it may not.
  add(affine(quotient->dividend, known));
  Affine whole;
  whole.add(quotient->dividend, 1);
  if (is_arithmetic(quotient->dividend)) add(whole);
}

/// The largest coefficient of a form.
std::int64_t magnitude(const Affine& a) {
  const auto absolute = [](std::int64_t v) { return v == std::numeric_limits<std::int64_t>::min() ? far * 2 : std::abs(v); };
  std::int64_t largest = absolute(a.constant);
  for (const Term& t : a.terms) largest = std::max(largest, absolute(t.coefficient));
  return largest;
}

/// The greatest lower bound found by subtracting multiples of up to `depth` known non-negative forms: from
/// s*a - k*fact ≥ l follows a ≥ ceil(l / s). At most `budget` forms are tried.
std::int64_t lower_bound(const Affine& a, const Ranges& known, int& budget, int depth = steps) {
  std::int64_t best = by_atoms(a, known, depth == steps).low;
  if (depth == 0 || --budget < 0) return best;
  std::vector<Affine> meanings;
  for (const Term& t : a.terms) add_meaning(meanings, t.atom, known);
  constexpr std::int64_t large = std::int64_t{1} << 50;
  const auto try_fact = [&](const Affine& fact) {
    if (std::max(magnitude(a), magnitude(fact)) > large) return;
    std::vector<std::pair<std::int64_t, std::int64_t>> tried;
    for (const Term& t : fact.terms) {
      const std::int64_t own = a.coefficient_of(t.atom);
      if (own == 0 || (own > 0) != (t.coefficient > 0)) continue;
      const std::int64_t g = std::gcd(own, t.coefficient);
      const std::pair factors{std::abs(t.coefficient / g), std::abs(own / g)};
      if (factors.first > large / (1 + magnitude(a)) || factors.second > large / (1 + magnitude(fact))) continue;
      if (std::find(tried.begin(), tried.end(), factors) != tried.end()) continue;
      tried.push_back(factors);
      const std::int64_t low = lower_bound(factors.first * a - factors.second * fact, known, budget, depth - 1);
      if (low > -far) best = std::max(best, -floor_quotient(-low, factors.first));
    }
  };
  for (const Affine& fact : known.nonnegative) try_fact(fact);
  for (const Affine& fact : meanings) try_fact(fact);
  return best;
}

Interval bounded(const Affine& a, const Ranges& known, bool facts) {
  if (a.is_constant()) return {a.constant, a.constant};
  if (!facts) return by_atoms(a, known, false);
  constexpr int enough = 60;
  int below = enough;
  int above = enough;
  return {lower_bound(a, known, below), -lower_bound(-1 * a, known, above)};
}

/// The largest coefficient that a form is made with: a few sums and differences of such stay within 64 bits.
constexpr std::int64_t largest = std::int64_t{1} << 58;

Affine quotient_form(const Affine& dividend, std::int64_t m, const Ranges& known) {
  Affine whole = constant(floor_quotient(dividend.constant, m));
  Affine rest = constant(floor_remainder(dividend.constant, m));
  std::int64_t g = m;
  for (const Term& t : dividend.terms) {
    if (t.coefficient % m == 0) {
      whole.add(t.atom, t.coefficient / m);
    } else {
      rest.add(t.atom, t.coefficient);
      g = std::gcd(g, t.coefficient);
    }
  }
  if (g > 1) {
    rest.constant = floor_quotient(rest.constant, g);
    for (Term& t : rest.terms) t.coefficient /= g;
    m /= g;
  }
  const Interval i = bounded(rest, known, false);  // forms must not depend on conditions, or equal indices would differ
  if (i.low > -far && i.high < far && floor_quotient(i.low, m) == floor_quotient(i.high, m)) {
    return whole + constant(floor_quotient(i.low, m));
  }
  if (rest.terms.size() == 1 && rest.terms[0].coefficient == 1) {
    const auto inner = as_quotient(rest.terms[0].atom);
    if (inner && inner->divisor <= largest / m) {
      const Affine joined = affine(inner->dividend, known) + constant(inner->divisor * rest.constant);
      return whole + quotient_form(joined, m * inner->divisor, known);
    }
  }
  // floor(e / m) = -floor((m - 1 - e) / m): of the two the one whose first term is positive.
  sort_terms(rest);
  if (rest.terms.front().coefficient > 0) {
    whole.add(apply(Primitive::floor_div, {to_expr(rest), integer(m)}), 1);
    return whole;
  }
  Affine opposite = constant(m - 1) - rest;
  const std::int64_t shift = floor_quotient(opposite.constant, m);
  opposite.constant -= m * shift;
  sort_terms(opposite);
  whole.add(apply(Primitive::floor_div, {to_expr(opposite), integer(m)}), -1);
  return whole - constant(shift);
}

std::optional<std::int64_t> positive_constant(const Expr& e) {
  const bool number = e.form() == Form::number && e->number.mantissa > 0 && e->number.mantissa < (1LL << 31);
  return number ? std::optional(e->number.mantissa) : std::nullopt;
}

/// Small enough that products of a few of them stay integers of 64 bits.
bool is_small(const Affine& a) { return a.is_constant() && std::abs(a.constant) < (1LL << 31); }

Affine normal_form(const Expr& e, const Ranges& known, bool exact);

/// The form of a primitive, or nothing where it is opaque.
std::optional<Affine> form_of_application(const Node& n, const Ranges& known, bool exact) {
  const auto at = [&](std::size_t i) { return normal_form(n.args[i], known, exact); };
  switch (n.primitive) {
    case Primitive::add: return at(0) + at(1);
    case Primitive::sub: return at(0) - at(1);
    case Primitive::neg: return -1 * at(0);
    case Primitive::mul: {
      const Affine a = at(0);
      const Affine b = at(1);
      const auto times = [](const Affine& factor, const Affine& form) -> std::optional<Affine> {
        if (factor.constant != 0 && magnitude(form) > largest / std::abs(factor.constant)) return std::nullopt;
        return factor.constant * form;
      };
      if (is_small(a) && (is_small(b) || !b.is_constant())) return times(a, b);
      if (is_small(b)) return times(b, a);
      return std::nullopt;
    }
    case Primitive::floor_div:
      if (const auto m = positive_constant(n.args[1])) return quotient_form(at(0), *m, known);
      return std::nullopt;
    case Primitive::modulo:
      if (const auto m = positive_constant(n.args[1])) {
        const Affine dividend = at(0);
        return dividend - *m * quotient_form(dividend, *m, known);
      }
      return std::nullopt;
    default: return std::nullopt;
  }
}

/// \param exact nothing in `e` leaves 64 bits, whatever the ranges
Affine normal_form(const Expr& e, const Ranges& known, bool exact) {
  if (e.form() == Form::number && std::abs(e->number.mantissa / 2) <= largest / 2) return constant(e->number.mantissa);
  if (e.form() == Form::variable) {
    const Interval i = of_variable(e->variable, known);
    if (i.is_point()) return constant(i.low);
  }
  if (e.form() == Form::apply && (exact || !is_arithmetic(e) || is_exact(e, known))) {
    const auto form = form_of_application(*e, known, exact);
    if (form && magnitude(*form) <= largest) return *form;
  }
  if (e.form() == Form::select) {
    const auto decided = decide(e->args[0], known);
    if (decided) return normal_form(e->args[*decided ? 1 : 2], known, exact);
  }
  Affine opaque;
  opaque.add(e, 1);
  return opaque;
}

}  // namespace

Affine affine(const Expr& e, const Ranges& known) { return normal_form(e, known, false); }

Affine exact_affine(const Expr& e) { return normal_form(e, Ranges{}, true); }

Interval interval_of_variables(const Affine& a, const Ranges& known) { return bounded(a, known, false); }

Interval interval(const Affine& a, const Ranges& known) { return bounded(a, known, true); }

Interval interval(const Expr& e, const Ranges& known) {
  const Interval by_form = interval(affine(e, known), known);
  return by_form.low > -far && by_form.high < far ? by_form : common(by_form, narrowed({}, e, known));
}

}  // namespace etalon::spec
