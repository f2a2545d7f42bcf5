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
  vjp
  s[..i] = sum[k] y[..i, k @ axis]*y~[..i, k @ axis]
  x~[..i, j @ axis] = y[..i, j @ axis]*(y~[..i, j @ axis] - s[..i])
  jvp
  s[..i] = sum[k] y[..i, k @ axis]*x'[..i, k @ axis]
  y'[..i, j @ axis] = y[..i, j @ axis]*(x'[..i, j @ axis] - s[..i])
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
  vjp
  s[..i] = sum[k] y~[..i, k @ axis]
  x~[..i, j @ axis] = y~[..i, j @ axis] - exp(y[..i, j @ axis])*s[..i]
  jvp
  s[..i] = sum[k] exp(y[..i, k @ axis])*x'[..i, k @ axis]
  y'[..i, j @ axis] = x'[..i, j @ axis] - s[..i]
)";
};
inline constexpr Operation<LogSoftmaxText> log_softmax{};

struct MaskedSoftmaxText {
  static constexpr std::string_view text = R"(-- Softmax over the elements that the mask admits; 0 elsewhere, also where it admits none.
masked_softmax(x[..p, n @ axis], m[..q, n @ axis] : bool) {axis = -1} -> y[..(p & q), n @ axis]
  top[..i < ..(p & q)] = detach(max[k where m[..i, k @ axis]] x[..i, k @ axis] else 0)
  e[..i < ..(p & q), j @ axis] = if m[..i, j @ axis] then exp(x[..i, j @ axis] - top[..i]) else 0
  s[..i] = sum[k] e[..i, k @ axis]
  y[..i, j @ axis] = if m[..i, j @ axis] then e[..i, j @ axis] / s[..i] else 0
)";
};
inline constexpr Operation<MaskedSoftmaxText> masked_softmax{};

struct LayerNormText {
  static constexpr std::string_view text = R"(-- Mean 0 and variance 1 over axes, by default the last, then scaled and shifted.
layer_norm(x[..rest, ..w @ axes], gamma[..w]?, beta[..w]?) {axes : axes = [-1], eps = 1e-5} -> y[..rest, ..w @ axes]
  mu[..i] = (sum[..k] x[..i, ..k @ axes]) / size(..w)
  d[..i, ..k @ axes] = x[..i, ..k @ axes] - mu[..i]
  v[..i] = (sum[..k] d[..i, ..k @ axes] * d[..i, ..k @ axes]) / size(..w)
  y[..i, ..k @ axes] = (gamma[..k] else 1) * (d[..i, ..k @ axes] / sqrt(v[..i] + eps)) + (beta[..k] else 0)
  vjp
  r[..i] = 1 / sqrt(v[..i] + eps)
  g[..i, ..k @ axes] = (gamma[..k] else 1)*y~[..i, ..k @ axes]
  p[..i] = sum[..k] g[..i, ..k @ axes]
  q[..i] = sum[..k] g[..i, ..k @ axes]*x[..i, ..k @ axes]
  h[..i] = (p[..i]*mu[..i] - q[..i])*r[..i]*r[..i]*r[..i] / size(..w)
  x~[..i, ..k @ axes] = r[..i]*g[..i, ..k @ axes] + h[..i]*x[..i, ..k @ axes] - h[..i]*mu[..i] - r[..i]*p[..i]/size(..w)
  gamma~[..k] = sum[..i] y~[..i, ..k @ axes]*(r[..i]*x[..i, ..k @ axes] - r[..i]*mu[..i])
  beta~[..k] = sum[..i] y~[..i, ..k @ axes]
  jvp
  r[..i] = 1 / sqrt(v[..i] + eps)
  t[..i] = (sum[..k] x'[..i, ..k @ axes]) / size(..w)
  e[..i, ..k @ axes] = x'[..i, ..k @ axes] - t[..i]
  q[..i] = -(r[..i]*r[..i]*r[..i]*((sum[..k] e[..i, ..k @ axes]*d[..i, ..k @ axes]) / size(..w)))
  y'[..i, ..k @ axes] = (gamma[..k] else 1)*(e[..i, ..k @ axes]*r[..i] + d[..i, ..k @ axes]*q[..i]) + (gamma'[..k] else 0)*(d[..i, ..k @ axes]*r[..i]) + (beta'[..k] else 0)
)";
};
inline constexpr Operation<LayerNormText> layer_norm{};

struct RmsNormText {
  static constexpr std::string_view text = R"(-- Divided by the root of the mean square over axes, by default the last, then scaled.
rms_norm(x[..rest, ..w @ axes], gamma[..w]?) {axes : axes = [-1], eps = 1e-5} -> y[..rest, ..w @ axes]
  v[..i] = (sum[..k] x[..i, ..k @ axes] * x[..i, ..k @ axes]) / size(..w)
  y[..i, ..k @ axes] = (gamma[..k] else 1) * (x[..i, ..k @ axes] / sqrt(v[..i] + eps))
)";
};
inline constexpr Operation<RmsNormText> rms_norm{};

struct BatchNormText {
  static constexpr std::string_view text = R"(-- Mean 0 and variance 1 in each channel, by the statistics of the batch in training, else by the running ones.
batch_norm(x[..rest, c @ axis], gamma[c]?, beta[c]?, mean[c]?, variance[c]?) {axis = 1, eps = 1e-5, momentum = 0.1, training = true} -> y[..rest, c @ axis], mean1[c], variance1[c]
  requires not training or size(..rest) > 1
  old_mean[f < c] = mean[f] else 0
  old_variance[f < c] = variance[f] else 1
  mu[f < c] = if training then (sum[..k] x[..k, f @ axis]) / size(..rest) else old_mean[f]
  d[..k, f @ axis] = x[..k, f @ axis] - mu[f]
  s[f] = sum[..k] d[..k, f @ axis] * d[..k, f @ axis]
  v[f < c] = if training then s[f] / size(..rest) else old_variance[f]
  y[..k, f @ axis] = (gamma[f] else 1) * (d[..k, f @ axis] / sqrt(v[f] + eps)) + (beta[f] else 0)
  -- y divides by the number of elements n, the running variance by n - 1; neither gets derivatives of the batch.
  mean1[f] = if training then (1 - momentum)*old_mean[f] + momentum*detach(mu[f]) else old_mean[f]
  variance1[f] = if training then (1 - momentum)*old_variance[f] + momentum*(detach(s[f]) / (size(..rest) - 1)) else old_variance[f]
  vjp
  -- Of no elements nothing follows, whatever the variance.
  r[f < c] = if size(..rest) == 0 then 0 else 1 / sqrt(v[f] + eps)
  p[f < c] = sum[..k] y~[..k, f @ axis]
  q[f < c] = sum[..k] y~[..k, f @ axis]*d[..k, f @ axis]
  h[..k, f @ axis] = if training then y~[..k, f @ axis] - p[f]/size(..rest) - d[..k, f @ axis]*(q[f]*r[f]*r[f]/size(..rest)) else y~[..k, f @ axis]
  x~[..k, f @ axis] = (gamma[f] else 1)*r[f]*h[..k, f @ axis]
  gamma~[f] = q[f]*r[f]
  beta~[f] = p[f]
  mean~[f] = if training then (1 - momentum)*mean1~[f] else mean1~[f] - (gamma[f] else 1)*r[f]*p[f]
  variance~[f] = if training then (1 - momentum)*variance1~[f] else variance1~[f] - 0.5*(gamma[f] else 1)*r[f]*r[f]*r[f]*q[f]
)";
};
inline constexpr Operation<BatchNormText> batch_norm{};

struct GroupNormText {
  static constexpr std::string_view text = R"(-- Mean 0 and variance 1 over each group of channels and all positions, then scaled and shifted by channel.
group_norm(x[b, c, ..s], gamma[c]?, beta[c]?) {groups : int, eps = 1e-5} -> y[b, c, ..s]
  requires c > 0
  requires c % groups == 0
  let e = c // groups
  mu[n, g < groups] = (sum[j < e, ..k] x[n, g*e + j, ..k]) / (e*size(..s))
  d[n, f, ..k] = x[n, f, ..k] - mu[n, f // e]
  v[n, g < groups] = (sum[j < e, ..k] d[n, g*e + j, ..k] * d[n, g*e + j, ..k]) / (e*size(..s))
  y[n, f, ..k] = (gamma[f] else 1) * (d[n, f, ..k] / sqrt(v[n, f // e] + eps)) + (beta[f] else 0)
  also
  -- Moments that are updated by each element in turn.
  m[n < b, g < groups, j < e*size(..s)] = (m[n, g, j - 1] else 0) + (x[n, g*e + j // size(..s), ..unflat(j % size(..s), ..s)] - (m[n, g, j - 1] else 0)) / (j + 1)
  w[n < b, g < groups, j < e*size(..s)] = (w[n, g, j - 1] else 0) + (x[n, g*e + j // size(..s), ..unflat(j % size(..s), ..s)] - (m[n, g, j - 1] else 0))*(x[n, g*e + j // size(..s), ..unflat(j % size(..s), ..s)] - m[n, g, j])
  r[n < b, f < c] = (gamma[f] else 1) / sqrt((w[n, f // e, e*size(..s) - 1] else 0)/(e*size(..s)) + eps)
  y[n, f, ..k] = r[n, f]*x[n, f, ..k] + (beta[f] else 0) - r[n, f]*(m[n, f // e, e*size(..s) - 1] else 0)
  vjp
  r[n, g < groups] = 1 / sqrt(v[n, g] + eps)
  p[n, f] = sum[..k] y~[n, f, ..k]
  q[n, f] = sum[..k] y~[n, f, ..k]*x[n, f, ..k]
  p1[n, g < groups] = sum[j < e] (gamma[g*e + j] else 1)*p[n, g*e + j]
  q1[n, g < groups] = sum[j < e] (gamma[g*e + j] else 1)*q[n, g*e + j]
  h[n, g < groups] = (p1[n, g]*mu[n, g] - q1[n, g])*r[n, g]*r[n, g]*r[n, g] / (e*size(..s))
  x~[n, f, ..k] = (gamma[f] else 1)*r[n, f // e]*y~[n, f, ..k] + h[n, f // e]*x[n, f, ..k] - h[n, f // e]*mu[n, f // e] - r[n, f // e]*p1[n, f // e]/(e*size(..s))
  gamma~[f] = if size(..s) == 0 then 0 else sum[n] (q[n, f] - p[n, f]*mu[n, f // e])*r[n, f // e]
  beta~[f] = sum[n] p[n, f]
)";
};
inline constexpr Operation<GroupNormText> group_norm{};

struct InstanceNormText {
  static constexpr std::string_view text = R"(-- Mean 0 and variance 1 over the positions of each channel, then scaled and shifted by channel.
instance_norm(x[b, c, ..s], gamma[c]?, beta[c]?) {eps = 1e-5} -> y[b, c, ..s]
  mu[n, f] = (sum[..k] x[n, f, ..k]) / size(..s)
  d[n, f, ..k] = x[n, f, ..k] - mu[n, f]
  v[n, f] = (sum[..k] d[n, f, ..k] * d[n, f, ..k]) / size(..s)
  y[n, f, ..k] = (gamma[f] else 1) * (d[n, f, ..k] / sqrt(v[n, f] + eps)) + (beta[f] else 0)
  vjp
  r[n < b, f < c] = if size(..s) == 0 then 0 else 1 / sqrt(v[n, f] + eps)
  p[n, f] = sum[..k] y~[n, f, ..k]
  q[n, f] = sum[..k] y~[n, f, ..k]*d[n, f, ..k]
  g[n, f, ..k] = y~[n, f, ..k] - p[n, f]/size(..s) - d[n, f, ..k]*(q[n, f]*r[n, f]*r[n, f]/size(..s))
  x~[n, f, ..k] = (gamma[f] else 1)*r[n, f]*g[n, f, ..k]
  gamma~[f] = sum[n] q[n, f]*r[n, f]
  beta~[f] = sum[n] p[n, f]
  jvp
  r[n, f] = 1 / sqrt(v[n, f] + eps)
  t[n, f] = (sum[..k] x'[n, f, ..k]) / size(..s)
  e[n, f, ..k] = x'[n, f, ..k] - t[n, f]
  q[n, f] = -(r[n, f]*r[n, f]*r[n, f]*((sum[..k] e[n, f, ..k]*d[n, f, ..k]) / size(..s)))
  y'[n, f, ..k] = (gamma[f] else 1)*(e[n, f, ..k]*r[n, f] + d[n, f, ..k]*q[n, f]) + (gamma'[f] else 0)*(d[n, f, ..k]*r[n, f]) + (beta'[f] else 0)
)";
};
inline constexpr Operation<InstanceNormText> instance_norm{};

/// What the library registers of this family.
using NormalisationOperations = spec::OperationList<SoftmaxText, LogSoftmaxText, MaskedSoftmaxText, LayerNormText, RmsNormText,
                                                    BatchNormText, GroupNormText, InstanceNormText>;

}  // namespace etalon::ops
