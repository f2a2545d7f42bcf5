/// \file
/// A counterexample as a script of the backend's own language, written by the backend. It knows no language.
#pragma once

#include <optional>
#include <string>

#include "conformance/check.hpp"

namespace etalon::conformance {

/// What the backend writes of the case, printing the element that convicts; nothing where it writes none, or where no
/// single request shows what is wrong.
[[nodiscard]] std::optional<std::string> script_of(const Case& c, const Outcome& outcome, Asked& backend);

}  // namespace etalon::conformance
