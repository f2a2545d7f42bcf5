/// \file
/// Products of matrices.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct MatmulText {
  static constexpr std::string_view text = R"(-- The product of matrices; leading rows join by broadcasting.
matmul(a[..p, m, k], b[..q, k, n]) -> y[..(p & q), m, n]
  y[..i, r, c] = sum[j] a[..i, r, j] * b[..i, j, c]
)";
};
inline constexpr Operation<MatmulText> matmul{};

struct LinearText {
  static constexpr std::string_view text = R"(-- x times the transpose of the weights, plus the bias.
linear(x[..., n], w[o, n], b[o]?) -> y[..., o]
  y[..., f] = (b[f] else 0) + sum[j] x[..., j] * w[f, j]
)";
};
inline constexpr Operation<LinearText> linear{};

/// What the library registers of this family.
using LinearOperations = spec::OperationList<MatmulText, LinearText>;

}  // namespace etalon::ops
