/// \file
/// The proof that the equations of one tensor write each of its elements exactly once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::spec {

/// What is wrong with how a tensor is written.
struct Miswritten {
  std::string rule;                    ///< e.g. `an element is never written`
  std::vector<std::int64_t> element{}; ///< which, if one was found: its indices, which may lie outside the tensor
  std::size_t writer = 0;              ///< of the writers, the one that writes it again or outside the tensor; their number if none does
};

/// Why not, or nothing when it is proved. By axes where each binder serves one axis, else by enumeration.
[[nodiscard]] std::optional<Miswritten> why_not_written_once(const System& system, TensorId target,
                                                             std::span<const Equation* const> writers);

/// Why it is not proved that this equation writes each element of its target at most once, and none outside it, or
/// nothing.
[[nodiscard]] std::optional<Miswritten> why_written_twice(const System& system, const Equation& writer);

}  // namespace etalon::spec
