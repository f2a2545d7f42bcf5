#include "conformance/failure_class.hpp"

#include <cmath>
#include <string_view>

namespace etalon::conformance {
namespace {

[[nodiscard]] bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// The words of a message: numbers, shapes, and names with digits in them (addresses, values) are left out.
[[nodiscard]] std::string words_of(std::string_view message) {
  std::string words;
  for (std::size_t i = 0; i < message.size();) {
    const bool plain = is_letter(message[i]);
    std::size_t end = i;
    bool digits = false;
    for (; end < message.size() && (is_letter(message[end]) || (message[end] >= '0' && message[end] <= '9')); ++end)
      digits = digits || !is_letter(message[end]);
    if (end == i) ++end;
    else if (plain && !digits) words += (words.empty() ? "" : " ") + std::string(message.substr(i, end - i));
    i = end;
  }
  return words;
}

[[nodiscard]] std::string_view kind_of(double value) { return std::isnan(value) ? "nan" : std::isinf(value) ? "infinity" : "number"; }

}  // namespace

std::string failure_class(const Outcome& outcome) {
  std::string text(name_of(outcome.verdict));
  if (!outcome.offender) return text + ": " + words_of(outcome.why);
  const Offender& o = *outcome.offender;
  const char mark = o.tensor.empty() ? ' ' : o.tensor.back();
  text += mark == '~' ? ": a cotangent is a " : mark == '\'' ? ": a tangent is a " : ": a value is a ";
  text += kind_of(o.got);
  return text + (std::isnan(o.lower) ? ", due is " + o.expected : ", due is a number");
}

}  // namespace etalon::conformance
