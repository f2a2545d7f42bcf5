/// \file
/// Messages of protocol buffers as they stand on the wire: fields by number, one after the other. It knows no message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::conformance::onnx {

/// One field of a message.
struct Field {
  std::uint32_t number = 0;
  bool is_bytes = false;             ///< `bytes` counts, else `integer`: a varint, or the bits of a fixed word
  std::uint64_t integer = 0;
  std::span<const std::byte> bytes;  ///< inside the message that is read; in messages of messages these nest
};

/// Reads the fields of one message in order. No field lies outside of the message, so what is read is no longer than it.
class WireReader {
 public:
  /// \param where stands before what is wrong
  WireReader(std::span<const std::byte> message, std::string_view where) : message_(message), where_(where) {}

  /// Whether there is one more field. \throws IoError for bytes that are none: a varint of more than ten bytes, a length
  /// beyond the message's end, a group, the field 0
  [[nodiscard]] bool next(Field& field);

 private:
  [[nodiscard]] std::uint64_t varint();
  [[nodiscard]] std::span<const std::byte> take(std::uint64_t size);
  [[noreturn]] void fail(const std::string& why) const;

  std::span<const std::byte> message_;
  std::string where_;
  std::size_t at_ = 0;
};

/// The bytes as text. \throws IoError where they are not UTF-8
[[nodiscard]] std::string text_of(const Field& field, std::string_view where);

/// Adds the integers of a repeated field, packed or not.
/// \throws IoError
void add_integers(const Field& field, std::string_view where, std::vector<std::int64_t>& integers);

/// Adds the words of a repeated field of fixed size, packed or not, as they lie in memory here. \param size 4 or 8
/// \throws IoError
void add_words(const Field& field, std::size_t size, std::string_view where, std::vector<std::byte>& words);

}  // namespace etalon::conformance::onnx
