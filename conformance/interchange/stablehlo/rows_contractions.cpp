#include <fmt/format.h>

#include <algorithm>

#include "conformance/interchange/stablehlo/definition_text.hpp"
#include "conformance/interchange/stablehlo/monoid.hpp"
#include "conformance/interchange/stablehlo/pairs.hpp"
#include "conformance/interchange/stablehlo/rows.hpp"

namespace etalon::conformance::stablehlo {
namespace {

/// Pairs of axes of a product.
struct Pairs {
  Integers left_batch, right_batch, left_summed, right_summed;
};

[[nodiscard]] Integers listed(Translation& t, std::string_view name) { return t.integers(name).value_or(Integers{}); }

[[nodiscard]] Pairs pairs_of(Translation& t) {
  if (!t.says("dot_dimension_numbers"))
    return {listed(t, "batching_dims"), listed(t, "batching_dims.right"), listed(t, "contracting_dims"),
            listed(t, "contracting_dims.right")};
  Translation inner = t.within("dot_dimension_numbers");
  return {listed(inner, "lhs_batching_dimensions"), listed(inner, "rhs_batching_dimensions"),
          listed(inner, "lhs_contracting_dimensions"), listed(inner, "rhs_contracting_dimensions")};
}

/// One letter for each axis of an operand; nothing where an axis is not there or named twice.
void name_axes(std::string& letters, const Integers& axes, std::string_view names) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    refuse(axes[i] < 0 || axis >= letters.size() || letters[axis] != ' ',
           fmt::format("there is no axis {}, or it is named twice", axes[i]));
    letters[axis] = names[i];
  }
}

/// Batch axes, then the others of the first operand, then those of the second. What is narrower than the result is
/// widened.
[[nodiscard]] Value product(Translation& t, const Pairs& pairs) {
  const std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
  refuse(t.count() != 2, "two operands are expected");
  refuse(pairs.left_batch.size() != pairs.right_batch.size() || pairs.left_summed.size() != pairs.right_summed.size(),
         "axes are not in pairs");
  const std::size_t batches = pairs.left_batch.size(), sums = pairs.left_summed.size();
  const std::string_view batch = letters.substr(0, batches), summed = letters.substr(batches, sums);
  std::string left(t.rank(0), ' '), right(t.rank(1), ' '), out(batch);
  name_axes(left, pairs.left_batch, batch), name_axes(left, pairs.left_summed, summed);
  name_axes(right, pairs.right_batch, batch), name_axes(right, pairs.right_summed, summed);
  std::size_t next = batches + sums;
  for (std::string* names : {&left, &right}) {
    for (char& name : *names) {
      if (name == ' ') out += name = letters[next++];
    }
  }
  refuse(out.size() > Dims::max_rank, fmt::format("tensors of {} axes are not offered", out.size()));
  const DType dtype = t.result().dtype;
  refuse(kind_of(dtype) == Kind::boolean, "products of truth values are not offered");
  const Values operands{t.converted(t.x(0), dtype), t.converted(t.x(1), dtype)};
  return t.writer().einsum(fmt::format("{},{}->{}", left, right, out), operands);
}

/// How exactly a product is computed is the contract's to say.
[[nodiscard]] Values dot_general(Translation& t) {
  t.read_over({"precision", "precision_config", "algorithm"});
  return {product(t, pairs_of(t))};
}

[[nodiscard]] Values dot(Translation& t) {
  t.read_over({"precision", "precision_config"});
  refuse(t.rank(0) == 0 || t.rank(1) == 0, "vectors or matrices are expected");
  return {product(t, {{}, {}, {static_cast<std::int64_t>(t.rank(0)) - 1}, {0}})};
}

/// What is not the identity joins once to an extremum, whatever StableHLO does; to a sum it would join any number of
/// times.
[[nodiscard]] Values reduce(Translation& t) {
  if (t.count() == 4) return reduced_pairs(t);
  refuse(t.count() != 2, "reductions of more than two values at once are not offered");
  const std::optional<Integers> axes = t.integers("dimensions");
  refuse(!axes, "attribute \"dimensions\" is missing");
  const std::string_view reduction = reduction_of(t.region(), t.dtype());
  const Value initial = t.x(1);
  const bool is_known = initial->known && is_identity(reduction, *initial->known);
  const bool is_extremum = reduction == "max" || reduction == "min",
             is_truth = reduction == "any" || reduction == "all";
  refuse(!is_known && !is_extremum && !is_truth,
         fmt::format("a {} that does not begin with {}: it may be joined any number of times",
                     reduction == "sum" ? "sum" : "product", reduction == "sum" ? 0 : 1));
  refuse(initial->type.dtype != t.dtype(), "a reduction begins with another type");
  bool is_empty = false;
  for (const std::int64_t axis : *axes) {
    refuse(axis < 0 || axis >= static_cast<std::int64_t>(t.rank()),
           fmt::format("there is no axis {} among {}", axis, t.rank()));
    is_empty = is_empty || t.extents()[static_cast<std::size_t>(axis)] == 0;
  }
  if (axes->empty()) return {t.x()};
  if (is_extremum && is_empty) return {t.one("broadcast_to", {initial}, {{"shape", t.result().extents}})};
  const Value found = t.one(reduction, {t.x()}, {{"axes", *axes}});
  if (is_known) return {found};
  const std::string_view join = reduction == "max"   ? "maximum"
                                : reduction == "min" ? "minimum"
                                : reduction == "any" ? "logical_or"
                                                     : "logical_and";
  return {t.one(join, {found, initial})};
}

constexpr Row rows[] = {
    {"dot", dot, "einsum"},
    {"dot_general", dot_general, "einsum"},
    {"reduce", reduce, "sum", "any"},
};

}  // namespace

std::span<const Row> contraction_rows() { return rows; }

}  // namespace etalon::conformance::stablehlo
