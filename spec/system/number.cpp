#include "spec/system/number.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <system_error>
#include <utility>

namespace etalon::spec {

bool operator==(const Number& a, const Number& b) {
  return a.mantissa == b.mantissa && a.exponent == b.exponent && a.is_binary == b.is_binary && a.rest == b.rest &&
         std::bit_cast<std::uint64_t>(a.binary) == std::bit_cast<std::uint64_t>(b.binary);
}

bool Number::is(std::int64_t value) const {
  if (is_binary) return std::bit_cast<std::uint64_t>(binary) == std::bit_cast<std::uint64_t>(static_cast<double>(value));
  return rest.empty() && mantissa == value && (exponent == 0 || value == 0);
}

Number decimal_number(std::string_view text) {
  Number n;
  std::string digits;
  const std::size_t end = std::min(text.find('e'), text.size());
  const std::size_t point = std::min(text.find('.'), end);
  digits.append(text.substr(0, point)).append(point < end ? text.substr(point + 1, end - point - 1) : std::string_view());
  if (end < text.size()) {
    const std::size_t sign = text.substr(end + 1).starts_with('+') ? 1 : 0;
    std::from_chars(text.data() + end + 1 + sign, text.data() + text.size(), n.exponent);
  }
  if (point < end) n.exponent -= static_cast<std::int32_t>(end - point - 1);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return {};
  while (digits.back() == '0' && n.exponent < 0) {
    digits.pop_back();
    ++n.exponent;
  }
  const auto whole = std::from_chars(digits.data(), digits.data() + digits.size(), n.mantissa);
  if (whole.ec == std::errc{}) return n;
  constexpr std::size_t held = 18;
  std::from_chars(digits.data(), digits.data() + held, n.mantissa);
  n.rest = digits.substr(held);
  return n;
}

std::string digits_of(const Number& decimal) { return std::to_string(decimal.mantissa) + decimal.rest; }

std::string exponential_text(const Number& decimal) { return digits_of(decimal) + "e" + std::to_string(decimal.exponent); }

std::optional<Number> negated(const Number& number) {
  Number n = number;
  n.binary = -n.binary;
  if (n.is_binary) return n;
  if (n.mantissa == 0 || n.mantissa == INT64_MIN) return std::nullopt;
  n.binary = 0;
  n.mantissa = -n.mantissa;
  return n;
}

}  // namespace etalon::spec
