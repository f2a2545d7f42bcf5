#include "spec/protocol/base64.hpp"

#include <array>
#include <cstdint>

namespace etalon::spec {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> value_of = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i) values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  return values;
}();

}  // namespace

std::string to_base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    const std::size_t n = bytes.size() - i < 3 ? bytes.size() - i : 3;
    for (std::size_t k = 0; k < 3; ++k) word = word << 8 | (k < n ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= n ? alphabet[word >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

std::optional<Bytes> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  Bytes bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t n = i + 4 == text.size() ? 3 - padding : 3;
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::int8_t value = k <= n ? value_of[static_cast<unsigned char>(text[i + k])] : std::int8_t{0};
      if (value < 0) return std::nullopt;
      word = word << 6 | static_cast<std::uint32_t>(value);
    }
    for (std::size_t k = 0; k < n; ++k) bytes.push_back(static_cast<std::byte>(word >> (16 - 8 * k) & 255U));
    if ((word & ((1U << (8 * (3 - n))) - 1U)) != 0) return std::nullopt;  // bits that no byte holds
  }
  return bytes;
}

}  // namespace etalon::spec
