/// \file
/// Attention and the blocks of transformers. Norms come before what they are of.
#pragma once

#include "training/layers/layers.hpp"

namespace etalon::training::layers {

/// The operation of `CrossAttention`.
struct CrossAttentionText {
  static constexpr std::string_view text = R"(-- What each row of x takes from the rows of z, in several heads: projections, attention, projection back.
cross_attention(x[..., m, d], z[..., n, c], wq[a, d], wk[a, c], wv[a, c], wo[d, a]) {heads : int} -> y[..., m, d]
  requires heads > 0
  requires a % heads == 0
  let e = a // heads
  q[..., g < heads, r, k < e] = sum[j] wq[g*e + k, j] * x[..., r, j]
  p[..., g < heads, t, k < e] = sum[j] wk[g*e + k, j] * z[..., t, j]
  v[..., g < heads, t, k < e] = sum[j] wv[g*e + k, j] * z[..., t, j]
  s[..., g, r, t] = (sum[k] q[..., g, r, k] * p[..., g, t, k]) / sqrt(e)
  top[..., g, r] = detach(max[t] s[..., g, r, t])
  w[..., g, r, t] = exp(s[..., g, r, t] - top[..., g, r])
  total[..., g, r] = sum[t] w[..., g, r, t]
  h[..., g, r, k] = sum[t] (w[..., g, r, t] / total[..., g, r]) * v[..., g, t, k]
  y[..., r, f] = sum[g, k] wo[f, g*e + k] * h[..., g, r, k]
)";
  static constexpr bool generated = true;  ///< programs that call it need its definition
};
inline constexpr spec::Operation<CrossAttentionText> cross_attention{};

/// x[…, n, width] → the same: each row takes from the others. `how` are attributes of multi_head_attention, such as
/// `heads=4, causal=true`.
template <template <class> class V, std::int64_t width, FixedText how>
struct Attention {
  using Square = V<Shape<width, width>>;
  BOOST_HANA_DEFINE_STRUCT(Attention, (Square, queries), (Square, keys), (Square, values), (Square, joined));

  template <class X>
  [[nodiscard]] auto operator()(const X& x, SourceLine line = SourceLine::current()) const {
    using spec::absent;
    return ops::multi_head_attention.template with<how>.at(line)(x, queries, keys, values, joined, absent, absent, absent, absent, absent);
  }
};

/// x[…, m, width] and z[…, n, other] → […, m, width]: each row of x takes from the rows of z. `how` is `heads=4`.
template <template <class> class V, std::int64_t width, std::int64_t other, FixedText how>
struct CrossAttention {
  using Square = V<Shape<width, width>>;
  using Across = V<Shape<width, other>>;
  BOOST_HANA_DEFINE_STRUCT(CrossAttention, (Square, queries), (Across, keys), (Across, values), (Square, joined));

  template <class X, class Z>
  [[nodiscard]] auto operator()(const X& x, const Z& z, SourceLine line = SourceLine::current()) const {
    return cross_attention.template with<how>.at(line)(x, z, queries, keys, values, joined);
  }
};

/// Attention, then the inner layers, each added to what it is given. With `causal=true` it is a block of a GPT.
template <template <class> class V, std::int64_t width, std::int64_t inner, FixedText how>
struct EncoderBlock {
  using Norm = LayerNorm<V, width>;
  using Own = Attention<V, width, how>;
  using Inner = FeedForward<V, width, inner>;
  BOOST_HANA_DEFINE_STRUCT(EncoderBlock, (Norm, before), (Own, attention), (Norm, between), (Inner, inner_layers));

  template <class X>
  [[nodiscard]] auto operator()(const X& x, SourceLine line = SourceLine::current()) const {
    const auto attended = x + attention(before(x, line), line);
    return attended + inner_layers(between(attended, line), line);
  }
};

/// Attention to itself, then to what an encoder made, then the inner layers. `how` is of the first, `across` of the second.
template <template <class> class V, std::int64_t width, std::int64_t other, std::int64_t inner, FixedText how, FixedText across>
struct DecoderBlock {
  using Norm = LayerNorm<V, width>;
  using Own = Attention<V, width, how>;
  using Other = CrossAttention<V, width, other, across>;
  using Inner = FeedForward<V, width, inner>;
  BOOST_HANA_DEFINE_STRUCT(DecoderBlock, (Norm, before), (Own, attention), (Norm, between), (Other, cross_attention), (Norm, after),
                           (Inner, inner_layers));

  template <class X, class Z>
  [[nodiscard]] auto operator()(const X& x, const Z& z, SourceLine line = SourceLine::current()) const {
    const auto attended = x + attention(before(x, line), line);
    const auto crossed = attended + cross_attention(between(attended, line), z, line);
    return crossed + inner_layers(after(crossed, line), line);
  }
};

}  // namespace etalon::training::layers
