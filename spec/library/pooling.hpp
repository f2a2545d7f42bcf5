/// \file
/// Pooling over windows and over whole images, and its opposite; one text each for 1, 2 and 3 spatial axes.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Member;
using spec::Operation;

struct MaxPoolText {
  static constexpr std::string_view text = R"(-- The largest in each window; what lies outside x does not count, the first of equals has the derivative.
max_pool(x[b, c, ..s]) {kernel[..s], stride[..s] = kernel, padding[..s] = 0, dilation[..s] = 1} -> y[b, c, ..((s + 2*padding - dilation*(kernel - 1) - 1) // stride + 1)]
  requires ..kernel > 0
  requires ..stride > 0
  requires ..dilation > 0
  requires ..padding >= 0
  requires ..s > 0
  -- Every window then reaches into x, and the `else` is never taken: a window starts before the end of x, ends behind
  -- its beginning, and with padding its steps are too short to miss x.
  requires ..(2*padding) <= ..kernel
  requires ..(padding*maximum(dilation - s, 0)) == 0
  y[n, f, ..i] = max[..u < ..kernel where inside(x[n, f, ..(i*stride + u*dilation - padding)])] x[n, f, ..(i*stride + u*dilation - padding)] else 0
  family ..s: max_pool1d = 1, max_pool2d = 2, max_pool3d = 3
)";
};
inline constexpr Operation<MaxPoolText> max_pool{};
inline constexpr Operation<Member<MaxPoolText, "max_pool1d">> max_pool1d{};
inline constexpr Operation<Member<MaxPoolText, "max_pool2d">> max_pool2d{};
inline constexpr Operation<Member<MaxPoolText, "max_pool3d">> max_pool3d{};

struct AvgPoolText {
  static constexpr std::string_view text = R"(-- The mean of each window, with zeros around x, which count or not.
avg_pool(x[b, c, ..s]) {kernel[..s], stride[..s] = kernel, padding[..s] = 0, count_include_pad = true} -> y[b, c, ..o]
  requires ..kernel > 0
  requires ..stride > 0
  requires ..padding >= 0
  requires ..s > 0
  -- Every window then reaches into x.
  requires ..(2*padding) <= ..kernel
  let ..o = (s + 2*padding - kernel) // stride + 1
  cells[..i < ..o] = sum[..u < ..kernel where ..(i*stride + u - padding) >= 0 and ..(i*stride + u - padding) < ..s] 1
  y[n, f, ..i] = (sum[..u < ..kernel] (x[n, f, ..(i*stride + u - padding)] else 0)) / (if count_include_pad then size(..kernel) else cells[..i])
  family ..s: avg_pool1d = 1, avg_pool2d = 2, avg_pool3d = 3
)";
};
inline constexpr Operation<AvgPoolText> avg_pool{};
inline constexpr Operation<Member<AvgPoolText, "avg_pool1d">> avg_pool1d{};
inline constexpr Operation<Member<AvgPoolText, "avg_pool2d">> avg_pool2d{};
inline constexpr Operation<Member<AvgPoolText, "avg_pool3d">> avg_pool3d{};

struct SmoothMaxPoolText {
  static constexpr std::string_view text = R"(-- temperature * log of the sum of exp(x/temperature) over each window; what lies outside x does not count.
smooth_max_pool(x[b, c, ..s]) {kernel[..s], stride[..s] = kernel, padding[..s] = 0, temperature = 1.0} -> y[b, c, ..o]
  requires temperature > 0
  requires ..kernel > 0
  requires ..stride > 0
  requires ..padding >= 0
  requires ..s > 0
  -- Every window then reaches into x, and the `else` is never taken.
  requires ..(2*padding) <= ..kernel
  let ..o = (s + 2*padding - kernel) // stride + 1
  top[n < b, f < c, ..i < ..o] = detach(max[..u < ..kernel where inside(x[n, f, ..(i*stride + u - padding)])] x[n, f, ..(i*stride + u - padding)] else 0)
  -- An infinite largest element is no shift: inf - inf would be NaN.
  shift[n, f, ..i] = if isinf(top[n, f, ..i]) then 0 else top[n, f, ..i]
  y[n, f, ..i] = shift[n, f, ..i] + temperature*log(sum[..u < ..kernel where inside(x[n, f, ..(i*stride + u - padding)])] exp((x[n, f, ..(i*stride + u - padding)] - shift[n, f, ..i]) / temperature))
  family ..s: smooth_max_pool1d = 1, smooth_max_pool2d = 2, smooth_max_pool3d = 3
  vjp
  x~[n, f, ..k] = sum[..i < ..o, ..u < ..kernel where ..(i*stride + u - padding) == ..k] exp((x[n, f, ..k] - y[n, f, ..i]) / temperature)*y~[n, f, ..i]
  jvp
  y'[n, f, ..i] = sum[..u < ..kernel where inside(x[n, f, ..(i*stride + u - padding)])] exp((x[n, f, ..(i*stride + u - padding)] - y[n, f, ..i]) / temperature)*x'[n, f, ..(i*stride + u - padding)]
)";
};
inline constexpr Operation<SmoothMaxPoolText> smooth_max_pool{};
inline constexpr Operation<Member<SmoothMaxPoolText, "smooth_max_pool1d">> smooth_max_pool1d{};
inline constexpr Operation<Member<SmoothMaxPoolText, "smooth_max_pool2d">> smooth_max_pool2d{};
inline constexpr Operation<Member<SmoothMaxPoolText, "smooth_max_pool3d">> smooth_max_pool3d{};

struct AdaptiveAvgPoolText {
  static constexpr std::string_view text = R"(-- The means of `output` windows that cover x: window i goes from floor(i*s/output) to ceil((i + 1)*s/output).
adaptive_avg_pool(x[b, c, ..s]) {output[..s]} -> y[b, c, ..output]
  requires ..output > 0
  requires ..s > 0
  cells[..i < ..output] = sum[..k < ..s where ..(i*s // output) <= ..k and ..k < ..(((i + 1)*s + output - 1) // output)] 1
  y[n, f, ..i] = (sum[..k where ..(i*s // output) <= ..k and ..k < ..(((i + 1)*s + output - 1) // output)] x[n, f, ..k]) / cells[..i]
  family ..s: adaptive_avg_pool1d = 1, adaptive_avg_pool2d = 2, adaptive_avg_pool3d = 3
)";
};
inline constexpr Operation<AdaptiveAvgPoolText> adaptive_avg_pool{};
inline constexpr Operation<Member<AdaptiveAvgPoolText, "adaptive_avg_pool1d">> adaptive_avg_pool1d{};
inline constexpr Operation<Member<AdaptiveAvgPoolText, "adaptive_avg_pool2d">> adaptive_avg_pool2d{};
inline constexpr Operation<Member<AdaptiveAvgPoolText, "adaptive_avg_pool3d">> adaptive_avg_pool3d{};

struct GlobalAvgPoolText {
  static constexpr std::string_view text = R"(-- The mean over all spatial axes.
global_avg_pool(x[b, c, ..s]) {keepdims = true} -> y[b, c, keep(..s, keepdims)]
  requires ..s > 0
  y[n, f, ..u] = (sum[..k] x[n, f, ..k]) / size(..s)
  family ..s: global_avg_pool1d = 1, global_avg_pool2d = 2, global_avg_pool3d = 3
)";
};
inline constexpr Operation<GlobalAvgPoolText> global_avg_pool{};
inline constexpr Operation<Member<GlobalAvgPoolText, "global_avg_pool1d">> global_avg_pool1d{};
inline constexpr Operation<Member<GlobalAvgPoolText, "global_avg_pool2d">> global_avg_pool2d{};
inline constexpr Operation<Member<GlobalAvgPoolText, "global_avg_pool3d">> global_avg_pool3d{};

struct UpsampleNearestText {
  static constexpr std::string_view text = R"(-- Every element `scale` times along each spatial axis.
upsample_nearest(x[b, c, ..s]) {scale[..s]} -> y[b, c, ..(s*scale)]
  requires ..scale > 0
  y[n, f, ..i] = x[n, f, ..(i // scale)]
  family ..s: upsample_nearest1d = 1, upsample_nearest2d = 2, upsample_nearest3d = 3
)";
};
inline constexpr Operation<UpsampleNearestText> upsample_nearest{};
inline constexpr Operation<Member<UpsampleNearestText, "upsample_nearest1d">> upsample_nearest1d{};
inline constexpr Operation<Member<UpsampleNearestText, "upsample_nearest2d">> upsample_nearest2d{};
inline constexpr Operation<Member<UpsampleNearestText, "upsample_nearest3d">> upsample_nearest3d{};

/// What the library registers of this family.
using PoolingOperations = spec::OperationList<MaxPoolText, AvgPoolText, SmoothMaxPoolText, AdaptiveAvgPoolText,
                                              GlobalAvgPoolText, UpsampleNearestText>;

}  // namespace etalon::ops
