/// \file
/// What the one seed of a training run feeds: separate streams, so that adding a draw to one moves no other.
#pragma once

#include <cstdint>
#include <vector>

namespace etalon::training {

/// Stream numbers below 2^16 belong to the trainer, from `indices` on one for each index that is iterated; a model's own
/// random operations count from `model_streams`.
enum class Stream : std::uint32_t { split = 1, shuffle = 2, initialise = 3, data = 4, indices = 256, model_streams = 1U << 16U };

/// A uniform draw from [0, 1) with 24 bits: number n of (seed, step, stream).
[[nodiscard]] double uniform_draw(std::uint64_t seed, std::uint32_t step, Stream stream, std::uint64_t n);

/// A permutation of 0..count-1 by Fisher and Yates' shuffle; `step` counts the epochs. Each position is drawn from 64
/// bits, so that the bias is below count/2^64.
[[nodiscard]] std::vector<std::int64_t> permutation(std::int64_t count, std::uint64_t seed, std::uint32_t step,
                                                    Stream stream);

}  // namespace etalon::training
