/// \file
/// Zip archives of a few whole members, in memory. The only place that knows whose implementation it is.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace etalon::training {

/// The archive of the members in the order of their names, stored, all dated 1 January 1980: the same members are the
/// same bytes. \throws InternalError where libzip makes none
[[nodiscard]] std::string zip_of(const std::map<std::string, std::string>& members);

/// The members, stored or deflated.
/// \param where the file's name in messages
/// \throws IoError naming the member: what is no consistent archive, names that occur twice, members that are encrypted or
/// packed otherwise, more data than so many bytes can unpack to, sizes and checksums that are not those of the data
[[nodiscard]] std::map<std::string, std::string> read_zip(std::span<const std::byte> file, std::string_view where);

}  // namespace etalon::training
