/// \file
/// Numbers at which a comparison of the equations turns: elements of operands are solved for, so that both sides of a
/// condition meet, and the numbers just beyond. It reads equations and knows no operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/draw.hpp"
#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"

namespace etalon::conformance {

/// How often each side of some comparison was reached on purpose.
struct Met {
  std::size_t below = 0, at = 0, above = 0;
};

/// Where the left side of a comparison is to lie.
enum class Sides : std::uint8_t {
  any,   ///< at the right one, or the least bit below or above
  equal  ///< at the right one: what both read loses digits, so that some number makes them equal
};

/// Sets some elements of real or integer operands so that the two sides of comparisons of the equations, taken at places
/// that are drawn, are equal, or the left one is the least bit smaller or larger. What is compared may be any function of
/// one element that is affine or monotone there; where no number of the operand's type makes the sides equal, the two
/// numbers are taken between which the comparison turns.
/// \param inputs present operands, in the order of the system's inputs
Met meet_thresholds(const spec::System& system, std::vector<HostTensor*>& inputs, std::size_t wanted, Sides sides, Draw& draw);

}  // namespace etalon::conformance
