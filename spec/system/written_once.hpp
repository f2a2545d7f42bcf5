/// \file
/// The proof that the equations of one tensor write each of its elements exactly once.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "spec/system/system.hpp"

namespace etalon::spec {

/// Why not, or nothing when it is proved. By axes where each binder serves one axis, else by enumeration.
[[nodiscard]] std::optional<std::string> why_not_written_once(const System& system, TensorId target,
                                                              std::span<const Equation* const> writers);

}  // namespace etalon::spec
