#include "training/files/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "spec/error.hpp"

namespace etalon::training {

namespace {

constexpr std::array magic{std::byte{0x1f}, std::byte{0x8b}};

/// zlib's state, which goes in the end.
class Inflation {
 public:
  Inflation() {
    constexpr int gzip_alone = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, gzip_alone) != Z_OK) throw std::bad_alloc();
  }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
  ~Inflation() { inflateEnd(&stream_); }

  /// Takes the first member off the bytes and puts what it holds behind the text, until that is longer than `most`.
  /// \returns why it cannot; empty where it can
  [[nodiscard]] std::string member(std::span<const std::byte>& bytes, std::size_t most, std::string& text) {
    (void)inflateReset(&stream_);
    int code = Z_OK;
    while (code == Z_OK && text.size() <= most) {
      code = part(bytes, text);
      if (code == Z_BUF_ERROR) return "unexpected end of file";
    }
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_OK || code == Z_STREAM_END) return {};
    return stream_.msg != nullptr ? stream_.msg : "no gzip";
  }

 private:
  /// One call of zlib: as much as its numbers count and the buffer takes.
  [[nodiscard]] int part(std::span<const std::byte>& bytes, std::string& text) {
    const std::size_t most = std::numeric_limits<uInt>::max(), given = std::min(bytes.size(), most);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));  // it reads them only
    stream_.avail_in = static_cast<uInt>(given);
    stream_.next_out = buffer_.data();
    stream_.avail_out = static_cast<uInt>(buffer_.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    bytes = bytes.subspan(given - stream_.avail_in);
    text.append(reinterpret_cast<const char*>(buffer_.data()), buffer_.size() - stream_.avail_out);
    return code;
  }

  z_stream stream_{};
  std::array<Bytef, 1U << 16U> buffer_{};
};

}  // namespace

bool is_packed(std::span<const std::byte> bytes) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

std::string unpacked(std::span<const std::byte> bytes, std::size_t most, const std::string& where) {
  if (bytes.size() >= magic.size() && !is_packed(bytes)) throw IoError(where + ": no gzip, which begins with the bytes 1f 8b");
  Inflation inflation;
  std::string text;
  do {
    const std::string wrong = inflation.member(bytes, most, text);
    if (!wrong.empty()) throw IoError(fmt::format("{}: damaged or cut short after {} bytes of text: {}", where, text.size(), wrong));
    if (text.size() > most) throw IoError(fmt::format("{}: longer than {} bytes", where, most));
    if (!bytes.empty() && !is_packed(bytes))
      throw IoError(fmt::format("{}: {} bytes behind the last member of gzip, expected none", where, bytes.size()));
  } while (!bytes.empty());
  return text;
}

}  // namespace etalon::training
