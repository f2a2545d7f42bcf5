#include "spec/system/affine.hpp"

#include <algorithm>

#include "spec/system/ranges.hpp"

namespace etalon::spec {

namespace {

Expr scaled(const Term& t, std::int64_t by) {
  const std::int64_t k = t.coefficient * by;
  return k == 1 ? t.atom : integer(k) * t.atom;
}

/// The multiple of the dividend's terms that `a` holds whole, when the quotient's coefficient asks for it.
bool holds_group(const Affine& a, const Affine& dividend, std::int64_t multiple) {
  return !dividend.terms.empty() && std::all_of(dividend.terms.begin(), dividend.terms.end(), [&](const Term& t) {
    return a.coefficient_of(t.atom) == multiple * t.coefficient;
  });
}

}  // namespace

void Affine::add(const Expr& atom, std::int64_t coefficient) {
  if (coefficient == 0) return;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!(terms[i].atom == atom)) continue;
    terms[i].coefficient += coefficient;
    if (terms[i].coefficient == 0) terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
  terms.push_back({atom, coefficient});
}

std::int64_t Affine::coefficient_of(const Expr& atom) const {
  for (const Term& t : terms) {
    if (t.atom == atom) return t.coefficient;
  }
  return 0;
}

std::int64_t Affine::coefficient_of(VariableId variable) const {
  for (const Term& t : terms) {
    if (t.atom.form() == Form::variable && t.atom->variable == variable) return t.coefficient;
  }
  return 0;
}

bool Affine::hides(VariableId variable) const {
  bool found = false;
  for (const Term& t : terms) {
    if (t.atom.form() == Form::variable) continue;
    for_each(t.atom, [&](const Expr& e) { found = found || (e.form() == Form::variable && e->variable == variable); });
  }
  return found;
}

bool Affine::has_reads() const {
  bool found = false;
  for (const Term& t : terms) {
    for_each(t.atom, [&](const Expr& e) { found = found || e.form() == Form::read; });
  }
  return found;
}

Affine operator+(const Affine& a, const Affine& b) {
  Affine sum = a;
  sum.constant += b.constant;
  for (const Term& t : b.terms) sum.add(t.atom, t.coefficient);
  return sum;
}

Affine operator-(const Affine& a, const Affine& b) { return a + (-1) * b; }

Affine operator*(std::int64_t k, const Affine& a) {
  if (k == 0) return {};
  Affine product = a;
  product.constant *= k;
  for (Term& t : product.terms) t.coefficient *= k;
  return product;
}

Affine constant(std::int64_t value) { return {{}, value}; }

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

std::int64_t floor_remainder(std::int64_t a, std::int64_t b) { return a - b * floor_quotient(a, b); }

std::optional<Quotient> as_quotient(const Expr& atom) {
  if (!atom.is(Primitive::floor_div)) return std::nullopt;
  const Expr& divisor = atom->args[1];
  if (divisor.form() != Form::number || divisor->number.mantissa <= 0) return std::nullopt;
  return Quotient{atom->args[0], divisor->number.mantissa};
}

Affine with_remainders(const Affine& a) {
  Affine result = a;
  for (const Term& t : a.terms) {
    const auto quotient = as_quotient(t.atom);
    const std::int64_t current = result.coefficient_of(t.atom);
    if (!quotient || current == 0 || current % quotient->divisor != 0) continue;
    const std::int64_t multiple = -current / quotient->divisor;
    const Affine dividend = affine(quotient->dividend, Ranges{});
    if (!holds_group(result, dividend, multiple)) continue;
    result = result - multiple * dividend;
    result.add(t.atom, -current);
    result.add(apply(Primitive::modulo, {quotient->dividend, integer(quotient->divisor)}), multiple);
  }
  return result;
}

Expr to_expr(const Affine& a) {
  const Affine shown = with_remainders(a);
  Expr sum;
  for (const Term& t : shown.terms) {
    if (t.coefficient > 0) sum = sum.valid() ? sum + scaled(t, 1) : scaled(t, 1);
  }
  if (!sum.valid() && (shown.constant > 0 || shown.terms.empty())) sum = integer(shown.constant);
  else if (sum.valid() && shown.constant > 0) sum = sum + integer(shown.constant);
  for (const Term& t : shown.terms) {
    if (t.coefficient >= 0) continue;
    sum = sum.valid() ? sum - scaled(t, -1) : integer(t.coefficient) * t.atom;
  }
  if (shown.constant < 0 && !shown.terms.empty()) sum = sum - integer(-shown.constant);
  return sum;
}

}  // namespace etalon::spec
