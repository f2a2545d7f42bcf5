/// \file
/// Optimizer steps: parameter, gradient and state in, parameter and state out; t is 1 at the first step.
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
adam(p[...], g[...], m[...], v[...], t : int) {lr, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, eps_hat = false} -> q[...], m1[...], v1[...]
  m1[...] = beta1*m[...] + (1 - beta1)*g[...]
  v1[...] = beta2*v[...] + (1 - beta2)*g[...]*g[...]
  c1 = 1 - beta1^t
  c2 = 1 - beta2^t
  q[...] = p[...] - (if eps_hat then lr*sqrt(c2)/c1*(m1[...] / (sqrt(v1[...]) + eps)) else lr*((m1[...]/c1) / (sqrt(v1[...]/c2) + eps)))
)";
};
inline constexpr Operation<AdamText> adam{};

struct AdamwText {
  static constexpr std::string_view text = R"(-- Adam with weight decay that does not pass through the moments.
adamw(p[...], g[...], m[...], v[...], t : int) {lr, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01} -> q[...], m1[...], v1[...]
  m1[...] = beta1*m[...] + (1 - beta1)*g[...]
  v1[...] = beta2*v[...] + (1 - beta2)*g[...]*g[...]
  c1 = 1 - beta1^t
  c2 = 1 - beta2^t
  q[...] = p[...]*(1 - lr*weight_decay) - lr*((m1[...]/c1) / (sqrt(v1[...]/c2) + eps))
)";
};
inline constexpr Operation<AdamwText> adamw{};

/// What the library registers of this family.
using OptimizersOperations = spec::OperationList<SgdText, AdamText, AdamwText>;

}  // namespace etalon::ops
