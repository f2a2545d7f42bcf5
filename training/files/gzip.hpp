/// \file
/// Text that may be compressed by gzip. It knows no format.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace etalon::training {

/// What the file holds, unpacked where it is compressed.
/// \param most bytes of text
/// \throws IoError naming the file: it cannot be read, is damaged, cut short, or has more text
[[nodiscard]] std::string read_gzip(const std::filesystem::path& path, std::size_t most);

}  // namespace etalon::training
