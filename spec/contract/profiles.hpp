/// \file
/// The files of spec/contract/profiles, as text in the library.
#pragma once

#include <span>
#include <string_view>

namespace etalon::spec {

struct Profile {
  std::string_view name;  ///< of the file, without its end
  std::string_view text;
};

/// Sorted by name; the source is generated from the files when the library is configured.
[[nodiscard]] std::span<const Profile> profiles();

}  // namespace etalon::spec
