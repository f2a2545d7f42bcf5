/// \file
/// Products of matrices and vectors.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct MatmulText {
  static constexpr std::string_view text = R"(-- The product of matrices; leading rows join by broadcasting, and an operand of one axis is a vector.
matmul(a[..p, ..m?, k] : number, b[..q, k, ..n?] : number) -> y[..(p & q), ..m, ..n]
  y[..i, ..r, ..c] = sum[j] a[..i, ..r, j] * b[..i, j, ..c]
)";
};
inline constexpr Operation<MatmulText> matmul{};

struct DotText {
  static constexpr std::string_view text = R"(-- The sum of the products of two vectors.
dot(a[n] : number, b[n] : number) -> y
  y = sum[j] a[j] * b[j]
)";
};
inline constexpr Operation<DotText> dot{};

struct OuterText {
  static constexpr std::string_view text = R"(-- All products of elements of two vectors.
outer(a[m] : number, b[n] : number) -> y[m, n]
  y[i, j] = a[i] * b[j]
)";
};
inline constexpr Operation<OuterText> outer{};

struct LinearText {
  static constexpr std::string_view text = R"(-- x times the transpose of the weights, plus the bias.
linear(x[..., n], w[o, n], b[o]?) -> y[..., o]
  y[..., f] = (b[f] else 0) + sum[j] x[..., j] * w[f, j]
)";
};
inline constexpr Operation<LinearText> linear{};

/// What the library registers of this family.
using LinearOperations = spec::OperationList<MatmulText, DotText, OuterText, LinearText>;

}  // namespace etalon::ops
