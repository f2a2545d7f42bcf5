/// \file
/// Whether an expression can be evaluated at all at a place: every read in range, no extremum of nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "spec/system/ranges.hpp"

namespace etalon::spec {

/// Why an expression could not be evaluated somewhere.
struct Fault {
  std::string rule;  ///< e.g. `index 1 of x is in 0..5, wanted 0..4`
  Expr where;        ///< the read or the reduction
  std::size_t axis = 0;                ///< of a read: the one it leaves
  std::optional<std::int64_t> index{}; ///< where, if that was found
};

/// The first fault that cannot be excluded from what is known, in evaluation order; nothing if there is none.
[[nodiscard]] std::optional<Fault> first_fault(const System& system, const Expr& e, const Ranges& known);

/// Visits every expression at or below `e` that is reached, with what is known there; parents last.
void for_each_reached(const Expr& e, const Ranges& known,
                      const std::function<void(const Expr&, const Ranges&)>& visit);

}  // namespace etalon::spec
