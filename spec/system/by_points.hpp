/// \file
/// What an index is at each value of the index variables: for what the intervals of forms leave open. It visits points and
/// knows no data.
#pragma once

#include <cstdint>
#include <optional>

#include "spec/system/ranges.hpp"

namespace etalon::spec {

/// What visiting says of an index of an axis.
struct Visit {
  bool within = false;                 ///< it is in range at every point
  std::optional<std::int64_t> beyond;  ///< what it is at the first point where it is not
};

/// Visits the values that are known of the variables where those conditions hold that no data enters. Says nothing of
/// an index that data enters, and does not prove what has too many points; it may then still find one beyond.
[[nodiscard]] Visit visit(const Expr& index, std::int64_t extent, const Ranges& known);

}  // namespace etalon::spec
