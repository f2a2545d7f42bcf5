/// \file
/// The names of `spec`'s systems that this folder speaks in as in its own, and what is asked of their expressions everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::compiled {

using spec::Binder;
using spec::Equation;
using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::System;
using spec::TensorId;

/// Calls `visit` on every read in an expression, those in indices of others too.
void for_each_read(const Expr& e, const std::function<void(const Expr&)>& visit);
/// The same for what an equation computes, and for where it writes.
void for_each_read(const Equation& equation, const std::function<void(const Expr&)>& visit);

/// Whether an expression, or something below it, is one of these.
[[nodiscard]] bool holds(const Expr& e, const std::function<bool(const Expr&)>& is_one);

/// Which of the binders an index is, if it is just that.
[[nodiscard]] std::optional<std::size_t> position_of(const Expr& index, const std::vector<Binder>& binders);

/// How many values binders have together.
template <class Number = std::int64_t>
[[nodiscard]] Number points_of(const std::vector<Binder>& binders) {
  Number points = 1;
  for (const Binder& b : binders) points *= static_cast<Number>(b.extent);
  return points;
}

/// Bytes of all elements of a tensor.
[[nodiscard]] std::size_t bytes_of(const spec::TensorInfo& tensor);

/// Whether a sum, a product, … stands in an expression.
[[nodiscard]] bool has_reduction(const Expr& e);

/// Whether an element of the tensor is read in an expression.
[[nodiscard]] bool reads(const Expr& e, TensorId tensor);

/// Whether a condition is the constant that holds.
[[nodiscard]] bool is_true(const Expr& condition);

}  // namespace etalon::compiled
