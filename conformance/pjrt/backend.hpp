/// \file
/// A PJRT plug-in as a backend: a program's text in StableHLO is compiled and run. It is asked for values only: derivatives of the
/// text would be Etalon's own, not the plug-in's.
#pragma once

#include <memory>
#include <string>

#include "spec/backend.hpp"

namespace etalon::conformance::pjrt {

/// Loads the plug-in into this process: a host's, which nobody else needs (isolation/library.hpp).
/// \throws IoError naming what is wrong with the library or its table, or what its client says
[[nodiscard]] std::unique_ptr<spec::Backend> load_backend(const std::string& path);

}  // namespace etalon::conformance::pjrt
