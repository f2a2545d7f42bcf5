/// \file
/// The constants of expressions. A decimal is held exactly, however many digits it has. It knows no arithmetic: who
/// computes with a constant rounds its text once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace etalon::spec {

/// A constant. Decimal constants are exact: mantissa · 10^exponent; a `binary` constant is a binary64 given from
/// outside (an attribute) and is exactly that binary64, which may be infinite or NaN.
struct Number {
  std::int64_t mantissa = 0;
  std::int32_t exponent = 0;
  bool is_binary = false;
  double binary = 0;
  /// The further digits of a mantissa that 64 bits do not hold; they stand behind those of `mantissa`, which is then not
  /// small, and `exponent` is that of the last of them.
  std::string rest = {};

  friend bool operator==(const Number& a, const Number& b);

  /// Whether it is that number and no other: of the binary zeros the positive one is 0.
  [[nodiscard]] bool is(std::int64_t value) const;
};

/// The decimal that a text states: digits, perhaps with a point, perhaps with an exponent after `e`. Equal numbers that
/// are written with a point or none, or with zeros behind it, are equal constants.
[[nodiscard]] Number decimal_number(std::string_view text);

/// All digits of a decimal's mantissa, a sign before them where it is negative: the number is digits · 10^exponent.
[[nodiscard]] std::string digits_of(const Number& decimal);

/// The decimal as `strtod` and the like read it: they round it once.
[[nodiscard]] std::string exponential_text(const Number& decimal);

/// The negative of a constant; nothing for zero, whose negative no decimal is, and for the least integer.
[[nodiscard]] std::optional<Number> negated(const Number& number);

}  // namespace etalon::spec
