/// \file
/// What "conforms" covers, in one word: the modes that were asked and compared. It knows no operation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "spec/backend.hpp"

namespace etalon::conformance {

/// `inference`: values. `training`: values and reverse derivatives. `all`: values and both derivatives. Each is about
/// the operations and element types that the backend offers.
enum class Profile : std::uint8_t { inference, training, all };
inline constexpr std::array<std::string_view, 3> profile_names{"inference", "training", "all"};
[[nodiscard]] constexpr std::string_view name_of(Profile profile) {
  return profile_names[static_cast<std::size_t>(profile)];
}

/// The modes that a profile covers.
[[nodiscard]] std::vector<spec::Mode> modes_of(Profile profile);

/// The largest profile that has no mode beside these; nothing where values are not among them.
[[nodiscard]] std::optional<Profile> profile_of(const std::vector<spec::Mode>& modes);

}  // namespace etalon::conformance
