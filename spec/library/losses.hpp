/// \file
/// Losses.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct CrossEntropyText {
  static constexpr std::string_view text = R"(-- Minus the logarithm of the softmax of x at class t, with class weights and smoothed labels.
cross_entropy(x[..., c], t[...] : int, w[c]?) {ignore_index = -100, label_smoothing = 0.0, reduction = mean | sum | none} -> y[only(..., reduction == none)]
  requires c > 0
  top[...] = detach(max[k] x[..., k])
  z[..., k] = x[..., k] - top[...]
  s[...] = log(sum[j] exp(z[..., j]))
  l[..., k] = z[..., k] - s[...]
  -- The weight of each row: absent weights are 1, ignored rows 0, classes out of range count as weight 1 and value 0.
  a[...] = if t[...] == ignore_index then 0.0 else (w[t[...]] else 1.0)
  hit[...] = -(a[...]*(l[..., t[...]] else 0))
  -- Without smoothing the other classes do not count, not even where they are infinite.
  soft[...] = if label_smoothing == 0 then hit[...] else (1 - label_smoothing)*hit[...] - label_smoothing/c*sum[k] (w[k] else 1)*l[..., k]
  each[...] = if t[...] == ignore_index then 0 else soft[...]
  y[...] when reduction == none = each[...]
  y when reduction == sum = sum[...] each[...]
  y when reduction == mean = (sum[...] each[...]) / sum[...] a[...]
)";
};
inline constexpr Operation<CrossEntropyText> cross_entropy{};

struct MseText {
  static constexpr std::string_view text = R"(-- The squared difference.
mse(x[...], t[...]) {reduction = mean | sum | none} -> y[only(..., reduction == none)]
  d[...] = x[...] - t[...]
  y[...] when reduction == none = d[...] * d[...]
  y when reduction == sum = sum[...] d[...] * d[...]
  y when reduction == mean = (sum[...] d[...] * d[...]) / size(...)
)";
};
inline constexpr Operation<MseText> mse{};

struct HingeText {
  static constexpr std::string_view text = R"(-- 1 - t*x where that is positive, for targets t of -1 and 1; its derivative at the kink is 0.
hinge(x[...], t[...]) {reduction = mean | sum | none} -> y[only(..., reduction == none)]
  m[...] = 1 - t[...]*x[...]
  each[...] = if m[...] <= 0 then 0 else m[...]
  y[...] when reduction == none = each[...]
  y when reduction == sum = sum[...] each[...]
  y when reduction == mean = (sum[...] each[...]) / size(...)
)";
};
inline constexpr Operation<HingeText> hinge{};

struct PinballText {
  static constexpr std::string_view text = R"(-- The loss whose least expectation is at a quantile (Koenker and Bassett, 1978); its derivative at the kink is 0.
pinball(x[...], t[...]) {quantile = 0.5, reduction = mean | sum | none} -> y[only(..., reduction == none)]
  requires 0 <= quantile and quantile <= 1
  d[...] = t[...] - x[...]
  each[...] = if d[...] > 0 then quantile*d[...] else if d[...] == 0 then 0 else (quantile - 1)*d[...]
  y[...] when reduction == none = each[...]
  y when reduction == sum = sum[...] each[...]
  y when reduction == mean = (sum[...] each[...]) / size(...)
)";
};
inline constexpr Operation<PinballText> pinball{};

/// What the library registers of this family.
using LossesOperations = spec::OperationList<CrossEntropyText, MseText, HingeText, PinballText>;

}  // namespace etalon::ops
