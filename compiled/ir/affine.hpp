/// \file
/// Index expressions as affine forms, and the range of their values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::compiled::loops {

/// constant + sum of coefficient · variable + sum of coefficient · opaque expression.
struct Affine {
  std::int64_t constant = 0;
  std::map<spec::VariableId, std::int64_t> variables;
  std::vector<std::pair<std::int64_t, spec::Expr>> opaque;

  [[nodiscard]] std::int64_t coefficient(spec::VariableId v) const;
};

[[nodiscard]] Affine affine(const spec::Expr& e);

/// The row-major element number of these indices.
[[nodiscard]] Affine element_number(const std::vector<spec::Expr>& indices, const Dims& dims);

/// Whether the free variables of `e` hold `v`.
[[nodiscard]] bool mentions(const spec::Expr& e, spec::VariableId v);

using Extents = std::unordered_map<spec::VariableId, std::int64_t>;

/// Bounds of an integer expression for variables in [0, extent); nothing when they are not known.
[[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> range_of(const spec::Expr& e, const Extents& extents);

}  // namespace etalon::compiled::loops
