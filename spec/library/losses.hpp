/// \file
/// Losses.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct CrossEntropyText {
  static constexpr std::string_view text = R"(-- Minus the logarithm of the softmax of x at class t, with class weights and smoothed labels; NaN where t is no class.
cross_entropy(x[..., c @ axis], t[...] : int, w[c]?) {axis = -1, ignore_index = -100, label_smoothing = 0.0, reduction = mean | sum | none} -> y[only(..., reduction == none)]
  requires c > 0
  requires 0 <= label_smoothing and label_smoothing <= 1
  top[...] = detach(max[k] x[..., k @ axis])
  z[..., k @ axis] = x[..., k @ axis] - top[...]
  s[...] = log(sum[j] exp(z[..., j @ axis]))
  l[..., k @ axis] = z[..., k @ axis] - s[...]
  -- The weight of each row: absent weights are 1, ignored rows 0. A target that is no class has no value.
  a[...] = if t[...] == ignore_index then 0.0 else (w[t[...]] else 1.0)
  hit[...] = if inside(l[..., t[...] @ axis]) then -(a[...]*(l[..., t[...] @ axis] else 0)) else 0/0
  -- Without smoothing the other classes do not count, not even where they are infinite.
  soft[...] = if label_smoothing == 0 then hit[...] else (1 - label_smoothing)*hit[...] - label_smoothing/c*sum[k] (w[k] else 1)*l[..., k @ axis]
  each[...] = if t[...] == ignore_index then 0 else soft[...]
  y[...] when reduction == none = each[...]
  y when reduction == sum = sum[...] each[...]
  y when reduction == mean = (sum[...] each[...]) / sum[...] a[...]
  also
  p[...] = if t[...] == ignore_index then 0 else hit[...]
  q[...] = if t[...] == ignore_index then 0 else sum[k] (w[k] else 1)*l[..., k @ axis]
  y[...] when reduction == none = each[...]
  y when reduction == sum = (if label_smoothing == 0 then sum[...] p[...] else (1 - label_smoothing)*(sum[...] p[...]) - label_smoothing/c*(sum[...] q[...]))
  y when reduction == mean = (if label_smoothing == 0 then (sum[...] p[...]) / (sum[...] a[...]) else (1 - label_smoothing)*((sum[...] p[...]) / (sum[...] a[...])) - label_smoothing/c*((sum[...] q[...]) / (sum[...] a[...])))
  vjp
  -- Through the rounded logarithm of the softmax: its cotangents g, less the softmax times their sum.
  u[...] when reduction == none = y~[...]
  u[... < ...] when reduction == sum = y~
  u[... < ...] when reduction == mean = y~ / sum[...] a[...]
  v[...] = if t[...] == ignore_index then 0 else u[...]
  hot[..., k < c] = if t[...] == k then 1.0 else 0.0
  g[..., k < c] = -(v[...]*(w[k] else 1)*((1 - label_smoothing)*hot[..., k] + label_smoothing/c))
  x~[..., k @ axis] = g[..., k] - exp(l[..., k @ axis])*(sum[j] g[..., j])
  e[..., k < c] = if label_smoothing == 0 then (if t[...] == k then v[...]*l[..., k @ axis] else 0) else v[...]*l[..., k @ axis]*((1 - label_smoothing)*hot[..., k] + label_smoothing/c)
  w~[k] when reduction == none = -(sum[...] e[..., k])
  w~[k] when reduction == sum = -(sum[...] e[..., k])
  w~[k] when reduction == mean = -(sum[...] e[..., k]) - y*(sum[...] v[...]*hot[..., k])
)";
};
inline constexpr Operation<CrossEntropyText> cross_entropy{};

struct SoftCrossEntropyText {
  static constexpr std::string_view text = R"(-- Cross entropy where the target is a probability for each class.
soft_cross_entropy(x[..., c @ axis], t[..., c @ axis], w[c]?) {axis = -1, label_smoothing = 0.0, reduction = mean | sum | none} -> y[only(..., reduction == none)]
  requires c > 0
  requires 0 <= label_smoothing and label_smoothing <= 1
  top[...] = detach(max[k] x[..., k @ axis])
  z[..., k @ axis] = x[..., k @ axis] - top[...]
  s[...] = log(sum[j] exp(z[..., j @ axis]))
  p[..., k @ axis] = if label_smoothing == 0 then t[..., k @ axis] else (1 - label_smoothing)*t[..., k @ axis] + label_smoothing/c
  each[...] = -(sum[k] (w[k] else 1)*p[..., k @ axis]*(z[..., k @ axis] - s[...]))
  y[...] when reduction == none = each[...]
  y when reduction == sum = sum[...] each[...]
  y when reduction == mean = (sum[...] each[...]) / size(...)
  vjp
  -- Through the rounded logarithm of the softmax, as in cross_entropy.
  l[..., k @ axis] = z[..., k @ axis] - s[...]
  u[...] when reduction == none = y~[...]
  u[... < ...] when reduction == sum = y~
  u[... < ...] when reduction == mean = y~ / size(...)
  g[..., k @ axis] = -((w[k] else 1)*p[..., k @ axis]*u[...])
  x~[..., k @ axis] = g[..., k @ axis] - exp(l[..., k @ axis])*(sum[j] g[..., j @ axis])
  t~[..., k @ axis] = -((1 - label_smoothing)*(w[k] else 1)*l[..., k @ axis]*u[...])
  w~[k] = -(sum[...] p[..., k @ axis]*l[..., k @ axis]*u[...])
)";
};
inline constexpr Operation<SoftCrossEntropyText> soft_cross_entropy{};

struct NllText {
  static constexpr std::string_view text = R"(-- Minus x at class t, for x that are logarithms of probabilities, with class weights; NaN where t is no class.
nll(x[..., c @ axis], t[...] : int, w[c]?) {axis = -1, ignore_index = -100, reduction = mean | sum | none} -> y[only(..., reduction == none)]
  -- As in cross_entropy: absent weights are 1, ignored rows 0, and a target that is no class has no value.
  a[...] = if t[...] == ignore_index then 0.0 else (w[t[...]] else 1.0)
  hit[...] = if inside(x[..., t[...] @ axis]) then -(a[...]*(x[..., t[...] @ axis] else 0)) else 0/0
  each[...] = if t[...] == ignore_index then 0 else hit[...]
  y[...] when reduction == none = each[...]
  y when reduction == sum = sum[...] each[...]
  y when reduction == mean = (sum[...] each[...]) / sum[...] a[...]
)";
};
inline constexpr Operation<NllText> nll{};

struct BceWithLogitsText {
  static constexpr std::string_view text = R"(-- Minus t*log(sigmoid(x)) + (1 - t)*log(1 - sigmoid(x)), the first part times pos_weight, the whole times weight.
bce_with_logits(x[..p], t[..p], weight[..q]?, pos_weight[..r]?) {reduction = mean | sum | none} -> y[only(..(p & q & r), reduction == none)]
  -- softplus(-x) and softplus(x): both branches are the whole function, the chosen one does not overflow.
  one[..i] = if x[..i] > 0 then log1p(exp(-x[..i])) else log1p(exp(x[..i])) - x[..i]
  zero[..i] = if x[..i] > 0 then log1p(exp(-x[..i])) + x[..i] else log1p(exp(x[..i]))
  each[..i < ..(p & q & r)] = (weight[..i] else 1)*((pos_weight[..i] else 1)*t[..i]*one[..i] + (1 - t[..i])*zero[..i])
  y[..i] when reduction == none = each[..i]
  y when reduction == sum = sum[..i] each[..i]
  y when reduction == mean = (sum[..i] each[..i]) / size(..(p & q & r))
  also
  m[..i] = maximum(-x[..i], 0)
  each[..i < ..(p & q & r)] = (weight[..i] else 1)*((1 - t[..i])*x[..i] + (1 + ((pos_weight[..i] else 1) - 1)*t[..i])*(m[..i] + log(exp(-m[..i]) + exp(-x[..i] - m[..i]))))
  y[..i] when reduction == none = each[..i]
  y when reduction == sum = sum[..i] each[..i]
  y when reduction == mean = (sum[..i] each[..i]) / size(..(p & q & r))
  also
  -- Without weights of ones its terms are added in any order.
  m[..i] = maximum(-x[..i], 0)
  l[..i < ..(p & q & r)] = if (pos_weight[..i] else 1) == 1 then 1 else 1 + ((pos_weight[..i] else 1) - 1)*t[..i]
  each[..i < ..(p & q & r)] = (weight[..i] else 1)*((1 - t[..i])*x[..i] + l[..i]*m[..i] + l[..i]*log(exp(-m[..i]) + exp(-x[..i] - m[..i])))
  y[..i] when reduction == none = each[..i]
  y when reduction == sum = sum[..i] each[..i]
  y when reduction == mean = (sum[..i] each[..i]) / size(..(p & q & r))
)";
};
inline constexpr Operation<BceWithLogitsText> bce_with_logits{};

struct KlDivText {
  static constexpr std::string_view text = R"(-- t*(log(t) - x) for logarithms of probabilities x and probabilities t, or their logarithms.
kl_div(x[b, ..s], t[b, ..s]) {log_target = false, reduction = mean | batchmean | sum | none} -> y[only(b, reduction == none), only(..s, reduction == none)]
  each[n, ..k] = if log_target then exp(t[n, ..k])*(t[n, ..k] - x[n, ..k]) else if t[n, ..k] == 0 then 0 else t[n, ..k]*(log(t[n, ..k]) - x[n, ..k])
  y[n, ..k] when reduction == none = each[n, ..k]
  y when reduction == sum = sum[n, ..k] each[n, ..k]
  y when reduction == batchmean = (sum[n, ..k] each[n, ..k]) / b
  y when reduction == mean = (sum[n, ..k] each[n, ..k]) / (b*size(..s))
  also
  e[n, ..k] = if log_target then exp(t[n, ..k])*(t[n, ..k] - x[n, ..k]) else if t[n, ..k] == 0 then 0 else t[n, ..k]*log(t[n, ..k]) - t[n, ..k]*x[n, ..k]
  y[n, ..k] when reduction == none = e[n, ..k]
  y when reduction == sum = sum[n, ..k] e[n, ..k]
  y when reduction == batchmean = (sum[n, ..k] e[n, ..k]) / b
  y when reduction == mean = (sum[n, ..k] e[n, ..k]) / (b*size(..s))
  vjp
  g[n, ..k] when reduction == none = y~[n, ..k]
  g[n < b, ..k < ..s] when reduction == sum = y~
  g[n < b, ..k < ..s] when reduction == batchmean = y~ / b
  g[n < b, ..k < ..s] when reduction == mean = y~ / (b*size(..s))
  x~[n, ..k] = -(g[n, ..k]*(if log_target then exp(t[n, ..k]) else t[n, ..k]))
  t~[n, ..k] = if log_target then g[n, ..k]*(exp(t[n, ..k])*(t[n, ..k] - x[n, ..k] + 1)) else if t[n, ..k] == 0 then 0 else g[n, ..k]*log(t[n, ..k]) + g[n, ..k]*(t[n, ..k]/t[n, ..k]) - g[n, ..k]*x[n, ..k]
  jvp
  d[n, ..k] = if log_target then exp(t[n, ..k])*((t[n, ..k] - x[n, ..k] + 1)*t'[n, ..k] - x'[n, ..k]) else if t[n, ..k] == 0 then 0 else t'[n, ..k]*log(t[n, ..k]) + t'[n, ..k]*(t[n, ..k]/t[n, ..k]) - t'[n, ..k]*x[n, ..k] - t[n, ..k]*x'[n, ..k]
  y'[n, ..k] when reduction == none = d[n, ..k]
  y' when reduction == sum = sum[n, ..k] d[n, ..k]
  y' when reduction == batchmean = (sum[n, ..k] d[n, ..k]) / b
  y' when reduction == mean = (sum[n, ..k] d[n, ..k]) / (b*size(..s))
)";
};
inline constexpr Operation<KlDivText> kl_div{};

struct MseText {
  static constexpr std::string_view text = R"(-- The squared difference.
mse(x[...], t[...]) {reduction = mean | sum | none} -> y[only(..., reduction == none)]
  d[...] = x[...] - t[...]
  y[...] when reduction == none = d[...] * d[...]
  y when reduction == sum = sum[...] d[...] * d[...]
  y when reduction == mean = (sum[...] d[...] * d[...]) / size(...)
  jvp
  s[...] = 2*d[...]
  e[...] = s[...]*x'[...] - s[...]*t'[...]
  y'[...] when reduction == none = e[...]
  y' when reduction == sum = sum[...] e[...]
  y' when reduction == mean = (sum[...] e[...]) / size(...)
)";
};
inline constexpr Operation<MseText> mse{};

struct L1Text {
  static constexpr std::string_view text = R"(-- The absolute difference; its derivative where it is 0 is 0.
l1(x[...], t[...]) {reduction = mean | sum | none} -> y[only(..., reduction == none)]
  each[...] = abs(x[...] - t[...])
  y[...] when reduction == none = each[...]
  y when reduction == sum = sum[...] each[...]
  y when reduction == mean = (sum[...] each[...]) / size(...)
)";
};
inline constexpr Operation<L1Text> l1{};

struct HuberText {
  static constexpr std::string_view text = R"(-- Half the square of a difference up to delta, beyond it delta times the difference less delta/2.
huber(x[...], t[...]) {delta = 1.0, reduction = mean | sum | none} -> y[only(..., reduction == none)]
  requires delta > 0
  d[...] = x[...] - t[...]
  each[...] = if abs(d[...]) > delta then delta*(abs(d[...]) - delta/2) else d[...]*d[...]/2
  y[...] when reduction == none = each[...]
  y when reduction == sum = sum[...] each[...]
  y when reduction == mean = (sum[...] each[...]) / size(...)
  also
  each[...] = if abs(d[...]) > delta then delta*(abs(d[...]) - delta) + delta*delta/2 else d[...]*d[...]/2
  y[...] when reduction == none = each[...]
  y when reduction == sum = sum[...] each[...]
  y when reduction == mean = (sum[...] each[...]) / size(...)
  jvp
  s[...] = if abs(d[...]) > delta then delta*sign(d[...]) else d[...]
  e[...] = s[...]*x'[...] - s[...]*t'[...]
  y'[...] when reduction == none = e[...]
  y' when reduction == sum = sum[...] e[...]
  y' when reduction == mean = (sum[...] e[...]) / size(...)
)";
};
inline constexpr Operation<HuberText> huber{};

struct SmoothL1Text {
  static constexpr std::string_view text = R"(-- The absolute difference less beta/2, below beta the square of the difference over 2*beta.
smooth_l1(x[...], t[...]) {beta = 1.0, reduction = mean | sum | none} -> y[only(..., reduction == none)]
  requires beta >= 0
  d[...] = x[...] - t[...]
  each[...] = if abs(d[...]) >= beta then abs(d[...]) - beta/2 else d[...]*d[...]/(2*beta)
  y[...] when reduction == none = each[...]
  y when reduction == sum = sum[...] each[...]
  y when reduction == mean = (sum[...] each[...]) / size(...)
  jvp
  s[...] = if abs(d[...]) >= beta then sign(d[...]) else d[...]/beta
  e[...] = s[...]*x'[...] - s[...]*t'[...]
  y'[...] when reduction == none = e[...]
  y' when reduction == sum = sum[...] e[...]
  y' when reduction == mean = (sum[...] e[...]) / size(...)
)";
};
inline constexpr Operation<SmoothL1Text> smooth_l1{};

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
using LossesOperations = spec::OperationList<CrossEntropyText, SoftCrossEntropyText, NllText, BceWithLogitsText, KlDivText, MseText,
                                             L1Text, HuberText, SmoothL1Text, HingeText, PinballText>;

}  // namespace etalon::ops
