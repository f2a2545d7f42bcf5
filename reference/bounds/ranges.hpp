/// \file
/// What the outputs of a system may be where inputs lie in boxes: of every conforming evaluation, for every input in the box.
/// It knows no operation by name.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "reference/bounds/boxes.hpp"
#include "spec/contract/contract.hpp"
#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"

namespace etalon::reference {

/// Of each element of an input, row-major, the least and the greatest number that it may be. Ends are finite.
struct Box {
  std::vector<double> lower, upper;
};

/// factor · (an element of an output, at its row-major position).
struct Term {
  std::size_t output = 0;
  std::size_t element = 0;
  double factor = 1;
};

/// A sum of such terms, over the reals.
using Combination = std::vector<Term>;

/// All that a combination may be. Infinite where nothing is known, which is also so where an element may be no finite number.
struct OutputRange {
  double lower = 0;
  double upper = 0;
};

/// One range for each combination of outputs.
/// \param inputs in the system's order; of one with a box the type counts alone
/// \param boxes per input where there is one; inputs of reals alone
/// \throws SpecViolation where inputs or boxes do not fit the system, or combinations name no real element of an output;
/// Unsupported where data in a box decide where an element is written
[[nodiscard]] std::vector<OutputRange> ranges(const spec::System& system, std::span<const HostTensor> inputs,
                                        std::span<const std::optional<Box>> boxes, const spec::Contract& contract,
                                        std::span<const Combination> combinations, bounds::Narrowing narrowing);

}  // namespace etalon::reference
