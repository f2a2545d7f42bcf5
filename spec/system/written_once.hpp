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

/// Why it is not proved that this equation writes each element of its target at most once, and none outside it, or
/// nothing.
[[nodiscard]] std::optional<std::string> why_written_twice(const System& system, const Equation& writer);

}  // namespace etalon::spec
