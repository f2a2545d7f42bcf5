#include "conformance/profile.hpp"

#include <algorithm>

namespace etalon::conformance {

std::vector<spec::Mode> modes_of(Profile profile) {
  using enum spec::Mode;
  switch (profile) {
    case Profile::inference:
      return {forward};
    case Profile::training:
      return {forward, vjp};
    case Profile::all:
      break;
  }
  return {forward, jvp, vjp};
}

std::optional<Profile> profile_of(const std::vector<spec::Mode>& modes) {
  for (const Profile profile : {Profile::all, Profile::training, Profile::inference}) {
    const std::vector<spec::Mode> needed = modes_of(profile);
    const bool holds = std::all_of(needed.begin(), needed.end(), [&](spec::Mode mode) {
      return std::find(modes.begin(), modes.end(), mode) != modes.end();
    });
    if (holds) return profile;
  }
  return std::nullopt;
}

}  // namespace etalon::conformance
