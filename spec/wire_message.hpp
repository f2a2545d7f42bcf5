/// \file
/// A message of protocol buffers as it stands on the wire, written field by field. It knows no message's meaning.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace etalon::spec {

/// The lowest byte first, as many as the type has.
template <std::unsigned_integral Word>
[[nodiscard]] std::string little_endian(Word value) {
  std::string bytes;
  for (unsigned shift = 0; shift < 8 * sizeof(Word); shift += 8) bytes += static_cast<char>((value >> shift) & 255U);
  return bytes;
}

/// Fields stand in the order in which they are written; a repeated field is one that is written again.
class WireMessage {
 public:
  WireMessage& number(std::uint32_t field, std::int64_t value) {
    varint(std::uint64_t{field} << 3U);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  WireMessage& bytes(std::uint32_t field, std::string_view value) {
    varint((std::uint64_t{field} << 3U) | 2U);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  WireMessage& message(std::uint32_t field, const WireMessage& value) { return bytes(field, value.bytes_); }
  WireMessage& real(std::uint32_t field, float value) {
    varint((std::uint64_t{field} << 3U) | 5U);
    bytes_ += little_endian(std::bit_cast<std::uint32_t>(value));
    return *this;
  }
  WireMessage& real(std::uint32_t field, double value) {
    varint((std::uint64_t{field} << 3U) | 1U);
    bytes_ += little_endian(std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value > 127; value >>= 7U) bytes_ += static_cast<char>((value & 127U) | 128U);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace etalon::spec
