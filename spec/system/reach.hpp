/// \file
/// Whether an expression can be evaluated at all at a place: every read in range, no extremum of nothing.
#pragma once

#include <optional>
#include <string>

#include "spec/system/ranges.hpp"

namespace etalon::spec {

/// Why an expression could not be evaluated somewhere.
struct Fault {
  std::string rule;  ///< e.g. `index 1 of x is in 0..5, wanted 0..4`
  Expr where;        ///< the read or the reduction
};

/// The first fault that cannot be excluded from what is known, in evaluation order; nothing if there is none.
[[nodiscard]] std::optional<Fault> first_fault(const System& system, const Expr& e, const Ranges& known);

}  // namespace etalon::spec
