/// \file
/// What is known of a number besides where it lies, so that equal numbers are found equal: the number itself while it
/// is rational and short, and else its image in a finite field. It knows no intervals.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "spec/scalar.hpp"
#include "spec/system/number.hpp"

namespace etalon::reference {

/// sign · digits · 2^exponent, digits of 64 bits each, the lowest first; zero has none.
struct Dyadic {
  std::vector<std::uint64_t> digits;
  std::int64_t exponent = 0;
  bool negative = false;
};

struct ShortRational;

/// A rational number is carried exactly. Any other is a rational function of values of functions, such as exp(1/3),
/// each of which has as its image a pseudo-random element of the field of 2^127 - c elements that the function and its
/// operand's image determine: equal rational functions have equal images always, and unequal ones of degree d by
/// chance d / 2^127 (Schwartz, Zippel). The degree is carried, and an image that says equal with a greater chance than
/// 2^-64 to be wrong says nothing. Relations between functions, such as sqrt(a)^2 = a, are not seen.
class Mark {
 public:
  /// Nothing is known.
  Mark() = default;
  [[nodiscard]] static Mark of(const Dyadic& value);
  [[nodiscard]] static Mark of_decimal(const spec::Number& decimal);
  /// The value of a function at numbers with these marks.
  [[nodiscard]] static Mark function(spec::Primitive p);
  [[nodiscard]] static Mark function(spec::Primitive p, const Mark& a);
  [[nodiscard]] static Mark function(spec::Primitive p, const Mark& a, const Mark& b);
  [[nodiscard]] static Mark sum(const Mark& a, const Mark& b);
  [[nodiscard]] static Mark product(const Mark& a, const Mark& b);
  [[nodiscard]] static Mark quotient(const Mark& a, const Mark& b);
  [[nodiscard]] Mark negated() const;

  /// The number is zero; false also where that is not known.
  [[nodiscard]] bool is_zero() const;
  [[nodiscard]] bool same(const Mark& other) const { return sum(*this, other.negated()).is_zero(); }

 private:
  __extension__ typedef unsigned __int128 Residue;

  struct Field;
  [[nodiscard]] static Mark of_rational(ShortRational&& value);
  [[nodiscard]] bool known() const { return denominator_ != 0; }
  [[nodiscard]] Residue image() const;
  [[nodiscard]] static Mark pseudo_random(spec::Primitive p, Residue image, double degree);

  std::shared_ptr<const ShortRational> exact_;  ///< while rational and short
  Residue numerator_ = 0;
  Residue denominator_ = 0;
  double degree_ = 0;
};

}  // namespace etalon::reference
