/// \file
/// Arithmetic on each element.
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

struct AbsText {
  static constexpr std::string_view text = R"(-- The absolute value of each element; its derivative at 0 is 0.
abs(x[...] : number) -> y[...]
  y[...] = abs(x[...])
)";
};
inline constexpr Operation<AbsText> abs{};

struct SignText {
  static constexpr std::string_view text = R"(-- -1, 0 or 1 as each element is below, at or above 0; NaN stays NaN.
sign(x[...] : number) -> y[...]
  y[...] = sign(x[...])
)";
};
inline constexpr Operation<SignText> sign{};

struct SquareText {
  static constexpr std::string_view text = R"(-- Each element times itself.
square(x[...] : number) -> y[...]
  y[...] = x[...] * x[...]
)";
};
inline constexpr Operation<SquareText> square{};

struct FloorText {
  static constexpr std::string_view text = R"(-- The greatest whole number not above each element.
floor(x[...] : number) -> y[...]
  y[...] = floor(x[...])
)";
};
inline constexpr Operation<FloorText> floor{};

struct CeilText {
  static constexpr std::string_view text = R"(-- The least whole number not below each element.
ceil(x[...] : number) -> y[...]
  y[...] = ceil(x[...])
)";
};
inline constexpr Operation<CeilText> ceil{};

struct TruncText {
  static constexpr std::string_view text = R"(-- The whole part of each element: the nearest whole number towards 0.
trunc(x[...] : number) -> y[...]
  y[...] = trunc(x[...])
)";
};
inline constexpr Operation<TruncText> trunc{};

struct RoundText {
  static constexpr std::string_view text = R"(-- The nearest whole number to each element, of two the even one.
round(x[...] : number) -> y[...]
  y[...] = round(x[...])
)";
};
inline constexpr Operation<RoundText> round{};

struct ScaleText {
  static constexpr std::string_view text = R"(-- Each element times a number.
scale(x[...]) {by : real} -> y[...]
  y[...] = by * x[...]
)";
};
inline constexpr Operation<ScaleText> scale{};

struct ClampText {
  static constexpr std::string_view text = R"(-- Each element, not less than low and then not more than high; the derivative is 1 at both and NaN stays NaN.
clamp(x[...]) {low = -inf, high = inf} -> y[...]
  z[...] = if x[...] < low then low else x[...]
  y[...] = if z[...] > high then high else z[...]
)";
};
inline constexpr Operation<ClampText> clamp{};

struct DetachText {
  static constexpr std::string_view text = R"(-- The same numbers as constants: no derivative passes.
detach(x[...] : number) -> y[...]
  y[...] = detach(x[...])
)";
};
inline constexpr Operation<DetachText> detach{};

struct CastText {
  static constexpr std::string_view text = R"(-- The same numbers as another element type: reals rounded to nearest, integers wrapped, a real as an integer cut towards 0 and beyond the type's integers their nearest end, NaN as 0, a number as a truth value true unless it is 0.
cast(x[...] : any) {dtype : dtype} -> y[...] : dtype
  y[...] = x[...]
)";
};
inline constexpr Operation<CastText> cast{};

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

struct FmaText {
  static constexpr std::string_view text = R"(-- The product of the first two plus the third; rows join by broadcasting.
fma(a[..p] : number, b[..q] : number, c[..r] : number) -> y[..(p & q & r)]
  y[..i] = a[..i] * b[..i] + c[..i]
)";
};
inline constexpr Operation<FmaText> fma{};

struct PowText {
  static constexpr std::string_view text = R"(-- a to the power b: reals, with derivatives in both where a > 0; rows join by broadcasting.
pow(a[..p], b[..q]) -> y[..(p & q)]
  y[..i] = a[..i] ^ b[..i]
)";
};
inline constexpr Operation<PowText> pow{};

struct FloorDivideText {
  static constexpr std::string_view text = R"(-- The greatest whole number not above the quotient; of integers, 0 where b is 0; rows join by broadcasting.
floor_divide(a[..p] : number, b[..q] : number) -> y[..(p & q)]
  y[..i] = a[..i] // b[..i]
)";
};
inline constexpr Operation<FloorDivideText> floor_divide{};

struct RemainderText {
  static constexpr std::string_view text = R"(-- What floor_divide leaves, with the sign of b; of integers, 0 where b is 0; rows join by broadcasting.
remainder(a[..p] : number, b[..q] : number) -> y[..(p & q)]
  y[..i] = a[..i] % b[..i]
)";
};
inline constexpr Operation<RemainderText> remainder{};

struct Atan2Text {
  static constexpr std::string_view text = R"(-- The angle of the point with ordinate a and abscissa b, from -pi to pi; rows join by broadcasting.
atan2(a[..p], b[..q]) -> y[..(p & q)]
  y[..i] = atan2(a[..i], b[..i])
)";
};
inline constexpr Operation<Atan2Text> atan2{};

struct MaximumText {
  static constexpr std::string_view text = R"(-- The larger of two; at a tie each side has half of the derivative.
maximum(a[..p] : number, b[..q] : number) -> y[..(p & q)]
  y[..i] = maximum(a[..i], b[..i])
  jvp
  y'[..i] = b'[..i] + (if a[..i] > b[..i] then 1 else if a[..i] == b[..i] then 0.5 else 0)*(a'[..i] - b'[..i])
)";
};
inline constexpr Operation<MaximumText> maximum{};

struct MinimumText {
  static constexpr std::string_view text = R"(-- The smaller of two; at a tie each side has half of the derivative.
minimum(a[..p] : number, b[..q] : number) -> y[..(p & q)]
  y[..i] = minimum(a[..i], b[..i])
  jvp
  y'[..i] = b'[..i] + (if a[..i] < b[..i] then 1 else if a[..i] == b[..i] then 0.5 else 0)*(a'[..i] - b'[..i])
)";
};
inline constexpr Operation<MinimumText> minimum{};

struct WhereText {
  static constexpr std::string_view text = R"(-- a where the condition holds, b elsewhere; what is not chosen does not count, not even NaN.
where(c[..p] : bool, a[..q] : any, b[..r] : any) -> y[..(p & q & r)]
  y[..i] = if c[..i] then a[..i] else b[..i]
)";
};
inline constexpr Operation<WhereText> where{};

/// What the library registers of this family.
using ElementwiseOperations = spec::OperationList<NegText, AbsText, SignText, SquareText, FloorText, CeilText, TruncText,
                                                  RoundText, ScaleText, ClampText, DetachText, CastText, AddText,
                                                  SubText, MulText, DivText, FmaText, PowText, FloorDivideText,
                                                  RemainderText, Atan2Text, MaximumText, MinimumText, WhereText>;

}  // namespace etalon::ops
