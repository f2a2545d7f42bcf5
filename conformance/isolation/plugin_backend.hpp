/// \file
/// A backend behind the table of spec/backend.h, loaded into this process: the host's process, which nobody else needs.
#pragma once

#include <memory>
#include <string>

#include "spec/backend.hpp"

namespace etalon::conformance {

/// Loads the library. \throws IoError when it cannot be loaded, has no table or one of another version, or describes
/// itself wrongly.
[[nodiscard]] std::unique_ptr<spec::Backend> load_plugin(const std::string& path);

}  // namespace etalon::conformance
