#include "conformance/interchange/onnx/wire.hpp"

#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "spec/error.hpp"

namespace etalon::conformance::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "fixed words are little-endian on the wire");

/// Whether the bytes are UTF-8: no overlong form, no surrogate, nothing beyond U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t more = lead < 0x80                   ? 0
                             : lead >= 0xC2 && lead < 0xE0 ? 1
                             : lead >= 0xE0 && lead < 0xF0 ? 2
                             : lead >= 0xF0 && lead < 0xF5 ? 3
                                                           : 4;
    if (more == 4 || i + more >= text.size()) return false;
    std::uint32_t code = more == 0 ? lead : lead & (0x3FU >> more);
    for (std::size_t k = 1; k <= more; ++k) {
      const auto c = static_cast<unsigned char>(text[i + k]);
      if ((c & 0xC0U) != 0x80U) return false;
      code = (code << 6U) | (c & 0x3FU);
    }
    if ((more == 2 && (code < 0x800 || (code >= 0xD800 && code < 0xE000))) || (more == 3 && (code < 0x10000 || code > 0x10FFFF)))
      return false;
    i += more + 1;
  }
  return true;
}

}  // namespace

void WireReader::fail(const std::string& why) const {
  throw IoError(fmt::format("{}: at byte {} of {}: {}", where_, at_, message_.size(), why));
}

std::uint64_t WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (at_ == message_.size()) fail("the message ends inside a number");
    const auto byte = static_cast<std::uint64_t>(message_[at_++]);
    if (shift == 63 && byte > 1) fail("expected a number of 64 bits, found a longer one");
    value |= (byte & 127U) << shift;
    if (byte < 128) return value;
  }
  fail("expected a number of at most ten bytes, found a longer one");
}

std::span<const std::byte> WireReader::take(std::uint64_t size) {
  if (size > message_.size() - at_) fail(fmt::format("expected at most {} bytes, found a field of {}", message_.size() - at_, size));
  const auto bytes = message_.subspan(at_, static_cast<std::size_t>(size));
  at_ += static_cast<std::size_t>(size);
  return bytes;
}

bool WireReader::next(Field& field) {
  if (at_ == message_.size()) return false;
  const std::uint64_t key = varint(), number = key >> 3U;
  if (number == 0 || number > 0x1FFFFFFF) fail(fmt::format("expected a field's number, found {}", number));
  field = {static_cast<std::uint32_t>(number), false, 0, {}};
  switch (key & 7U) {
    case 0: field.integer = varint(); return true;
    case 2:
      field.is_bytes = true;
      field.bytes = take(varint());
      return true;
    case 1:
    case 5: {
      const auto word = take((key & 7U) == 1 ? 8 : 4);
      std::memcpy(&field.integer, word.data(), word.size());
      return true;
    }
    default: fail(fmt::format("expected a number, a word or bytes, found the wire type {}", key & 7U));
  }
}

std::string text_of(const Field& field, std::string_view where) {
  std::string text(reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size());
  if (!field.is_bytes || !is_utf8(text)) throw IoError(fmt::format("{}: expected text in UTF-8 in field {}", where, field.number));
  return text;
}

void add_integers(const Field& field, std::string_view where, std::vector<std::int64_t>& integers) {
  if (!field.is_bytes) return integers.push_back(static_cast<std::int64_t>(field.integer));
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const std::byte b : field.bytes) {
    const auto byte = static_cast<std::uint64_t>(b);
    if (shift > 63 || (shift == 63 && byte > 1))
      throw IoError(fmt::format("{}: expected numbers of 64 bits in field {}, found a longer one", where, field.number));
    value |= (byte & 127U) << shift;
    shift += 7;
    if (byte >= 128) continue;
    integers.push_back(static_cast<std::int64_t>(value));
    value = 0;
    shift = 0;
  }
  if (shift != 0) throw IoError(fmt::format("{}: field {} ends inside a number", where, field.number));
}

void add_words(const Field& field, std::size_t size, std::string_view where, std::vector<std::byte>& words) {
  if (!field.is_bytes) {
    const auto* first = reinterpret_cast<const std::byte*>(&field.integer);
    words.insert(words.end(), first, first + size);
    return;
  }
  if (field.bytes.size() % size != 0)
    throw IoError(fmt::format("{}: expected words of {} bytes in field {}, found {} bytes", where, size, field.number, field.bytes.size()));
  words.insert(words.end(), field.bytes.begin(), field.bytes.end());
}

}  // namespace etalon::conformance::onnx
