#include <algorithm>
#include <string>

#include "conformance/interchange/onnx/rows.hpp"

namespace etalon::conformance::onnx {
namespace {

/// Axes are an attribute, or an operand since opset 13 (ReduceSum) and 18; none are all, unless the node says otherwise.
[[nodiscard]] spec::Attributes reduction_of(NodeTranslation& n) {
  std::optional<Integers> axes = n.integers("axes");
  if (n.has(1)) axes = n.known_integers(1);
  const bool keeps_all = n.integer("noop_with_empty_axes", 0) != 0;
  spec::Attributes attributes{{"keepdims", n.integer("keepdims", 1) != 0}};
  if (axes && !axes->empty()) {
    for (std::int64_t& axis : *axes) axis = from_front(axis, n.rank());
    attributes["axes"] = *axes;
  } else if (keeps_all) {
    attributes["axes"] = Integers{};
  }
  return attributes;
}

[[nodiscard]] Values reduced(NodeTranslation& n) { return {n.one(n.meaning(), {n.x()}, reduction_of(n))}; }
[[nodiscard]] Values sum_of_sizes(NodeTranslation& n) { return {n.one("sum", {n.one("abs", {n.x()})}, reduction_of(n))}; }
[[nodiscard]] Values sum_of_squares(NodeTranslation& n) { return {n.one("sum", {n.one("square", {n.x()})}, reduction_of(n))}; }
[[nodiscard]] Values log_of_sum(NodeTranslation& n) { return {n.one("log", {n.one("sum", {n.x()}, reduction_of(n))})}; }

/// The last of equal extrema is the first of the reversed axis.
[[nodiscard]] Values place_of_extremum(NodeTranslation& n) {
  const std::int64_t axis = n.axis("axis", 0, n.rank());
  const bool is_last = n.integer("select_last_index", 0) != 0;
  const spec::Attributes attributes{{"axes", Integers{axis}}, {"keepdims", n.integer("keepdims", 1) != 0}};
  if (!is_last) return {n.one(n.meaning(), {n.x()}, attributes)};
  const Value reversed = n.one("flip", {n.x()}, {{"axes", Integers{axis}}});
  const Value place = n.one(n.meaning(), {reversed}, attributes);
  return {n.one("sub", {scalar(static_cast<double>(n.dims()[static_cast<std::size_t>(axis)] - 1), DType::i64), place})};
}

[[nodiscard]] Values matmul(NodeTranslation& n) { return {n.one(n.meaning(), {n.x(0), n.x(1)})}; }

/// alpha·A'·B' + beta·C
[[nodiscard]] Values gemm(NodeTranslation& n) {
  n.read_over({"broadcast"});
  const auto factor = [&](std::size_t i, const char* transposed) {
    return n.integer(transposed, 0) == 0 ? n.x(i) : n.one("transpose", {n.x(i)}, {{"permutation", Integers{1, 0}}});
  };
  refuse(n.rank(0) != 2 || n.rank(1) != 2, "the factors must be matrices");
  const double alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  refuse(kind_of(n.dtype()) != Kind::real && (alpha != 1 || beta != 1), "integers times alpha or beta, which are reals");
  Value y = n.one("matmul", {factor(0, "transA"), factor(1, "transB")});
  if (alpha != 1) y = n.one("mul", {scalar(alpha, n.dtype()), y});
  if (!n.has(2)) return {y};
  const Value c = beta == 1 ? n.x(2) : n.one("mul", {scalar(beta, n.dtype()), n.x(2)});
  return {n.one("add", {y, c})};
}

[[nodiscard]] Values cumulative_sum(NodeTranslation& n) {
  const std::int64_t axis = from_front(n.known_place(1), n.rank());
  return {
      n.one("cumsum", {n.x()}, {{"axis", axis}, {"reverse", n.integer("reverse", 0) != 0}, {"exclusive", n.integer("exclusive", 0) != 0}})};
}

[[nodiscard]] Values einsum(NodeTranslation& n) { return {n.einsum(n.text("equation", ""))}; }

constexpr std::array<AttributeName, 2> over_axes{{{"axes", "axes"}, {"keepdims", "keepdims"}}};

constexpr Row rows[] = {
    {"ArgMax", place_of_extremum, "argmax"},
    {"ArgMin", place_of_extremum, "argmin"},
    {"CumSum", cumulative_sum},
    {"Einsum", einsum},
    {"Gemm", gemm},
    {"MatMul", matmul, "matmul", true},
    {"ReduceL1", sum_of_sizes},
    {"ReduceL2", reduced, "norm"},
    {"ReduceLogSum", log_of_sum},
    {"ReduceLogSumExp", reduced, "logsumexp", true, over_axes},
    {"ReduceMax", reduced, "max", true, over_axes},
    {"ReduceMean", reduced, "mean", true, over_axes},
    {"ReduceMin", reduced, "min", true, over_axes},
    {"ReduceProd", reduced, "prod", true, over_axes},
    {"ReduceSum", reduced, "sum"},
    {"ReduceSumSquare", sum_of_squares},
};

}  // namespace

std::span<const Row> reduction_rows() { return rows; }

}  // namespace etalon::conformance::onnx
