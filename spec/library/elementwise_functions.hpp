/// \file
/// Functions of one real, element by element.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct ExpText {
  static constexpr std::string_view text = R"(-- e to the power of each element.
exp(x[...]) -> y[...]
  y[...] = exp(x[...])
)";
};
inline constexpr Operation<ExpText> exp{};

struct Exp2Text {
  static constexpr std::string_view text = R"(-- 2 to the power of each element.
exp2(x[...]) -> y[...]
  y[...] = exp2(x[...])
)";
};
inline constexpr Operation<Exp2Text> exp2{};

struct Expm1Text {
  static constexpr std::string_view text = R"(-- e to the power of each element, less 1, without cancelling near 0.
expm1(x[...]) -> y[...]
  y[...] = expm1(x[...])
  vjp
  x~[...] = (y[...] + 1)*y~[...]
  jvp
  y'[...] = (y[...] + 1)*x'[...]
)";
};
inline constexpr Operation<Expm1Text> expm1{};

struct LogText {
  static constexpr std::string_view text = R"(-- The natural logarithm of each element; -inf at 0, NaN below.
log(x[...]) -> y[...]
  y[...] = log(x[...])
)";
};
inline constexpr Operation<LogText> log{};

struct Log2Text {
  static constexpr std::string_view text = R"(-- The logarithm to base 2 of each element; -inf at 0, NaN below.
log2(x[...]) -> y[...]
  y[...] = log2(x[...])
)";
};
inline constexpr Operation<Log2Text> log2{};

struct Log1pText {
  static constexpr std::string_view text = R"(-- The natural logarithm of 1 plus each element, without cancelling near 0; -inf at -1, NaN below.
log1p(x[...]) -> y[...]
  y[...] = log1p(x[...])
)";
};
inline constexpr Operation<Log1pText> log1p{};

struct SafeLogText {
  static constexpr std::string_view text = R"(-- The logarithm kept away from 0: of the larger of each element and eps, or of its softplus plus eps.
safe_log(x[...]) {eps = 1e-12, form = maximum | softplus} -> y[...]
  y[...] when form == maximum = log(maximum(x[...], eps))
  y[...] when form == softplus = log((if x[...] <= 0 then log1p(exp(x[...])) else x[...] + log1p(exp(-x[...]))) + eps)
  also
  y[...] when form == maximum = log(maximum(x[...], eps))
  y[...] when form == softplus = log((if x[...] <= 20 then log1p(exp(x[...])) else x[...] + log1p(exp(-x[...]))) + eps)
)";
};
inline constexpr Operation<SafeLogText> safe_log{};

struct SqrtText {
  static constexpr std::string_view text = R"(-- The square root of each element; NaN below 0.
sqrt(x[...]) -> y[...]
  y[...] = sqrt(x[...])
)";
};
inline constexpr Operation<SqrtText> sqrt{};

struct RsqrtText {
  static constexpr std::string_view text = R"(-- 1 over the square root of each element.
rsqrt(x[...]) -> y[...]
  y[...] = 1 / sqrt(x[...])
  vjp
  x~[...] = -(0.5*y[...]*y[...]*y[...]*y~[...])
  jvp
  y'[...] = -(0.5*y[...]*y[...]*y[...]*x'[...])
)";
};
inline constexpr Operation<RsqrtText> rsqrt{};

struct ReciprocalText {
  static constexpr std::string_view text = R"(-- 1 over each element.
reciprocal(x[...]) -> y[...]
  y[...] = 1 / x[...]
  vjp
  x~[...] = -(y[...]*y[...]*y~[...])
  jvp
  y'[...] = -(y[...]*y[...]*x'[...])
)";
};
inline constexpr Operation<ReciprocalText> reciprocal{};

struct SinText {
  static constexpr std::string_view text = R"(-- The sine of each element.
sin(x[...]) -> y[...]
  y[...] = sin(x[...])
)";
};
inline constexpr Operation<SinText> sin{};

struct CosText {
  static constexpr std::string_view text = R"(-- The cosine of each element.
cos(x[...]) -> y[...]
  y[...] = cos(x[...])
)";
};
inline constexpr Operation<CosText> cos{};

struct TanText {
  static constexpr std::string_view text = R"(-- The tangent of each element.
tan(x[...]) -> y[...]
  y[...] = tan(x[...])
  vjp
  x~[...] = y~[...] / (cos(x[...])*cos(x[...]))
)";
};
inline constexpr Operation<TanText> tan{};

struct SinhText {
  static constexpr std::string_view text = R"(-- The hyperbolic sine of each element.
sinh(x[...]) -> y[...]
  y[...] = sinh(x[...])
)";
};
inline constexpr Operation<SinhText> sinh{};

struct CoshText {
  static constexpr std::string_view text = R"(-- The hyperbolic cosine of each element.
cosh(x[...]) -> y[...]
  y[...] = cosh(x[...])
)";
};
inline constexpr Operation<CoshText> cosh{};

struct TanhText {
  static constexpr std::string_view text = R"(-- The hyperbolic tangent of each element.
tanh(x[...]) -> y[...]
  y[...] = tanh(x[...])
)";
};
inline constexpr Operation<TanhText> tanh{};

struct ErfText {
  static constexpr std::string_view text = R"(-- The error function of each element.
erf(x[...]) -> y[...]
  y[...] = erf(x[...])
)";
};
inline constexpr Operation<ErfText> erf{};

struct SmoothAbsText {
  static constexpr std::string_view text = R"(-- The square root of each element squared plus eps: the absolute value, smooth at 0.
smooth_abs(x[...]) {eps = 1e-6} -> y[...]
  y[...] = sqrt(x[...] * x[...] + eps)
)";
};
inline constexpr Operation<SmoothAbsText> smooth_abs{};

struct PowerText {
  static constexpr std::string_view text = R"(-- Each element to the power p, a constant; at p = 0 it is 1 everywhere.
power(x[...]) {p : real} -> y[...]
  y[...] = x[...] ^ p
  vjp
  x~[...] = if p == 0 then 0 else p*(if p == 0.5 then 1 / sqrt(x[...]) else x[...] ^ (p - 1))*y~[...]
  jvp
  y'[...] = if p == 0 then 0 else p*(if p == 0.5 then 1 / sqrt(x[...]) else x[...] ^ (p - 1))*x'[...]
)";
};
inline constexpr Operation<PowerText> power{};

/// What the library registers of this family.
using ElementwiseFunctionsOperations = spec::OperationList<ExpText, Exp2Text, Expm1Text, LogText, Log2Text, Log1pText,
                                                           SafeLogText, SqrtText, RsqrtText, ReciprocalText, SinText,
                                                           CosText, TanText, SinhText, CoshText, TanhText, ErfText,
                                                           SmoothAbsText, PowerText>;

}  // namespace etalon::ops
