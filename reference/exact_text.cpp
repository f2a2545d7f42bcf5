#include "reference/exact_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "reference/evaluate.hpp"
#include "reference/exact/precisions.hpp"
#include "reference/host.hpp"
#include "reference/number.hpp"
#include "spec/error.hpp"

namespace etalon::reference {
namespace {

using boost::multiprecision::cpp_int;

/// Beyond this many bits before or behind the point a number is not written out.
constexpr std::int64_t most_bits = 100'000;

[[nodiscard]] cpp_int ten_to(std::int64_t power) {
  return boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(power));
}

/// To the nearest integer, ties to even.
[[nodiscard]] cpp_int rounded_quotient(const cpp_int& above, const cpp_int& below) {
  cpp_int quotient, rest;
  divide_qr(above, below, quotient, rest);
  const int side = cpp_int(2 * rest).compare(below);
  if (side > 0 || (side == 0 && bit_test(quotient, 0))) ++quotient;
  return quotient;
}

/// `1.25…e-3`.
[[nodiscard]] std::string decimal(const Dyadic& number) {
  cpp_int digits = 0;
  for (std::size_t i = number.digits.size(); i-- > 0;) digits = (digits << 64) + number.digits[i];
  if (digits == 0) return number.negative ? "-0" : "0";
  const std::int64_t exponent = number.exponent, top = exponent + static_cast<std::int64_t>(msb(digits));
  if (std::abs(exponent) > most_bits || std::abs(top) > most_bits)
    throw Unsupported(fmt::format("exact: a number of magnitude 2^{} is not written out", top));
  const cpp_int above = exponent > 0 ? cpp_int(digits << static_cast<unsigned>(exponent)) : digits;
  const cpp_int below = exponent < 0 ? cpp_int(cpp_int(1) << static_cast<unsigned>(-exponent)) : cpp_int(1);
  auto power = static_cast<std::int64_t>(std::floor(static_cast<double>(top) * std::log10(2.0)));
  cpp_int whole;
  // The first guess of the power of ten is at most one too small.
  for (;; ++power) {
    const std::int64_t shift = exact_digits - 1 - power;
    whole =
        shift >= 0 ? rounded_quotient(above * ten_to(shift), below) : rounded_quotient(above, below * ten_to(-shift));
    if (whole < ten_to(exact_digits)) break;
  }
  const std::string text = whole.str();
  return fmt::format("{}{}.{}e{}", number.negative ? "-" : "", text[0], text.substr(1), power);
}

[[nodiscard]] std::optional<std::string> element_text(const Rational& number) { return number.str(); }

/// Nothing where the two ends are told apart by the digits that are shown.
template <class End>
[[nodiscard]] std::optional<std::string> element_text(const Enclosure<End>& number) {
  if (number.is_nan()) return "nan";
  if (number.is_inf()) return number.lower().is_negative() ? "-inf" : "inf";
  if (number.lower().is_inf() || number.upper().is_inf()) return std::nullopt;
  std::string lower = decimal(number.lower().dyadic());
  if (number.is_point() || lower == decimal(number.upper().dyadic())) return lower;
  return std::nullopt;
}

template <class T>
[[nodiscard]] std::optional<ExactTensor> text_of(const Array<T>& array) {
  ExactTensor tensor{array.kind, array.dims, {}};
  for (const std::int64_t integer : array.integer) tensor.elements.push_back(std::to_string(integer));
  for (const T& number : array.real) {
    std::optional<std::string> text = element_text(number);
    if (!text) return std::nullopt;
    tensor.elements.push_back(std::move(*text));
  }
  return tensor;
}

/// Nothing where the number type leaves something open.
template <class T>
[[nodiscard]] std::optional<std::vector<ExactTensor>> outputs_by(const spec::System& system,
                                                                 std::span<const HostTensor> inputs) {
  std::vector<Array<T>> values;
  for (const HostTensor& input : inputs) values.push_back(from_host<T>(input));
  std::vector<ExactTensor> all;
  for (const Array<T>& output : evaluate<T>(system, std::span<const Array<T>>(values))) {
    std::optional<ExactTensor> tensor = text_of(output);
    if (!tensor) return std::nullopt;
    all.push_back(std::move(*tensor));
  }
  return all;
}

}  // namespace

ExactTensors exact_text(const spec::System& system, std::span<const HostTensor> inputs) {
  try {
    if (auto fractions = outputs_by<Rational>(system, inputs)) return {true, std::move(*fractions)};
  } catch (const Unsupported&) {  // not rational
  }
  std::string question = "the digits of an element";
#define ETALON_TRY(Bits)                                                                             \
  try {                                                                                              \
    if (auto digits = outputs_by<Precise<Bits>>(system, inputs)) return {false, std::move(*digits)}; \
  } catch (const Undecided& open) {                                                                  \
    question = open.what();                                                                          \
  }
  ETALON_FOR_EACH_PRECISION(ETALON_TRY)
#undef ETALON_TRY
  throw Unsupported("exact: what the most bits leave open: " + question);
}

}  // namespace etalon::reference
