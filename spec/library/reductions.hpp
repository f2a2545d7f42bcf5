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

struct MaxText {
  static constexpr std::string_view text = R"(-- The largest over axes; the first of equals has the derivative.
max(x[..kept, ..gone @ axes] : number) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes]
  requires size(..gone) > 0
  y[..i, ..u @ axes] = max[..k] x[..i, ..k @ axes]
)";
};
inline constexpr Operation<MaxText> max{};

struct ArgmaxText {
  static constexpr std::string_view text = R"(-- The position of the first largest along one axis.
argmax(x[..kept, n @ axis] : number) {axis = -1} -> y[..kept] : int
  requires n > 0
  y[..i] = argmax[k] x[..i, k @ axis]
)";
};
inline constexpr Operation<ArgmaxText> argmax{};

struct LogsumexpText {
  static constexpr std::string_view text = R"(-- The logarithm of the sum of exponentials over axes, shifted by the largest; -inf over none.
logsumexp(x[..kept, ..gone @ axes]) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes]
  top[..i] = detach(max[..k] x[..i, ..k @ axes] else 0)
  -- An infinite largest element is no shift: inf - inf would be NaN.
  shift[..i] = if isinf(top[..i]) then 0 else top[..i]
  y[..i, ..u @ axes] = shift[..i] + log(sum[..k] exp(x[..i, ..k @ axes] - shift[..i]))
)";
};
inline constexpr Operation<LogsumexpText> logsumexp{};

/// What the library registers of this family.
using ReductionsOperations = spec::OperationList<SumText, MeanText, MaxText, ArgmaxText, LogsumexpText>;

}  // namespace etalon::ops
