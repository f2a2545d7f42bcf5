/// \file
/// The parts of a definition held to what it means: they are other ways to compute it, and nothing else. It knows no
/// operation by name, and no backend.
#pragma once

#include <optional>
#include <string>

#include "spec/library/library.hpp"

namespace etalon::conformance {

/// One line where a part of the definition differs from what the definition means, or from its derivative, at ordinary
/// numbers and with 50 digits, or gives none where the definition means a number, at zeros and ties too; nothing where
/// none does.
[[nodiscard]] std::optional<std::string> contradiction(const spec::Library& library, const std::string& operation);

}  // namespace etalon::conformance
