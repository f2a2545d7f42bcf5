#include "spec/system/affine.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "spec/error.hpp"
#include "spec/system/ranges.hpp"

namespace etalon::spec {

namespace {

[[noreturn]] void too_large() { throw SpecViolation("index arithmetic: a coefficient leaves 64 bits"); }

std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) too_large();
  return result;
}

std::int64_t product_of(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) too_large();
  return result;
}

Expr scaled(const Term& t, std::int64_t by) {
  const std::int64_t k = product_of(t.coefficient, by);
  return k == 1 ? t.atom : integer(k) * t.atom;
}

/// The multiple of the dividend's terms that `a` holds whole, when the quotient's coefficient asks for it.
bool holds_group(const Affine& a, const Affine& dividend, std::int64_t multiple) {
  return !dividend.terms.empty() && std::all_of(dividend.terms.begin(), dividend.terms.end(), [&](const Term& t) {
    std::int64_t wanted = 0;
    return !__builtin_mul_overflow(multiple, t.coefficient, &wanted) && a.coefficient_of(t.atom) == wanted;
  });
}

}  // namespace

void Affine::add(const Expr& atom, std::int64_t coefficient) {
  if (coefficient == 0) return;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!(terms[i].atom == atom)) continue;
    terms[i].coefficient = sum_of(terms[i].coefficient, coefficient);
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
  sum.constant = sum_of(sum.constant, b.constant);
  for (const Term& t : b.terms) sum.add(t.atom, t.coefficient);
  return sum;
}

Affine operator-(const Affine& a, const Affine& b) { return a + (-1) * b; }

Affine operator*(std::int64_t k, const Affine& a) {
  if (k == 0) return {};
  Affine product = a;
  product.constant = product_of(product.constant, k);
  for (Term& t : product.terms) t.coefficient = product_of(t.coefficient, k);
  return product;
}

Affine constant(std::int64_t value) { return {{}, value}; }

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  const std::int64_t r = a % b;  // has the sign of a, and nothing leaves 64 bits
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

std::optional<Quotient> as_quotient(const Expr& atom) {
  if (!atom.is(Primitive::floor_div)) return std::nullopt;
  const Expr& divisor = atom->args[1];
  if (divisor.form() != Form::number || divisor->number.mantissa <= 0) return std::nullopt;
  return Quotient{atom->args[0], divisor->number.mantissa};
}

namespace {

/// `e // d` as a form, where `e // 1` is `e`.
Affine divided(const Expr& dividend, std::int64_t divisor, const Ranges* known) {
  const Expr e = divisor == 1 ? dividend : apply(Primitive::floor_div, {dividend, integer(divisor)});
  return known != nullptr ? affine(e, *known) : exact_affine(e);
}

/// The common divisors of two numbers, largest first: all that there are below 2²⁴, above it those within 2¹² of either
/// end. What is missed there is a simplification.
std::vector<std::int64_t> common_divisors(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::int64_t{1} << 12;
  const std::int64_t g = std::gcd(a, b);
  std::vector<std::int64_t> divisors;
  std::vector<std::int64_t> small;
  for (std::int64_t d = 1; d <= most && d <= g / d; ++d) {
    if (g % d != 0) continue;
    divisors.push_back(g / d);
    if (d != g / d) small.push_back(d);
  }
  divisors.insert(divisors.end(), small.rbegin(), small.rend());
  return divisors;
}

/// The forms that `e // d` may have in a sum: with its terms written out, and as it stands where they may leave 64 bits.
std::vector<Affine> ways_to_divide(const Expr& dividend, std::int64_t divisor, const Ranges* known) {
  Affine written_out = divided(dividend, divisor, known);
  if (divisor != 1) return {std::move(written_out)};
  Affine whole;
  whole.add(dividend, 1);
  return {std::move(written_out), std::move(whole)};
}

/// Collects one `c*f - c*r*(e // m)` with `f = e // (m / r)` into `c*(f % r)`, if `a` holds such a group.
bool collect(Affine& a, const Expr& atom, const Ranges* known) {
  const auto quotient = as_quotient(atom);
  const std::int64_t k = a.coefficient_of(atom);
  if (!quotient || k == 0) return false;
  const std::int64_t m = quotient->divisor;
  for (const std::int64_t r : common_divisors(m, k)) {
    if (r == 1) break;
    const std::int64_t multiple = -k / r;
    for (const Affine& whole : ways_to_divide(quotient->dividend, m / r, known)) {
      if (!holds_group(a, whole, multiple)) continue;
      a = a - multiple * whole;
      a.add(atom, -k);
      a.add(apply(Primitive::modulo, {to_expr(whole), integer(r)}), multiple);
      return true;
    }
  }
  return false;
}

Affine collected(const Affine& a, const Ranges* known) {
  Affine result = a;
  for (const Term& t : a.terms) collect(result, t.atom, known);
  return result;
}

}  // namespace

Affine with_remainders(const Affine& a) { return collected(a, nullptr); }

Affine with_remainders(const Affine& a, const Ranges& known) { return collected(a, &known); }

void sort_terms(Affine& a) {
  const auto rank = [](const Term& t) {
    const bool variable = t.atom.form() == Form::variable;
    return std::pair(variable ? 0 : 1, variable ? static_cast<std::size_t>(t.atom->variable) : t.atom.hash());
  };
  std::sort(a.terms.begin(), a.terms.end(), [&](const Term& x, const Term& y) { return rank(x) < rank(y); });
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
    sum = sum.valid() ? sum - scaled(t, -1) : -scaled(t, -1);
  }
  if (shown.constant < 0 && !shown.terms.empty()) sum = sum - integer(-shown.constant);
  return sum;
}

}  // namespace etalon::spec
