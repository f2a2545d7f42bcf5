/// \file
/// Deliberate defects of the compiled backend, as rewrites of the system that is about to be compiled: each is a
/// mistake that real backends have made. The suite must convict every one of them.
#pragma once

#include <span>
#include <string_view>

#include "spec/system/system.hpp"

namespace etalon::mutants {

struct Mutant {
  std::string_view name;
  std::string_view defect;      ///< what the author of such a backend got wrong
  std::string_view operations;  ///< comma-separated: the operations that the mutation test asks about
  void (*apply)(spec::System&);
};

/// The list was fixed before the generators were tuned; entries are added, never removed.
[[nodiscard]] std::span<const Mutant> mutants();

}  // namespace etalon::mutants
