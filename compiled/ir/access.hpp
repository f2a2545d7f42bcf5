/// \file
/// How an element's number in memory follows the loops around its read. It knows no schedule and no machine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiled/ir/affine.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

/// Along one loop with index i an element's number grows by i·inner, or, in panels, by i / panel · outer + i % panel · inner.
struct Access {
  std::int64_t panel = 0;  ///< 0: no panels
  std::int64_t outer = 0;
  std::int64_t inner = 0;
  friend bool operator==(const Access&, const Access&) = default;
};

/// How the element number follows the variable, or nothing when in another way.
[[nodiscard]] std::optional<Access> access_along(const loops::Affine& element, spec::VariableId v);

/// By how much the element number grows when each of these loops goes one further, or nothing when that varies.
[[nodiscard]] std::optional<std::vector<std::int64_t>> steps_along(const loops::Affine& element, const std::vector<spec::Binder>& loops);

/// The axis of the target at which each binder of the equation stands, or nothing unless the place is exactly the
/// binders in some order.
[[nodiscard]] std::optional<std::vector<std::size_t>> axes_of_binders(const spec::Equation& equation);

}  // namespace etalon::compiled
