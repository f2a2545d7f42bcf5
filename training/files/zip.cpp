#include "training/files/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::training {

namespace {

constexpr std::uint32_t member_signature = 0x04034b50, directory_signature = 0x02014b50, end_signature = 0x06054b50;
constexpr std::size_t member_bytes = 30, directory_bytes = 46, end_bytes = 22;
constexpr std::uint16_t version = 20, first_of_1980 = 0x21, utf8_names = 0x800, encrypted = 1, stored = 0, deflated = 8;
constexpr std::uint64_t most_expansion = 1032;  // of deflate: 258 bytes for two bits

[[nodiscard]] std::uint32_t checksum_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

class Writer {
 public:
  Writer& put(std::uint32_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) text_ += static_cast<char>(value >> (8 * i) & 0xFFU);
    return *this;
  }
  Writer& put(std::string_view text) {
    text_ += text;
    return *this;
  }
  /// What a member's own heading and its place in the directory have in common.
  Writer& put_member(std::string_view name, std::string_view bytes) {
    const bool ascii =
        std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
    const auto size = static_cast<std::uint32_t>(bytes.size());
    put(version, 2).put(ascii ? 0 : utf8_names, 2).put(stored, 2).put(0, 2).put(first_of_1980, 2);
    return put(checksum_of(bytes), 4)
        .put(size, 4)
        .put(size, 4)
        .put(static_cast<std::uint32_t>(name.size()), 2)
        .put(0, 2);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct Member {
  std::string name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t packed = 0;  ///< bytes in the archive
  std::uint64_t size = 0;    ///< bytes of the member
  std::uint64_t at = 0;      ///< where its own heading begins
};

/// An archive as bytes; every reading is within them.
class Archive {
 public:
  Archive(std::span<const std::byte> file, std::string_view where)
      : bytes_(reinterpret_cast<const char*>(file.data()), file.size()), where_(where) {
    if (bytes_.size() < end_bytes) refuse("no zip archive");
    const std::size_t end = bytes_.size() - end_bytes;
    if (number(end, 4) != end_signature || number(end + 20, 2) != 0)
      refuse("no end of a zip archive in its last 22 bytes");
    const std::uint64_t count = number(end + 10, 2), size = number(end + 12, 4), begin = number(end + 16, 4);
    if (number(end + 4, 4) != 0 || number(end + 8, 2) != count || begin + size != end)
      refuse("the directory of the zip archive is not in its place");
    std::size_t at = begin;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (end - at < directory_bytes || number(at, 4) != directory_signature)
        refuse("the directory of the zip archive is damaged");
      const std::size_t name = number(at + 28, 2), more = number(at + 30, 2) + number(at + 32, 2);
      if (end - at - directory_bytes < name + more) refuse("the directory of the zip archive is cut short");
      members_.push_back({std::string(bytes_.substr(at + directory_bytes, name)),
                          static_cast<std::uint16_t>(number(at + 8, 2)), static_cast<std::uint16_t>(number(at + 10, 2)),
                          number(at + 16, 4), number(at + 20, 4), number(at + 24, 4), number(at + 42, 4)});
      at += directory_bytes + name + more;
    }
    if (at != end) refuse("the directory of the zip archive is longer than its members");
    directory_ = begin;
    std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) { return a.at < b.at; });
  }

  /// In the order in which they lie.
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }

  /// The packed bytes of a member, and where they end. \param least where it may begin
  [[nodiscard]] std::pair<std::string_view, std::uint64_t> packed(const Member& m, std::uint64_t least) const {
    if (m.at < least || m.at > directory_ || directory_ - m.at < member_bytes) refuse(m, "overlaps another");
    if (number(m.at, 4) != member_signature) refuse(m, "has no heading");
    const std::uint64_t name = number(m.at + 26, 2), begin = m.at + member_bytes + name + number(m.at + 28, 2);
    if (begin > directory_ || directory_ - begin < m.packed) refuse(m, "is cut short");
    if (bytes_.substr(m.at + member_bytes, name) != m.name) refuse(m, "has another name in its heading");
    return {bytes_.substr(begin, m.packed), begin + m.packed};
  }

  [[nodiscard]] std::string unpacked(const Member& m, std::string_view packed) const {
    if ((m.flags & encrypted) != 0) refuse(m, "is encrypted");
    if (m.method != stored && m.method != deflated)
      refuse(m, fmt::format("is packed by method {}, expected 0 or 8", m.method));
    std::string bytes = m.method == stored ? std::string(packed) : inflated(m, packed);
    if (bytes.size() != m.size) refuse(m, fmt::format("has {} bytes, expected {}", bytes.size(), m.size));
    if (checksum_of(bytes) != m.checksum) refuse(m, "has another checksum");
    return bytes;
  }

  [[noreturn]] void refuse(const Member& m, const std::string& what) const {
    throw IoError(fmt::format("{}: '{}' {}", where_, as_quoted(m.name), what));
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const { throw IoError(fmt::format("{}: {}", where_, what)); }

  [[nodiscard]] std::uint32_t number(std::size_t at, unsigned bytes) const {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < bytes; ++i)
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[at + i])) << (8 * i);
    return value;
  }

  [[nodiscard]] std::string inflated(const Member& m, std::string_view packed) const {
    if (m.size > most_expansion * (packed.size() + 1))
      refuse(m, fmt::format("announces {} bytes, more than {} can unpack to", m.size, packed.size()));
    std::string bytes(m.size + 1, '\0');  // one more shows that there is more
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw InternalError("zip: zlib does not begin");
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max()));
    const int done = inflate(&stream, Z_FINISH);
    const bool rest = stream.avail_in > 0;
    bytes.resize(stream.total_out);
    (void)inflateEnd(&stream);
    if (done != Z_STREAM_END || rest) refuse(m, "does not unpack to what it announces");
    return bytes;
  }

  std::string_view bytes_;
  std::string_view where_;
  std::vector<Member> members_;
  std::uint64_t directory_ = 0;  ///< where it begins, behind the members
};

}  // namespace

std::string zip_of(const std::map<std::string, std::string>& members) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  constexpr std::size_t most_members = std::numeric_limits<std::uint16_t>::max() - 1;
  std::uint64_t total = end_bytes;
  for (const auto& [name, bytes] : members) {
    if (name.size() > std::numeric_limits<std::uint16_t>::max())
      throw Unsupported("zip: a name of more than 65535 bytes");
    total += member_bytes + directory_bytes + 2 * name.size() + bytes.size();
  }
  if (total > most || members.size() > most_members) {
    throw Unsupported(
        fmt::format("zip: {} members and {} bytes, expected at most {} and {}; safetensors has no such limit",
                    members.size(), total, most_members, most));
  }
  Writer archive, directory;
  for (const auto& [name, bytes] : members) {
    const auto at = static_cast<std::uint32_t>(archive.text().size());
    archive.put(member_signature, 4).put_member(name, bytes).put(name).put(bytes);
    directory.put(directory_signature, 4).put(version, 2).put_member(name, bytes);
    directory.put(0, 2).put(0, 2).put(0, 2).put(0, 4).put(at, 4).put(name);  // comment, disk, attributes
  }
  const auto count = static_cast<std::uint32_t>(members.size()),
             begin = static_cast<std::uint32_t>(archive.text().size());
  archive.put(directory.text()).put(end_signature, 4).put(0, 4).put(count, 2).put(count, 2);
  archive.put(static_cast<std::uint32_t>(directory.text().size()), 4).put(begin, 4).put(0, 2);
  return archive.text();
}

std::map<std::string, std::string> read_zip(std::span<const std::byte> file, std::string_view where) {
  const Archive archive(file, where);
  std::map<std::string, std::string> found;
  std::uint64_t least = 0;
  for (const Member& m : archive.members()) {
    const auto [packed, end] = archive.packed(m, least);
    least = end;
    if (!found.emplace(m.name, archive.unpacked(m, packed)).second) archive.refuse(m, "is there twice");
  }
  return found;
}

}  // namespace etalon::training
