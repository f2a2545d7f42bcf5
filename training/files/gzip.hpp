/// \file
/// Bytes that were compressed by gzip. It opens no file and knows no format.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace etalon::training {

/// Whether the bytes begin as those of gzip do.
[[nodiscard]] bool is_packed(std::span<const std::byte> bytes);

/// What the members hold (RFC 1952), one behind the other.
/// \param most bytes of what they hold \param where the file's name in messages
/// \throws IoError for what is no gzip, damaged, cut short, has bytes behind its last member, or holds more
[[nodiscard]] std::string unpacked(std::span<const std::byte> bytes, std::size_t most, const std::string& where);

}  // namespace etalon::training
