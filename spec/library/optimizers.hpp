/// \file
/// Optimizer steps, and what is done to gradients before one: parameter, gradient and state in, parameter and state
/// out; t is 1 at the first step.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct SgdText {
  static constexpr std::string_view text = R"(-- Gradient descent with momentum; the first step takes the gradient itself as momentum.
sgd(p[...], g[...], m[...], t : int) {lr, momentum = 0.0, dampening = 0.0, nesterov = false, weight_decay = 0.0} -> q[...], m1[...]
  d[...] = g[...] + weight_decay*p[...]
  m1[...] = if t == 1 or momentum == 0 then d[...] else momentum*m[...] + (1 - dampening)*d[...]
  q[...] = p[...] - lr*(if nesterov then d[...] + momentum*m1[...] else m1[...])
)";
};
inline constexpr Operation<SgdText> sgd{};

struct AdamText {
  static constexpr std::string_view text = R"(-- Adam with bias correction; eps is added after it, or before it where eps_hat.
adam(p[...], g[...], m[...], v[...], t : int) {lr, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.0, eps_hat = false} -> q[...], m1[...], v1[...]
  d[...] = g[...] + weight_decay*p[...]
  m1[...] = beta1*m[...] + (1 - beta1)*d[...]
  v1[...] = beta2*v[...] + (1 - beta2)*d[...]*d[...]
  c1 = 1 - beta1^t
  c2 = 1 - beta2^t
  q[...] = p[...] - (if eps_hat then lr*sqrt(c2)/c1*(m1[...] / (sqrt(v1[...]) + eps)) else lr*((m1[...]/c1) / (sqrt(v1[...]/c2) + eps)))
)";
};
inline constexpr Operation<AdamText> adam{};

struct AdamwText {
  static constexpr std::string_view text = R"(-- Adam with weight decay that does not pass through the moments.
adamw(p[...], g[...], m[...], v[...], t : int) {lr, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01, eps_hat = false} -> q[...], m1[...], v1[...]
  m1[...] = beta1*m[...] + (1 - beta1)*g[...]
  v1[...] = beta2*v[...] + (1 - beta2)*g[...]*g[...]
  c1 = 1 - beta1^t
  c2 = 1 - beta2^t
  q[...] = p[...]*(1 - lr*weight_decay) - (if eps_hat then lr*sqrt(c2)/c1*(m1[...] / (sqrt(v1[...]) + eps)) else lr*((m1[...]/c1) / (sqrt(v1[...]/c2) + eps)))
)";
};
inline constexpr Operation<AdamwText> adamw{};

struct AmsgradText {
  static constexpr std::string_view text = R"(-- Adam that divides by the largest second moment so far, which is kept before bias correction.
amsgrad(p[...], g[...], m[...], v[...], w[...], t : int) {lr, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.0, eps_hat = false} -> q[...], m1[...], v1[...], w1[...]
  d[...] = g[...] + weight_decay*p[...]
  m1[...] = beta1*m[...] + (1 - beta1)*d[...]
  v1[...] = beta2*v[...] + (1 - beta2)*d[...]*d[...]
  w1[...] = maximum(w[...], v1[...])
  c1 = 1 - beta1^t
  c2 = 1 - beta2^t
  q[...] = p[...] - (if eps_hat then lr*sqrt(c2)/c1*(m1[...] / (sqrt(w1[...]) + eps)) else lr*((m1[...]/c1) / (sqrt(w1[...]/c2) + eps)))
)";
};
inline constexpr Operation<AmsgradText> amsgrad{};

struct NadamText {
  static constexpr std::string_view text = R"(-- Adam with Nesterov's momentum; mu is the product of the momenta so far, 1 at first.
nadam(p[...], g[...], m[...], v[...], mu, t : int) {lr, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.0, momentum_decay = 4e-3} -> q[...], m1[...], v1[...], mu1
  d[...] = g[...] + weight_decay*p[...]
  m1[...] = beta1*m[...] + (1 - beta1)*d[...]
  v1[...] = beta2*v[...] + (1 - beta2)*d[...]*d[...]
  a = beta1*(1 - 0.5*0.96^(t*momentum_decay))
  b = beta1*(1 - 0.5*0.96^((t + 1)*momentum_decay))
  mu1 = mu*a
  n[...] = (1 - a)/(1 - mu1)*d[...] + b/(1 - mu1*b)*m1[...]
  q[...] = p[...] - lr*(n[...] / (sqrt(v1[...]/(1 - beta2^t)) + eps))
  also
  s[...] = sqrt(v1[...]/(1 - beta2^t)) + eps
  q[...] = p[...] - lr*(1 - a)/(1 - mu1)*(d[...]/s[...]) - lr*b/(1 - mu1*b)*(m1[...]/s[...])
)";
};
inline constexpr Operation<NadamText> nadam{};

struct RadamText {
  static constexpr std::string_view text = R"(-- Adam whose step is rectified while the second moment is young, and is momentum alone at first.
radam(p[...], g[...], m[...], v[...], t : int) {lr, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.0} -> q[...], m1[...], v1[...]
  d[...] = g[...] + weight_decay*p[...]
  m1[...] = beta1*m[...] + (1 - beta1)*d[...]
  v1[...] = beta2*v[...] + (1 - beta2)*d[...]*d[...]
  c1 = 1 - beta1^t
  -- beta2^t - 1 without cancellation: the length rho of the average is a difference of large numbers.
  k = expm1(t*log(beta2))
  top = 2/(1 - beta2) - 1
  rho = top + 2*t*((1 + k)/k)
  r = if rho > 5 then sqrt(((rho - 4)/(top - 4))*((rho - 2)/(top - 2))*(top/rho)) else 0
  q[...] = p[...] - lr*(m1[...]/c1)*(if r > 0 then r*(sqrt(-k) / (sqrt(v1[...]) + eps)) else 1)
)";
};
inline constexpr Operation<RadamText> radam{};

struct AdamaxText {
  static constexpr std::string_view text = R"(-- Adam with the largest gradient, decaying, in the place of the second moment.
adamax(p[...], g[...], m[...], u[...], t : int) {lr, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.0} -> q[...], m1[...], u1[...]
  d[...] = g[...] + weight_decay*p[...]
  m1[...] = beta1*m[...] + (1 - beta1)*d[...]
  u1[...] = maximum(beta2*u[...], abs(d[...]) + eps)
  q[...] = p[...] - lr/(1 - beta1^t)*(m1[...]/u1[...])
)";
};
inline constexpr Operation<AdamaxText> adamax{};

struct LionText {
  static constexpr std::string_view text = R"(-- The sign of an average of gradients, with weight decay beside it (Chen et al., 2023).
lion(p[...], g[...], m[...]) {lr, beta1 = 0.9, beta2 = 0.99, weight_decay = 0.0} -> q[...], m1[...]
  m1[...] = beta2*m[...] + (1 - beta2)*g[...]
  q[...] = p[...]*(1 - lr*weight_decay) - lr*sign(beta1*m[...] + (1 - beta1)*g[...])
)";
};
inline constexpr Operation<LionText> lion{};

struct AdagradText {
  static constexpr std::string_view text = R"(-- Steps divided by the root of the sum of all squared gradients.
adagrad(p[...], g[...], s[...], t : int) {lr, lr_decay = 0.0, eps = 1e-10, weight_decay = 0.0} -> q[...], s1[...]
  d[...] = g[...] + weight_decay*p[...]
  s1[...] = s[...] + d[...]*d[...]
  q[...] = p[...] - lr/(1 + (t - 1)*lr_decay)*(d[...] / (sqrt(s1[...]) + eps))
)";
};
inline constexpr Operation<AdagradText> adagrad{};

struct RmspropText {
  static constexpr std::string_view text = R"(-- Steps divided by the root of a decaying average of squared gradients, or by their standard deviation where centered.
rmsprop(p[...], g[...], v[...], a[...], m[...]) {lr, alpha = 0.99, eps = 1e-8, weight_decay = 0.0, momentum = 0.0, centered = false} -> q[...], v1[...], a1[...], m1[...]
  d[...] = g[...] + weight_decay*p[...]
  v1[...] = alpha*v[...] + (1 - alpha)*d[...]*d[...]
  -- The average of gradients is used, and moves, only where centered.
  a1[...] = if centered then alpha*a[...] + (1 - alpha)*d[...] else a[...]
  n[...] = d[...] / (sqrt(if centered then v1[...] - a1[...]*a1[...] else v1[...]) + eps)
  m1[...] = if momentum == 0 then n[...] else momentum*m[...] + n[...]
  q[...] = p[...] - lr*m1[...]
  also
  -- The learning rate first.
  q[...] = if momentum == 0 then p[...] - lr*d[...] / (sqrt(if centered then v1[...] - a1[...]*a1[...] else v1[...]) + eps) else p[...] - lr*m1[...]
)";
};
inline constexpr Operation<RmspropText> rmsprop{};

struct AdadeltaText {
  static constexpr std::string_view text = R"(-- Steps in units of earlier steps: the gradient times a quotient of two decaying root mean squares.
adadelta(p[...], g[...], v[...], u[...]) {lr = 1.0, rho = 0.9, eps = 1e-6, weight_decay = 0.0} -> q[...], v1[...], u1[...]
  d[...] = g[...] + weight_decay*p[...]
  v1[...] = rho*v[...] + (1 - rho)*d[...]*d[...]
  n[...] = sqrt(u[...] + eps) / sqrt(v1[...] + eps) * d[...]
  u1[...] = rho*u[...] + (1 - rho)*n[...]*n[...]
  q[...] = p[...] - lr*n[...]
)";
};
inline constexpr Operation<AdadeltaText> adadelta{};

struct ClipByNormText {
  static constexpr std::string_view text = R"(-- All gradients, scaled by one number so that the norm of all together is at most max_norm.
clip_by_norm(g#[..r#]) {max_norm, eps = 0.0} -> h#[..r#]
  s = sum[t] sum[..i] g#t[..i]*g#t[..i]
  n = (if s <= 0 then 0 else sqrt(s)) + eps
  f = if n <= max_norm then 1 else max_norm/n
  h#t[..i] = f*g#t[..i]
)";
};
inline constexpr Operation<ClipByNormText> clip_by_norm{};

struct ClipByValueText {
  static constexpr std::string_view text = R"(-- Each element brought within [-limit, limit]; the derivative at the bounds is 1.
clip_by_value(g[...]) {limit} -> h[...]
  h[...] = if g[...] > limit then limit else if g[...] < -limit then -limit else g[...]
)";
};
inline constexpr Operation<ClipByValueText> clip_by_value{};

struct NormalizeGradientText {
  static constexpr std::string_view text = R"(-- The gradient divided by its norm.
normalize_gradient(g[...]) {eps = 1e-8} -> h[...]
  s = sum[...] g[...]*g[...]
  n = if s <= 0 then 0 else sqrt(s)
  h[...] = g[...] / (n + eps)
)";
};
inline constexpr Operation<NormalizeGradientText> normalize_gradient{};

/// What the library registers of this family.
using OptimizersOperations = spec::OperationList<SgdText, AdamText, AdamwText, AmsgradText, NadamText, RadamText,
                                                 AdamaxText, LionText, AdagradText, RmspropText, AdadeltaText,
                                                 ClipByNormText, ClipByValueText, NormalizeGradientText>;

}  // namespace etalon::ops
