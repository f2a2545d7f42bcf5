/// \file
/// Operations on each element.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct NegText {
  static constexpr std::string_view text = R"(-- The negative of each element.
neg(x[...] : number) -> y[...]
  y[...] = -x[...]
)";
};
inline constexpr Operation<NegText> neg{};

struct ExpText {
  static constexpr std::string_view text = R"(-- e to the power of each element.
exp(x[...]) -> y[...]
  y[...] = exp(x[...])
)";
};
inline constexpr Operation<ExpText> exp{};

struct LogText {
  static constexpr std::string_view text = R"(-- The natural logarithm of each element; -inf at 0, NaN below.
log(x[...]) -> y[...]
  y[...] = log(x[...])
)";
};
inline constexpr Operation<LogText> log{};

struct SqrtText {
  static constexpr std::string_view text = R"(-- The square root of each element; NaN below 0.
sqrt(x[...]) -> y[...]
  y[...] = sqrt(x[...])
)";
};
inline constexpr Operation<SqrtText> sqrt{};

struct TanhText {
  static constexpr std::string_view text = R"(-- The hyperbolic tangent of each element.
tanh(x[...]) -> y[...]
  y[...] = tanh(x[...])
)";
};
inline constexpr Operation<TanhText> tanh{};

struct SigmoidText {
  static constexpr std::string_view text = R"(-- 1/(1 + e^-x), written so that e is only raised to powers that do not overflow.
sigmoid(x[...]) -> y[...]
  y[...] = if x[...] < 0 then exp(x[...]) / (1 + exp(x[...])) else 1 / (1 + exp(-x[...]))
)";
};
inline constexpr Operation<SigmoidText> sigmoid{};

struct ReluText {
  static constexpr std::string_view text = R"(-- The larger of 0 and each element; NaN stays NaN, and the derivative at 0 is 0.
relu(x[...] : number) -> y[...]
  y[...] = if x[...] <= 0 then 0 else x[...]
)";
};
inline constexpr Operation<ReluText> relu{};

struct AbsText {
  static constexpr std::string_view text = R"(-- The absolute value of each element; its derivative at 0 is 0.
abs(x[...] : number) -> y[...]
  y[...] = abs(x[...])
)";
};
inline constexpr Operation<AbsText> abs{};

struct GeluText {
  static constexpr std::string_view text = R"(-- x times the normal distribution function at x, or its approximation by tanh.
gelu(x[...]) {approximate = none | tanh} -> y[...]
  y[...] when approximate == none = x[...] * ((1 + erf(x[...] / sqrt(2))) / 2)
  y[...] when approximate == tanh = x[...] * ((1 + tanh(sqrt(2/pi) * (x[...] + 0.044715 * x[...] * x[...] * x[...]))) / 2)
)";
};
inline constexpr Operation<GeluText> gelu{};

struct AddText {
  static constexpr std::string_view text = R"(-- The sum; rows join by broadcasting.
add(a[..p] : number, b[..q] : number) -> y[..(p & q)]
  y[..i] = a[..i] + b[..i]
)";
};
inline constexpr Operation<AddText> add{};

struct SubText {
  static constexpr std::string_view text = R"(-- The difference; rows join by broadcasting.
sub(a[..p] : number, b[..q] : number) -> y[..(p & q)]
  y[..i] = a[..i] - b[..i]
)";
};
inline constexpr Operation<SubText> sub{};

struct MulText {
  static constexpr std::string_view text = R"(-- The product; rows join by broadcasting.
mul(a[..p] : number, b[..q] : number) -> y[..(p & q)]
  y[..i] = a[..i] * b[..i]
)";
};
inline constexpr Operation<MulText> mul{};

struct DivText {
  static constexpr std::string_view text = R"(-- The quotient of reals; rows join by broadcasting.
div(a[..p], b[..q]) -> y[..(p & q)]
  y[..i] = a[..i] / b[..i]
)";
};
inline constexpr Operation<DivText> div{};

struct MaximumText {
  static constexpr std::string_view text = R"(-- The larger of two; at a tie each side has half of the derivative.
maximum(a[..p] : number, b[..q] : number) -> y[..(p & q)]
  y[..i] = maximum(a[..i], b[..i])
)";
};
inline constexpr Operation<MaximumText> maximum{};

struct WhereText {
  static constexpr std::string_view text = R"(-- a where the condition holds, b elsewhere; what is not chosen does not count, not even NaN.
where(c[..p] : bool, a[..q] : any, b[..r] : any) -> y[..(p & q & r)]
  y[..i] = if c[..i] then a[..i] else b[..i]
)";
};
inline constexpr Operation<WhereText> where{};

struct CastText {
  static constexpr std::string_view text = R"(-- The same numbers as another element type: reals rounded to nearest, integers wrapped.
cast(x[...] : number) {dtype : dtype} -> y[...] : dtype
  y[...] = x[...]
)";
};
inline constexpr Operation<CastText> cast{};

/// What the library registers of this family.
using ElementwiseOperations = spec::OperationList<NegText, ExpText, LogText, SqrtText, TanhText, SigmoidText,
                                                  ReluText, AbsText, GeluText, AddText, SubText, MulText, DivText,
                                                  MaximumText, WhereText, CastText>;

}  // namespace etalon::ops
