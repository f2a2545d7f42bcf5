/// \file
/// Which file data came from: its name and the digests of its bytes. It knows no format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace etalon::training {

struct DataFile {
  std::string name;         ///< as it was given
  std::uint64_t bytes = 0;  ///< how many
  std::string sha256;       ///< in 64 hexadecimal digits
  std::string root;         ///< Merkle root (RFC 9162) over chunks of 1 MiB: who has one can show that it belongs to the file

  friend bool operator==(const DataFile&, const DataFile&) = default;
};

[[nodiscard]] DataFile data_file_of(std::string name, std::span<const std::byte> bytes);

/// \throws SpecViolation, one line with both digests, where the bytes are not the same; names may differ
/// \param where what says what was before
void require_same(const DataFile& before, const DataFile& now, std::string_view where);

}  // namespace etalon::training
