/// \file
/// Normalisation, and the distributions made by it.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct SoftmaxText {
  static constexpr std::string_view text = R"(-- Exponentials along an axis, divided by their sum.
softmax(x[..rest, n @ axis]) {axis = -1} -> y[..rest, n @ axis]
  top[..i] = detach(max[k] x[..i, k @ axis] else 0)
  e[..i, j @ axis] = exp(x[..i, j @ axis] - top[..i])
  y[..i, j @ axis] = e[..i, j @ axis] / sum[k] e[..i, k @ axis]
)";
};
inline constexpr Operation<SoftmaxText> softmax{};

struct LogSoftmaxText {
  static constexpr std::string_view text = R"(-- The logarithm of softmax.
log_softmax(x[..rest, n @ axis]) {axis = -1} -> y[..rest, n @ axis]
  top[..i] = detach(max[k] x[..i, k @ axis] else 0)
  z[..i, j @ axis] = x[..i, j @ axis] - top[..i]
  l[..i] = log(sum[k] exp(z[..i, k @ axis]))
  y[..i, j @ axis] = z[..i, j @ axis] - l[..i]
)";
};
inline constexpr Operation<LogSoftmaxText> log_softmax{};

struct LayerNormText {
  static constexpr std::string_view text = R"(-- Mean 0 and variance 1 over the axes that gamma has, then scaled and shifted.
layer_norm(x[..., ..w], gamma[..w], beta[..w]) {eps = 1e-5} -> y[..., ..w]
  mu[...] = (sum[..k] x[..., ..k]) / size(..w)
  d[..., ..k] = x[..., ..k] - mu[...]
  v[...] = (sum[..k] d[..., ..k] * d[..., ..k]) / size(..w)
  y[..., ..k] = gamma[..k] * (d[..., ..k] / sqrt(v[...] + eps)) + beta[..k]
)";
};
inline constexpr Operation<LayerNormText> layer_norm{};

struct DropoutText {
  static constexpr std::string_view text = R"(-- Each element 0 with probability p, otherwise divided by 1 - p; bits from Philox4x32-10.
dropout(x[...], seed : int, step : int) {p = 0.5, stream = 0} -> y[...]
  requires stream >= 0
  -- The upper 24 bits of one word per element, compared with p*2^24.
  y[...] = if philox(seed, step, stream, flat(...)) // 256 < p*16777216 then 0 else x[...] / (1 - p)
)";
};
inline constexpr Operation<DropoutText> dropout{};

/// What the library registers of this family.
using NormalisationOperations = spec::OperationList<SoftmaxText, LogSoftmaxText, LayerNormText, DropoutText>;

}  // namespace etalon::ops
