/// \file
/// Attention, and what tells positions apart.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct ScaledDotProductAttentionText {
  static constexpr std::string_view text = R"(-- Means of the rows of v, weighted by the softmax of scaled products of q and k; a row that attends to nothing is 0.
scaled_dot_product_attention(q[..p, m, d], k[..p, n, d], v[..p, n, e], mask[..b, g, h]? : bool, scale?) {causal = false} -> y[..(p & b), m, e]
  requires g == m or g == 1
  requires h == n or h == 1
  let ..o = p & b
  -- A true mask lets row r of q attend to row t of k; causal, no row attends to a later one.
  live[..i < ..o, r < m, t < n] = (mask[..i, (if g == m then r else 0), (if h == n then t else 0)] else true) and (not causal or t <= r)
  s[..i, r, t] = (sum[j] q[..i, r, j] * k[..i, t, j]) * (scale[] else 1 / sqrt(d))
  top[..i < ..o, r < m] = detach(max[t where live[..i, r, t]] s[..i, r, t] else 0)
  w[..i < ..o, r, t] = if live[..i, r, t] then exp(s[..i, r, t] - top[..i, r]) else 0
  total[..i, r] = sum[t] w[..i, r, t]
  a[..i, r, t] = if live[..i, r, t] then w[..i, r, t] / total[..i, r] else 0
  y[..i, r, j] = sum[t] a[..i, r, t] * v[..i, t, j]
)";
};
inline constexpr Operation<ScaledDotProductAttentionText> scaled_dot_product_attention{};

struct MultiHeadAttentionText {
  static constexpr std::string_view text = R"(-- Self-attention of x in several heads: projections to queries, keys and values, attention, projection back.
multi_head_attention(x[..., n, d], wq[a, d], wk[a, d], wv[a, d], wo[d, a], bq[a]?, bk[a]?, bv[a]?, bo[d]?, mask[n, n]? : bool) {heads : int, causal = false} -> y[..., n, d]
  requires heads > 0
  requires a % heads == 0
  let e = a // heads
  q[..., g < heads, r, k < e] = (bq[g*e + k] else 0) + sum[j] wq[g*e + k, j] * x[..., r, j]
  p[..., g < heads, r, k < e] = (bk[g*e + k] else 0) + sum[j] wk[g*e + k, j] * x[..., r, j]
  v[..., g < heads, r, k < e] = (bv[g*e + k] else 0) + sum[j] wv[g*e + k, j] * x[..., r, j]
  -- A true mask lets row r attend to row t; causal, no row attends to a later one.
  live[r < n, t < n] = (mask[r, t] else true) and (not causal or t <= r)
  s[..., g, r, t] = (sum[k] q[..., g, r, k] * p[..., g, t, k]) / sqrt(e)
  top[..., g, r] = detach(max[t where live[r, t]] s[..., g, r, t] else 0)
  w[..., g, r, t] = if live[r, t] then exp(s[..., g, r, t] - top[..., g, r]) else 0
  total[..., g, r] = sum[t] w[..., g, r, t]
  c[..., g, r, t] = if live[r, t] then w[..., g, r, t] / total[..., g, r] else 0
  h[..., g, r, k] = sum[t] c[..., g, r, t] * v[..., g, t, k]
  y[..., r, f] = (bo[f] else 0) + sum[g, k] wo[f, g*e + k] * h[..., g, r, k]
)";
};
inline constexpr Operation<MultiHeadAttentionText> multi_head_attention{};

struct RopeText {
  static constexpr std::string_view text = R"(-- Rotary position embedding: pairs of elements turned by angles that grow with the position.
rope(x[..., n, d], pos[n]? : int) {base = 10000.0, pairing = interleaved | half} -> y[..., n, d]
  requires d % 2 == 0
  angle[p < n, i < d // 2] = (pos[p] else p) * base^(-2*i / d)
  -- interleaved turns elements 2i and 2i + 1 together, half elements i and i + d/2.
  y[..., p, 2*i] when pairing == interleaved = x[..., p, 2*i]*cos(angle[p, i]) - x[..., p, 2*i + 1]*sin(angle[p, i])
  y[..., p, 2*i + 1] when pairing == interleaved = x[..., p, 2*i]*sin(angle[p, i]) + x[..., p, 2*i + 1]*cos(angle[p, i])
  y[..., p, j] when pairing == half = x[..., p, j]*cos(angle[p, j % (d // 2)]) + (if j < d // 2 then -x[..., p, j + d // 2] else x[..., p, j - d // 2])*sin(angle[p, j % (d // 2)])
)";
};
inline constexpr Operation<RopeText> rope{};

struct SinusoidalEncodingText {
  static constexpr std::string_view text = R"(-- Sines and cosines of each position at falling frequencies, in turn.
sinusoidal_encoding(pos[...] : int) {width : int, base = 10000.0, dtype = f32} -> y[..., width] : dtype
  requires dtype == f32 or dtype == f64 or dtype == f16 or dtype == bf16
  requires width >= 0
  angle[..., j < (width + 1) // 2] = pos[...] * base^(-2*j / width)
  y[..., i] = if i % 2 == 0 then sin(angle[..., i // 2]) else cos(angle[..., i // 2])
)";
};
inline constexpr Operation<SinusoidalEncodingText> sinusoidal_encoding{};

/// What the library registers of this family.
using AttentionOperations = spec::OperationList<ScaledDotProductAttentionText, MultiHeadAttentionText, RopeText,
                                                SinusoidalEncodingText>;

}  // namespace etalon::ops
