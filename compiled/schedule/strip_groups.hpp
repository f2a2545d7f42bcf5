/// \file
/// Which readers of a wide family can share a kernel. It knows what equations need; it changes none.
#pragma once

#include <cstddef>
#include <vector>

#include "compiled/schedule/wide.hpp"

namespace etalon::compiled {

/// Readers of one family along one axis, in one kernel.
struct StripGroup {
  std::size_t family = 0;
  std::size_t axis = 0;
  std::vector<WideReader> readers;   ///< ascending; also equations between them that need of the family only their results
  std::vector<std::size_t> members;  ///< of the family, ascending: what the readers need
};

/// A system's equations as steps in an order: each is an equation alone (of no family), or a group.
struct StripSteps {
  std::vector<StripGroup> groups;
  std::vector<std::vector<std::size_t>> order;  ///< equations of a step, ascending; members of families stand nowhere
  std::vector<std::size_t> group;               ///< per step, its group; none for an equation alone
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

[[nodiscard]] StripSteps group_readers(const spec::System& system, const std::vector<WideFamily>& families);

}  // namespace etalon::compiled
