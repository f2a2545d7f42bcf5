/// \file
/// The normal form of index expressions: an integer combination of atoms. Remainders are written with quotients,
/// `e % m = e - m*(e // m)`, so that equal indices have equal forms. A form is a number of the integers, which do not wrap:
/// `affine` of ranges.hpp makes none of what may leave 64 bits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "spec/system/expr.hpp"

namespace etalon::spec {

/// coefficient · atom; an atom is a variable, a quotient by a positive constant, or anything opaque.
struct Term {
  Expr atom;
  std::int64_t coefficient = 0;
};

/// constant + Σ terms, each atom once, no zero coefficient.
struct Affine {
  std::vector<Term> terms;
  std::int64_t constant = 0;

  void add(const Expr& atom, std::int64_t coefficient);
  [[nodiscard]] std::int64_t coefficient_of(const Expr& atom) const;
  [[nodiscard]] std::int64_t coefficient_of(VariableId variable) const;
  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  /// Whether the variable occurs inside an atom other than itself.
  [[nodiscard]] bool hides(VariableId variable) const;
  [[nodiscard]] bool has_reads() const;
};

/// \throws SpecViolation where a coefficient leaves 64 bits
[[nodiscard]] Affine operator+(const Affine& a, const Affine& b);
[[nodiscard]] Affine operator-(const Affine& a, const Affine& b);
[[nodiscard]] Affine operator*(std::int64_t k, const Affine& a);
[[nodiscard]] Affine constant(std::int64_t value);

/// floor(a / b) for b > 0, and the remainder in [0, b).
[[nodiscard]] std::int64_t floor_quotient(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t floor_remainder(std::int64_t a, std::int64_t b);

/// `e // m` taken apart; nothing if the atom is not a quotient by a positive constant.
struct Quotient {
  Expr dividend;
  std::int64_t divisor = 1;
};
[[nodiscard]] std::optional<Quotient> as_quotient(const Expr& atom);

struct Ranges;

/// The form with each whole group `c*e - c*m*(e // m)` collected into the opaque atom `e % m`: what is printed.
[[nodiscard]] Affine with_remainders(const Affine& a);
/// The same where `e` may leave 64 bits unless these facts say that it does not: what intervals are read off.
[[nodiscard]] Affine with_remainders(const Affine& a, const Ranges& known);

/// Puts the terms into an order that depends on the atoms only, so that equal forms give equal expressions.
void sort_terms(Affine& a);

/// The expression of the form, remainders collected, positive terms first.
[[nodiscard]] Expr to_expr(const Affine& a);

}  // namespace etalon::spec
