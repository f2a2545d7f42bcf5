/// \file
/// A stranger's library in this process: the host's process, which nobody else needs. It knows no interface.
#pragma once

#include <functional>
#include <istream>
#include <memory>
#include <string>

#include "spec/backend.hpp"

namespace etalon::conformance {

/// The address of the symbol in the library, which stays loaded. \param kind begins messages: `plugin`, `pjrt`
/// \throws IoError when it cannot be loaded or does not export the symbol
[[nodiscard]] void* symbol_of_library(const std::string& path, const char* symbol, const char* kind);

/// Speaks Protocol 1 for a backend that is loaded into this process, on its standard streams, until the input ends. What
/// the library writes to standard output, from when it is loaded on, goes to standard error.
void serve_loaded(const std::function<std::unique_ptr<spec::Backend>()>& load, std::istream& requests);

}  // namespace etalon::conformance
