/// \file
/// Random systems with all real types side by side: casts, views, sums, products of matrices, windows and wide values, whose values
/// are outputs and operands at the same time. What they compute does not matter; where it is rounded does.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"

namespace etalon::test {

/// Whether every order of adding the terms of each sum gives the same bits.
enum class Sums : std::uint8_t {
  exact,   ///< terms are multiples of a power of two, few and small enough that no sum of them is rounded
  rounded  ///< terms are any numbers
};

/// The same system for the same seed.
[[nodiscard]] spec::System drawn_system(std::uint32_t seed, Sums sums);

/// Numbers of every magnitude that matters to a sum of theirs: none is zero, infinite or NaN.
[[nodiscard]] std::vector<HostTensor> drawn_inputs(const spec::System& system, std::uint32_t seed);

/// Whether all bytes are equal, any NaN being equal to any other of its type.
[[nodiscard]] bool same_bits(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b);

}  // namespace etalon::test
