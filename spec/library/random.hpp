/// \file
/// Random numbers from Philox4x32-10, specified bit for bit: key = seed, counter = (block, step, stream).
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct UniformText {
  static constexpr std::string_view text = R"(-- Uniform in [low, high): multiples of 2^-24, or of 2^-53 for f64, scaled.
uniform(seed : int, step : int) {shape[..s], low = 0.0, high = 1.0, dtype = f32, stream = 0} -> y[..shape] : dtype
  requires dtype == f32 or dtype == f64
  requires stream >= 0
  -- f32 takes word e for element e, f64 words 2e (low) and 2e + 1 (high).
  u[..i < ..shape] when dtype == f32 = philox(seed, step, stream, flat(..i)) // 256 / 16777216
  u[..i < ..shape] when dtype == f64 = (philox(seed, step, stream, 2*flat(..i)) // 2048 + 2097152*philox(seed, step, stream, 2*flat(..i) + 1)) / 9007199254740992
  y[..i] = low + (high - low)*u[..i]
)";
};
inline constexpr Operation<UniformText> uniform{};

struct NormalText {
  static constexpr std::string_view text = R"(-- Normal by Box and Muller: sqrt(-2 log u1) cos(2 pi u2), scaled and shifted.
normal(seed : int, step : int) {shape[..s], mean = 0.0, std = 1.0, dtype = f32, stream = 0} -> y[..shape] : dtype
  requires dtype == f32 or dtype == f64
  requires stream >= 0
  -- u1 is in (0, 1] and u2 in [0, 1). f32 takes words 2e and 2e + 1, f64 words 4e to 4e + 3.
  u1[..i < ..shape] when dtype == f32 = (philox(seed, step, stream, 2*flat(..i)) // 256 + 1) / 16777216
  u2[..i < ..shape] when dtype == f32 = philox(seed, step, stream, 2*flat(..i) + 1) // 256 / 16777216
  u1[..i < ..shape] when dtype == f64 = (philox(seed, step, stream, 4*flat(..i)) // 2048 + 2097152*philox(seed, step, stream, 4*flat(..i) + 1) + 1) / 9007199254740992
  u2[..i < ..shape] when dtype == f64 = (philox(seed, step, stream, 4*flat(..i) + 2) // 2048 + 2097152*philox(seed, step, stream, 4*flat(..i) + 3)) / 9007199254740992
  y[..i] = mean + std*(sqrt(-2*log(u1[..i])) * cos(2*pi*u2[..i]))
)";
};
inline constexpr Operation<NormalText> normal{};

struct BernoulliMaskText {
  static constexpr std::string_view text = R"(-- True with probability keep: where word e of Philox4x32-10 is below floor(keep*2^32).
bernoulli_mask(seed : int, step : int) {shape[..s], keep : real, stream = 0} -> y[..shape] : bool
  requires stream >= 0
  -- An integer is below the floor of a number where its successor is not above the number.
  y[..i] = philox(seed, step, stream, flat(..i)) + 1 <= keep*4294967296
)";
};
inline constexpr Operation<BernoulliMaskText> bernoulli_mask{};

struct DropoutText {
  static constexpr std::string_view text = R"(-- Each element 0 with probability p, otherwise divided by 1 - p; bits from Philox4x32-10.
dropout(x[...], seed : int, step : int) {p = 0.5, stream = 0} -> y[...]
  requires stream >= 0
  -- The mask is bernoulli_mask's with keep = p, inverted.
  y[...] = if philox(seed, step, stream, flat(...)) + 1 <= p*4294967296 then 0 else x[...] / (1 - p)
)";
};
inline constexpr Operation<DropoutText> dropout{};

struct CategoricalText {
  static constexpr std::string_view text = R"(-- A class drawn with the probabilities softmax(x): the largest of x plus Gumbel noise.
categorical(x[..rest, n @ axis], seed : int, step : int) {axis = -1, stream = 0} -> y[..rest] : int
  requires n > 0
  requires stream >= 0
  -- An odd multiple of 2^-24, hence never 0 or 1, from the upper 23 bits of one word per element.
  u[..i < ..rest, k < n @ axis] = (2*(philox(seed, step, stream, flat(..i)*n + k) // 512) + 1) / 16777216
  z[..i, k @ axis] = x[..i, k @ axis] - log(-log(u[..i, k @ axis]))
  y[..i] = argmax[k] z[..i, k @ axis]
)";
};
inline constexpr Operation<CategoricalText> categorical{};

/// What the library registers of this family.
using RandomOperations = spec::OperationList<UniformText, NormalText, BernoulliMaskText, DropoutText, CategoricalText>;

}  // namespace etalon::ops
