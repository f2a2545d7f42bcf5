/// \file
/// Convolution and its transpose, one text each for 1, 2 and 3 spatial axes.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Member;
using spec::Operation;

struct ConvText {
  static constexpr std::string_view text = R"(-- Cross-correlation of x with kernels k, with zeros around x.
conv(x[b, c, ..s], k[o, e, ..w], bias[o]?) {stride[..w] = 1, padding[..w] = 0, dilation[..w] = 1, groups = 1} -> y[b, o, ..((s + 2*padding - dilation*(w - 1) - 1) // stride + 1)]
  requires ..stride > 0
  requires ..dilation > 0
  requires ..padding >= 0
  requires groups > 0
  requires c == e*groups
  requires o % groups == 0
  y[n, f, ..i] = (bias[f] else 0) + sum[d, ..u] k[f, d, ..u] * (x[n, f // (o // groups) * e + d, ..(i*stride + u*dilation - padding)] else 0)
  family ..s: conv1d = 1, conv2d = 2, conv3d = 3
  also
  -- The zeros around x left out: an infinite or NaN weight does not meet them.
  y[n, f, ..i] = (bias[f] else 0) + sum[d, ..u where 0 <= ..(i*stride + u*dilation - padding) and ..(i*stride + u*dilation - padding) < ..s] k[f, d, ..u] * x[n, f // (o // groups) * e + d, ..(i*stride + u*dilation - padding)]
)";
};
inline constexpr Operation<ConvText> conv{};
inline constexpr Operation<Member<ConvText, "conv1d">> conv1d{};
inline constexpr Operation<Member<ConvText, "conv2d">> conv2d{};
inline constexpr Operation<Member<ConvText, "conv3d">> conv3d{};

struct ConvTransposeText {
  static constexpr std::string_view text = R"(-- The transpose of conv in its operand: each element of x adds a scaled kernel to the result.
conv_transpose(x[b, c, ..s], k[c, e, ..w], bias[e*groups]?) {stride[..w] = 1, padding[..w] = 0, output_padding[..w] = 0, dilation[..w] = 1, groups = 1} -> y[b, e*groups, ..((s - 1)*stride - 2*padding + dilation*(w - 1) + output_padding + 1)]
  requires ..stride > 0
  requires ..dilation > 0
  requires ..padding >= 0
  requires ..output_padding >= 0
  requires ..output_padding < ..(maximum(stride, dilation))
  requires groups > 0
  requires c % groups == 0
  y[n, f, ..j] = (bias[f] else 0) + sum[d < c // groups, ..i, ..u where ..(i*stride + u*dilation - padding) == ..j] x[n, f // e * (c // groups) + d, ..i] * k[f // e * (c // groups) + d, f % e, ..u]
  family ..s: conv_transpose1d = 1, conv_transpose2d = 2, conv_transpose3d = 3
  vjp
  -- With zeros around y~, which an infinite or NaN element that was cropped meets.
  x~[n, d, ..i] = sum[f < e, ..u] k[d, f, ..u] * (y~[n, d // (c // groups) * e + f, ..(i*stride + u*dilation - padding)] else 0)
  k~[d, f, ..u] = sum[n, ..i] x[n, d, ..i] * (y~[n, d // (c // groups) * e + f, ..(i*stride + u*dilation - padding)] else 0)
  bias~[f] = sum[n, ..j] y~[n, f, ..j]
)";
};
inline constexpr Operation<ConvTransposeText> conv_transpose{};
inline constexpr Operation<Member<ConvTransposeText, "conv_transpose1d">> conv_transpose1d{};
inline constexpr Operation<Member<ConvTransposeText, "conv_transpose2d">> conv_transpose2d{};
inline constexpr Operation<Member<ConvTransposeText, "conv_transpose3d">> conv_transpose3d{};

/// What the library registers of this family.
using ConvolutionOperations = spec::OperationList<ConvText, ConvTransposeText>;

}  // namespace etalon::ops
