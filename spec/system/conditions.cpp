#include <algorithm>
#include <numeric>

#include "spec/system/ranges.hpp"

namespace etalon::spec {

void Ranges::bind(const std::vector<Binder>& binders) {
  for (const Binder& b : binders) variables[b.variable] = {0, b.extent - 1};
}

void Ranges::assume_nonnegative(const Affine& a) {
  if (a.is_constant()) {
    contradictory = contradictory || a.constant < 0;
    return;
  }
  if (a.terms.size() == 1 && a.terms[0].atom.form() == Form::variable) {
    Interval& i = variables[a.terms[0].atom->variable];
    const std::int64_t k = a.terms[0].coefficient;
    if (k > 0) i.low = std::max(i.low, -floor_quotient(a.constant, k));
    if (k < 0) i.high = std::min(i.high, floor_quotient(a.constant, -k));
    contradictory = contradictory || i.low > i.high;
    return;
  }
  nonnegative.push_back(a);
}

void Ranges::assume(const Expr& condition) {
  if (condition.is(Primitive::logical_and)) {
    assume(condition->args[0]);
    assume(condition->args[1]);
    return;
  }
  if (condition.is(Primitive::logical_not)) {
    assume_not(condition->args[0]);
    return;
  }
  if (condition.form() == Form::number) return;
  truths.push_back(condition);
  const auto comparison = as_comparison(condition, *this);
  if (!comparison || comparison->relation == Primitive::ne) return;
  assume_nonnegative(comparison->difference);
  if (comparison->relation == Primitive::eq) assume_nonnegative(-1 * comparison->difference);
}

void Ranges::assume_not(const Expr& condition) {
  if (condition.is(Primitive::logical_not)) return assume(condition->args[0]);
  if (condition.is(Primitive::logical_or)) {
    assume_not(condition->args[0]);
    assume_not(condition->args[1]);
    return;
  }
  if (condition.form() == Form::number) return;
  truths.push_back(apply(Primitive::logical_not, {condition}));
  const auto comparison = as_comparison(condition, *this);
  if (!comparison) return;
  if (comparison->relation == Primitive::ge) assume_nonnegative(-1 * comparison->difference - constant(1));
  if (comparison->relation == Primitive::ne) {
    assume_nonnegative(comparison->difference);
    assume_nonnegative(-1 * comparison->difference);
  }
}

namespace {

/// g*e + c ≥ 0 for integers as e + floor(c / g) ≥ 0.
Affine lowest_terms(Affine a) {
  std::int64_t g = 0;
  for (const Term& t : a.terms) g = std::gcd(g, t.coefficient);
  if (g <= 1) return a;
  a.constant = floor_quotient(a.constant, g);
  for (Term& t : a.terms) t.coefficient /= g;
  return a;
}

}  // namespace

std::optional<Comparison> as_comparison(const Expr& condition, const Ranges& known) {
  if (condition.form() != Form::apply || condition->args.size() != 2) return std::nullopt;
  if (condition->args[0].kind() != Kind::integer) return std::nullopt;
  const auto difference = [&] { return affine(condition->args[0], known) - affine(condition->args[1], known); };
  const auto at_least = [](const Affine& a) { return Comparison{Primitive::ge, lowest_terms(a)}; };
  switch (condition->primitive) {
    case Primitive::eq: return Comparison{Primitive::eq, difference()};
    case Primitive::ne: return Comparison{Primitive::ne, difference()};
    case Primitive::ge: return at_least(difference());
    case Primitive::gt: return at_least(difference() - constant(1));
    case Primitive::le: return at_least(-1 * difference());
    case Primitive::lt: return at_least(-1 * difference() - constant(1));
    default: return std::nullopt;
  }
}

namespace {

std::optional<bool> decide_comparison(const Comparison& c, const Ranges& known) {
  const Interval i = interval(c.difference, known);
  if (c.relation == Primitive::ge) {
    if (i.low >= 0) return true;
    if (i.high < 0) return false;
    return std::nullopt;
  }
  std::int64_t g = 0;
  for (const Term& t : c.difference.terms) g = std::gcd(g, t.coefficient);
  const bool never = i.low > 0 || i.high < 0 || (g > 1 && c.difference.constant % g != 0);
  if (never) return c.relation == Primitive::ne;
  if (i.low == 0 && i.high == 0) return c.relation == Primitive::eq;
  return std::nullopt;
}

std::optional<bool> decide_by_memory(const Expr& condition, const Ranges& known) {
  for (const Expr& t : known.truths) {
    if (t == condition) return true;
    if (t.is(Primitive::logical_not) && t->args[0] == condition) return false;
  }
  return std::nullopt;
}

}  // namespace

std::optional<bool> decide(const Expr& condition, const Ranges& known) {
  if (condition.form() == Form::number) return condition->number.mantissa != 0;
  if (condition.is(Primitive::logical_not)) {
    const auto inner = decide(condition->args[0], known);
    return inner ? std::optional(!*inner) : decide_by_memory(condition, known);
  }
  const bool both = condition.is(Primitive::logical_and);
  if (both || condition.is(Primitive::logical_or)) {
    const auto left = decide(condition->args[0], known);
    const auto right = decide(condition->args[1], known);
    if (left && *left != both) return !both;
    if (right && *right != both) return !both;
    if (left && right) return both;
    return decide_by_memory(condition, known);
  }
  const auto comparison = as_comparison(condition, known);
  const auto decided = comparison ? decide_comparison(*comparison, known) : std::nullopt;
  return decided ? decided : decide_by_memory(condition, known);
}

std::vector<Expr> conjuncts(const Expr& condition) {
  if (condition.is(Primitive::logical_and)) {
    std::vector<Expr> all = conjuncts(condition->args[0]);
    for (const Expr& c : conjuncts(condition->args[1])) all.push_back(c);
    return all;
  }
  if (condition.form() == Form::number && condition->number.mantissa != 0) return {};
  return {condition};
}

}  // namespace etalon::spec
