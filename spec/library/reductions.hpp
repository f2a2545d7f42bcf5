/// \file
/// Reductions over any axes.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct SumText {
  static constexpr std::string_view text = R"(-- The sum over axes; 0 over none.
sum(x[..kept, ..gone @ axes] : number) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes]
  y[..i, ..u @ axes] = sum[..k] x[..i, ..k @ axes]
)";
};
inline constexpr Operation<SumText> sum{};

struct MeanText {
  static constexpr std::string_view text = R"(-- The mean over axes.
mean(x[..kept, ..gone @ axes]) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes]
  y[..i, ..u @ axes] = (sum[..k] x[..i, ..k @ axes]) / size(..gone)
)";
};
inline constexpr Operation<MeanText> mean{};

struct ProdText {
  static constexpr std::string_view text = R"(-- The product over axes; 1 over none.
prod(x[..kept, ..gone @ axes] : number) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes]
  y[..i, ..u @ axes] = prod[..k] x[..i, ..k @ axes]
  vjp
  q[..i] = sum[..u] y[..i, ..u @ axes]*y~[..i, ..u @ axes]
  p[..i] = sum[..u] y~[..i, ..u @ axes]
  x~[..i, ..k @ axes] = if x[..i, ..k @ axes] == 0 then p[..i]*prod[..l where not ..l == ..k] x[..i, ..l @ axes] else q[..i] / x[..i, ..k @ axes]
  jvp
  one[..i] = prod[..k] x[..i, ..k @ axes]
  y'[..i, ..u @ axes] = sum[..k] x'[..i, ..k @ axes]*(if x[..i, ..k @ axes] == 0 then prod[..l where not ..l == ..k] x[..i, ..l @ axes] else one[..i] / x[..i, ..k @ axes])
)";
};
inline constexpr Operation<ProdText> prod{};

struct MaxText {
  static constexpr std::string_view text = R"(-- The largest over axes; the first of equals has the derivative.
max(x[..kept, ..gone @ axes] : number) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes]
  requires size(..gone) > 0
  y[..i, ..u @ axes] = max[..k] x[..i, ..k @ axes]
)";
};
inline constexpr Operation<MaxText> max{};

struct MinText {
  static constexpr std::string_view text = R"(-- The smallest over axes; the first of equals has the derivative.
min(x[..kept, ..gone @ axes] : number) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes]
  requires size(..gone) > 0
  y[..i, ..u @ axes] = min[..k] x[..i, ..k @ axes]
)";
};
inline constexpr Operation<MinText> min{};

struct ArgmaxText {
  static constexpr std::string_view text = R"(-- The row-major position, over axes, of the first largest.
argmax(x[..kept, ..gone @ axes] : number) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes] : int
  requires size(..gone) > 0
  y[..i, ..u @ axes] = argmax[..k] x[..i, ..k @ axes]
)";
};
inline constexpr Operation<ArgmaxText> argmax{};

struct ArgminText {
  static constexpr std::string_view text = R"(-- The row-major position, over axes, of the first smallest.
argmin(x[..kept, ..gone @ axes] : number) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes] : int
  requires size(..gone) > 0
  y[..i, ..u @ axes] = argmin[..k] x[..i, ..k @ axes]
)";
};
inline constexpr Operation<ArgminText> argmin{};

struct AnyText {
  static constexpr std::string_view text = R"(-- Whether some element over axes is true; false over none.
any(x[..kept, ..gone @ axes] : bool) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes] : bool
  y[..i, ..u @ axes] = any[..k] x[..i, ..k @ axes]
)";
};
inline constexpr Operation<AnyText> any{};

struct AllText {
  static constexpr std::string_view text = R"(-- Whether every element over axes is true; true over none.
all(x[..kept, ..gone @ axes] : bool) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes] : bool
  y[..i, ..u @ axes] = all[..k] x[..i, ..k @ axes]
)";
};
inline constexpr Operation<AllText> all{};

struct VarText {
  static constexpr std::string_view text = R"(-- The variance over axes: squared distances from the mean, over their number less the correction.
var(x[..kept, ..gone @ axes]) {axes = all, correction = 1, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes]
  requires 0 <= correction and correction < size(..gone)
  m[..i] = (sum[..k] x[..i, ..k @ axes]) / size(..gone)
  d[..i, ..k @ axes] = x[..i, ..k @ axes] - m[..i]
  y[..i, ..u @ axes] = (sum[..k] d[..i, ..k @ axes]*d[..i, ..k @ axes]) / (size(..gone) - correction)
  also
  -- The mean computed anew for each element.
  a[..i, ..k < ..gone] = (sum[..l < ..gone] x[..i, ..l @ axes]) / size(..gone)
  y[..i, ..u @ axes] = (sum[..k] (x[..i, ..k @ axes] - a[..i, ..k])*(x[..i, ..k @ axes] - a[..i, ..k])) / (size(..gone) - correction)
  vjp
  g[..i] = sum[..u] y~[..i, ..u @ axes]
  x~[..i, ..k @ axes] = 2/(size(..gone) - correction)*g[..i]*d[..i, ..k @ axes]
  jvp
  y'[..i, ..u @ axes] = sum[..k] (2/(size(..gone) - correction))*x'[..i, ..k @ axes]*d[..i, ..k @ axes]
)";
};
inline constexpr Operation<VarText> var{};

struct StdText {
  static constexpr std::string_view text = R"(-- The standard deviation over axes: the root of the variance; where that is 0 its derivative is 0.
std(x[..kept, ..gone @ axes]) {axes = all, correction = 1, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes]
  requires 0 <= correction and correction < size(..gone)
  m[..i] = (sum[..k] x[..i, ..k @ axes]) / size(..gone)
  d[..i, ..k @ axes] = x[..i, ..k @ axes] - m[..i]
  v[..i] = (sum[..k] d[..i, ..k @ axes]*d[..i, ..k @ axes]) / (size(..gone) - correction)
  -- A comparison with NaN is false, so the branch that keeps it stands last.
  y[..i, ..u @ axes] = if v[..i] <= 0 then 0 else sqrt(v[..i])
  also
  -- The mean computed anew for each element.
  a[..i, ..k < ..gone] = (sum[..l < ..gone] x[..i, ..l @ axes]) / size(..gone)
  y[..i, ..u @ axes] = sqrt((sum[..k] (x[..i, ..k @ axes] - a[..i, ..k])*(x[..i, ..k @ axes] - a[..i, ..k])) / (size(..gone) - correction))
  vjp
  r[..i] = sqrt(v[..i])
  g[..i] = sum[..u] (if r[..i] == 0 then 0 else y~[..i, ..u @ axes]/(2*r[..i]))
  x~[..i, ..k @ axes] = 2/(size(..gone) - correction)*g[..i]*d[..i, ..k @ axes]
  vjp
  -- The root moves by the elements alone: what they do to the mean does not change it.
  r[..i] = sqrt((sum[..k] (x[..i, ..k @ axes] - detach(m[..i]))*(x[..i, ..k @ axes] - detach(m[..i]))) / (size(..gone) - correction))
  g[..i] = sum[..u] (if r[..i] == 0 then 0 else y~[..i, ..u @ axes]/(2*r[..i]))
  x~[..i, ..k @ axes] = 2/(size(..gone) - correction)*g[..i]*d[..i, ..k @ axes]
  jvp
  r[..i] = sqrt(v[..i])
  e[..i] = sum[..k] (2/(size(..gone) - correction))*x'[..i, ..k @ axes]*d[..i, ..k @ axes]
  y'[..i, ..u @ axes] = if r[..i] <= 0 then 0 else e[..i]/(2*r[..i])
)";
};
/// Not named as its definition: beside `using namespace etalon::ops` that would be ambiguous with the namespace std.
inline constexpr Operation<StdText> standard_deviation{};

struct NormText {
  static constexpr std::string_view text = R"(-- The norm over axes: Euclidean, the sum of magnitudes, or the largest magnitude.
norm(x[..kept, ..gone @ axes]) {axes = all, ord = two | one | infinity, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes]
  s[..i] = sum[..k] x[..i, ..k @ axes]*x[..i, ..k @ axes]
  -- At the zero vector the derivative is 0; NaN goes to the branch that keeps it.
  y[..i, ..u @ axes] when ord == two = if s[..i] <= 0 then 0 else sqrt(s[..i])
  y[..i, ..u @ axes] when ord == one = sum[..k] abs(x[..i, ..k @ axes])
  y[..i, ..u @ axes] when ord == infinity = max[..k] abs(x[..i, ..k @ axes]) else 0
)";
};
inline constexpr Operation<NormText> norm{};

struct LogsumexpText {
  static constexpr std::string_view text = R"(-- The logarithm of the sum of exponentials over axes, shifted by the largest; -inf over none.
logsumexp(x[..kept, ..gone @ axes]) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes]
  top[..i] = detach(max[..k] x[..i, ..k @ axes] else 0)
  -- An infinite largest element is no shift: inf - inf would be NaN.
  shift[..i] = if isinf(top[..i]) then 0 else top[..i]
  y[..i, ..u @ axes] = shift[..i] + log(sum[..k] exp(x[..i, ..k @ axes] - shift[..i]))
  vjp
  x~[..i, ..k @ axes] = sum[..u] exp(x[..i, ..k @ axes] - y[..i, ..u @ axes])*y~[..i, ..u @ axes]
  jvp
  y'[..i, ..u @ axes] = sum[..k] exp(x[..i, ..k @ axes] - y[..i, ..u @ axes])*x'[..i, ..k @ axes]
)";
};
inline constexpr Operation<LogsumexpText> logsumexp{};

struct CumsumText {
  static constexpr std::string_view text = R"(-- Sums of the elements so far along one axis; from the end if reversed, without the element itself if exclusive.
cumsum(x[..rest, n @ axis] : number) {axis = -1, reverse = false, exclusive = false} -> y[..rest, n @ axis]
  y[..i, j @ axis] when not reverse and not exclusive = (y[..i, j - 1 @ axis] else 0) + x[..i, j @ axis]
  y[..i, j @ axis] when reverse and not exclusive = (y[..i, j + 1 @ axis] else 0) + x[..i, j @ axis]
  y[..i, j @ axis] when not reverse and exclusive = (y[..i, j - 1 @ axis] else 0) + (x[..i, j - 1 @ axis] else 0)
  y[..i, j @ axis] when reverse and exclusive = (y[..i, j + 1 @ axis] else 0) + (x[..i, j + 1 @ axis] else 0)
  also
  y[..i, j @ axis] = sum[k where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] x[..i, k @ axis]
  vjp
  x~[..i, k @ axis] = sum[j where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] y~[..i, j @ axis]
  jvp
  y'[..i, j @ axis] = sum[k where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] x'[..i, k @ axis]
)";
};
inline constexpr Operation<CumsumText> cumsum{};

struct CumprodText {
  static constexpr std::string_view text = R"(-- Products of the elements so far along one axis; from the end if reversed, without the element itself if exclusive.
cumprod(x[..rest, n @ axis] : number) {axis = -1, reverse = false, exclusive = false} -> y[..rest, n @ axis]
  y[..i, j @ axis] when not reverse and not exclusive = (y[..i, j - 1 @ axis] else 1) * x[..i, j @ axis]
  y[..i, j @ axis] when reverse and not exclusive = (y[..i, j + 1 @ axis] else 1) * x[..i, j @ axis]
  y[..i, j @ axis] when not reverse and exclusive = (y[..i, j - 1 @ axis] else 1) * (x[..i, j - 1 @ axis] else 1)
  y[..i, j @ axis] when reverse and exclusive = (y[..i, j + 1 @ axis] else 1) * (x[..i, j + 1 @ axis] else 1)
  also
  y[..i, j @ axis] = prod[k where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] x[..i, k @ axis]
  vjp
  -- Products of their own, which may be rounded once each.
  q[..i, j < n] = prod[k where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] x[..i, k @ axis]
  x~[..i, k @ axis] = (if x[..i, k @ axis] == 0
    then (sum[j where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] y~[..i, j @ axis]*prod[l where (if reverse then j <= l else l <= j) and not (exclusive and j == l) and not l == k] x[..i, l @ axis])
    else (sum[j where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] q[..i, j]*y~[..i, j @ axis]) / x[..i, k @ axis])
  vjp
  -- Where a factor is 0, those before it stand before the sum.
  q[..i, j < n] = prod[k where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] x[..i, k @ axis]
  x~[..i, k @ axis] = (if x[..i, k @ axis] == 0
    then (prod[l where (if reverse then k < l else l < k)] x[..i, l @ axis])*(sum[j where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] y~[..i, j @ axis]*prod[l where (if reverse then j <= l and l < k else l <= j and k < l) and not (exclusive and j == l)] x[..i, l @ axis])
    else (sum[j where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] q[..i, j]*y~[..i, j @ axis]) / x[..i, k @ axis])
  jvp
  y'[..i, j @ axis] = sum[k where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] x'[..i, k @ axis]*(if x[..i, k @ axis] == 0
    then prod[l where (if reverse then j <= l else l <= j) and not (exclusive and j == l) and not l == k] x[..i, l @ axis]
    else y[..i, j @ axis] / x[..i, k @ axis])
  jvp
  zeros[..i, j < n] = sum[k where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] (if x[..i, k @ axis] == 0 then 1 else 0)
  y'[..i, j @ axis] = if zeros[..i, j] > 0
    then (sum[k where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] x'[..i, k @ axis]*prod[l where (if reverse then j <= l else l <= j) and not (exclusive and j == l) and not l == k] x[..i, l @ axis])
    else (sum[k where (if reverse then j <= k else k <= j) and not (exclusive and j == k)] (if x[..i, k @ axis] == 0 then 0 else x'[..i, k @ axis] / x[..i, k @ axis]))*y[..i, j @ axis]
)";
};
inline constexpr Operation<CumprodText> cumprod{};

/// What the library registers of this family.
using ReductionsOperations =
    spec::OperationList<SumText, MeanText, ProdText, MaxText, MinText, ArgmaxText, ArgminText, AnyText, AllText,
                        VarText, StdText, NormText, LogsumexpText, CumsumText, CumprodText>;

}  // namespace etalon::ops
