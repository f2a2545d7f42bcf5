/// \file
/// Activations, element by element.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct SigmoidText {
  static constexpr std::string_view text = R"(-- 1/(1 + e^-x), written so that e is only raised to powers that do not overflow.
sigmoid(x[...]) -> y[...]
  y[...] = if x[...] < 0 then exp(x[...]) / (1 + exp(x[...])) else 1 / (1 + exp(-x[...]))
  vjp
  x~[...] = (1 - y[...])*y[...]*y~[...]
  jvp
  y'[...] = (1 - y[...])*y[...]*x'[...]
)";
};
inline constexpr Operation<SigmoidText> sigmoid{};

struct SoftplusText {
  static constexpr std::string_view text = R"(-- log(1 + e^(beta x)) / beta, written so that e is only raised to powers that do not overflow.
softplus(x[...]) {beta = 1.0} -> y[...]
  z[...] = beta * x[...]
  y[...] = (if z[...] <= 0 then log1p(exp(z[...])) else z[...] + log1p(exp(-z[...]))) / beta
  also
  y[...] = (if z[...] <= 40 then log1p(exp(z[...])) else z[...] + log1p(exp(-z[...]))) / beta
  vjp
  x~[...] = (if z[...] <= 20 then exp(z[...]) / (exp(z[...]) + 1) else 1 / (1 + exp(-z[...])))*y~[...]
  jvp
  y'[...] = (if z[...] <= 20 then exp(z[...]) / (exp(z[...]) + 1) else 1 / (1 + exp(-z[...])))*x'[...]
)";
};
inline constexpr Operation<SoftplusText> softplus{};

struct ReluText {
  static constexpr std::string_view text = R"(-- The larger of 0 and each element; NaN stays NaN, and the derivative at 0 is 0.
relu(x[...] : number) -> y[...]
  y[...] = if x[...] <= 0 then 0 else x[...]
)";
};
inline constexpr Operation<ReluText> relu{};

struct LeakyReluText {
  static constexpr std::string_view text = R"(-- Each element above 0, slope times it elsewhere; the derivative at 0 is the slope.
leaky_relu(x[...]) {slope = 0.01} -> y[...]
  y[...] = if x[...] > 0 then x[...] else slope * x[...]
)";
};
inline constexpr Operation<LeakyReluText> leaky_relu{};

struct EluText {
  static constexpr std::string_view text = R"(-- Each element above 0, alpha (e^x - 1) elsewhere; the derivative at 0 is alpha.
elu(x[...]) {alpha = 1.0} -> y[...]
  y[...] = if x[...] > 0 then x[...] else alpha * expm1(x[...])
  also
  y[...] = if x[...] > 0 then x[...] else alpha*(exp(x[...]) - 1)
  vjp
  x~[...] = if x[...] > 0 then y~[...] else y~[...]*(y[...] + alpha)
)";
};
inline constexpr Operation<EluText> elu{};

struct GeluText {
  static constexpr std::string_view text = R"(-- x times the normal distribution function at x, or its approximation by tanh.
gelu(x[...]) {approximate = none | tanh} -> y[...]
  y[...] when approximate == none = x[...] * ((1 + erf(x[...] / sqrt(2))) / 2)
  y[...] when approximate == tanh = x[...] * ((1 + tanh(sqrt(2/pi) * (x[...] + 0.044715 * x[...] * x[...] * x[...]))) / 2)
)";
};
inline constexpr Operation<GeluText> gelu{};

struct SiluText {
  static constexpr std::string_view text = R"(-- x times the sigmoid of x, written so that e is only raised to powers that do not overflow.
silu(x[...]) -> y[...]
  y[...] = if x[...] < 0 then x[...] * (exp(x[...]) / (1 + exp(x[...]))) else x[...] / (1 + exp(-x[...]))
  vjp
  s[...] = if x[...] < 0 then exp(x[...]) / (1 + exp(x[...])) else 1 / (1 + exp(-x[...]))
  x~[...] = s[...]*(1 + x[...]*(1 - s[...]))*y~[...]
  jvp
  s[...] = if x[...] < 0 then exp(x[...]) / (1 + exp(x[...])) else 1 / (1 + exp(-x[...]))
  y'[...] = s[...]*(1 + x[...]*(1 - s[...]))*x'[...]
)";
};
inline constexpr Operation<SiluText> silu{};

struct Sat01Text {
  static constexpr std::string_view text = R"(-- Each element, not less than 0 and not more than 1; the derivative is 0 at both ends and NaN stays NaN.
sat01(x[...] : number) -> y[...]
  y[...] = if x[...] <= 0 then 0 else if x[...] >= 1 then 1 else x[...]
)";
};
inline constexpr Operation<Sat01Text> sat01{};

/// What the library registers of this family.
using ActivationsOperations = spec::OperationList<SigmoidText, SoftplusText, ReluText, LeakyReluText, EluText, GeluText,
                                                  SiluText, Sat01Text>;

}  // namespace etalon::ops
