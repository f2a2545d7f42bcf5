/// \file
/// Programs large enough, or of the right form, for the rewrites that drawn systems do not meet, with mixed types.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"
#include "tests/rewrites/drawn_systems.hpp"

namespace etalon::test {

struct Directed {
  std::string_view text;
  Sums sums = Sums::exact;                   ///< on whole numbers
  std::vector<std::string_view> meets = {};  ///< rewrites without which other loops come of it
};

[[nodiscard]] std::span<const Directed> directed_programs();

/// Sums that are cut off at zero into f16, which makes zero of some that are above it, and a reader that asks which are.
[[nodiscard]] spec::System cut_to_half();

/// Whole numbers, small where they are of few digits: products of two add up without rounding in their own type.
[[nodiscard]] std::vector<HostTensor> whole_inputs(const spec::System& system, std::uint32_t seed);

}  // namespace etalon::test
