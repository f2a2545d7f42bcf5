/// \file
/// Laws of the real numbers by which colleagues compute what a definition means: each rewrites equations wherever its form
/// occurs, and knows no operation by name. A law costs its own roundings and no more.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::conformance {

struct Law {
  std::string_view name;
  std::string_view identity;  ///< over the reals, wherever both sides are numbers
  std::string_view who;       ///< computes so
  /// The system by the law, empty where its form does not occur.
  std::optional<spec::System> (*rewritten)(const spec::System&);
};

/// In the order in which they are tried.
[[nodiscard]] std::span<const Law> laws();

/// The system by each law alone, and by all that apply, one after the other.
[[nodiscard]] std::vector<spec::System> by_laws(const spec::System& system);

}  // namespace etalon::conformance
