/// \file
/// Convolution and pooling, one text for any number of spatial axes.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

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
)";
};
inline constexpr Operation<ConvText> conv{};

struct Conv1dText {
  static constexpr std::string_view text = ConvText::text;
  static constexpr std::string_view member = "conv1d";
};
inline constexpr Operation<Conv1dText> conv1d{};

struct Conv2dText {
  static constexpr std::string_view text = ConvText::text;
  static constexpr std::string_view member = "conv2d";
};
inline constexpr Operation<Conv2dText> conv2d{};

struct Conv3dText {
  static constexpr std::string_view text = ConvText::text;
  static constexpr std::string_view member = "conv3d";
};
inline constexpr Operation<Conv3dText> conv3d{};

struct MaxPoolText {
  static constexpr std::string_view text = R"(-- The largest in each window; what lies outside x does not count, the first of equals has the derivative.
max_pool(x[b, c, ..s]) {kernel[..s], stride[..s] = 1, padding[..s] = 0, dilation[..s] = 1} -> y[b, c, ..((s + 2*padding - dilation*(kernel - 1) - 1) // stride + 1)]
  requires ..kernel > 0
  requires ..stride > 0
  requires ..dilation > 0
  requires ..padding >= 0
  requires ..s > 0
  -- Every window then reaches into x, and the `else` is never taken.
  requires ..(2*padding) <= ..kernel
  requires ..(padding*(dilation - 1)) == 0
  y[n, f, ..i] = max[..u < ..kernel where inside(x[n, f, ..(i*stride + u*dilation - padding)])] x[n, f, ..(i*stride + u*dilation - padding)] else 0
  family ..s: max_pool1d = 1, max_pool2d = 2, max_pool3d = 3
)";
};
inline constexpr Operation<MaxPoolText> max_pool{};

struct MaxPool1dText {
  static constexpr std::string_view text = MaxPoolText::text;
  static constexpr std::string_view member = "max_pool1d";
};
inline constexpr Operation<MaxPool1dText> max_pool1d{};

struct MaxPool2dText {
  static constexpr std::string_view text = MaxPoolText::text;
  static constexpr std::string_view member = "max_pool2d";
};
inline constexpr Operation<MaxPool2dText> max_pool2d{};

struct MaxPool3dText {
  static constexpr std::string_view text = MaxPoolText::text;
  static constexpr std::string_view member = "max_pool3d";
};
inline constexpr Operation<MaxPool3dText> max_pool3d{};

/// What the library registers of this family.
using WindowsOperations = spec::OperationList<ConvText, Conv1dText, Conv2dText, Conv3dText, MaxPoolText,
                                              MaxPool1dText, MaxPool2dText, MaxPool3dText>;

}  // namespace etalon::ops
