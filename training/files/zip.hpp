/// \file
/// Zip archives of a few whole members. It knows nothing of what they hold.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace etalon::training {

/// The archive of the members in the order of their names, stored, all dated 1 January 1980: the same members are the
/// same bytes. \throws Unsupported beyond 4 GiB or 65534 members
[[nodiscard]] std::string zip_of(const std::map<std::string, std::string>& members);

/// The members, stored or deflated.
/// \param where the file's name in messages
/// \throws IoError naming the member: anything that is not one archive from its first byte to its last, names that
/// occur twice, members that overlap or are encrypted, sizes and checksums that are not those of the data
[[nodiscard]] std::map<std::string, std::string> read_zip(std::span<const std::byte> file, std::string_view where);

}  // namespace etalon::training
