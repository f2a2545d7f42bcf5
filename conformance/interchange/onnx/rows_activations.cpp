#include "conformance/interchange/onnx/rows.hpp"

namespace etalon::conformance::onnx {
namespace {

/// ONNX's defaults are numbers of f32.
[[nodiscard]] double rounded(double number) { return static_cast<double>(static_cast<float>(number)); }

/// a·x, a written in x's type.
[[nodiscard]] Value times(NodeTranslation& n, double a, const Value& x) { return n.one("mul", {scalar(a, n.dtype()), x}); }

[[nodiscard]] Values leaky_relu(NodeTranslation& n) {
  n.read_over({"consumed_inputs"});
  return {n.one(n.meaning(), {n.x()}, {{"slope", n.real("alpha", rounded(0.01))}})};
}

[[nodiscard]] Values elu(NodeTranslation& n) {
  n.read_over({"consumed_inputs"});
  return {n.one(n.meaning(), {n.x()}, {{"alpha", n.real("alpha", 1)}})};
}

/// max(0, x) + min(0, a·(exp(x/a) - 1))
[[nodiscard]] Values celu(NodeTranslation& n) {
  const Value alpha = scalar(n.real("alpha", 1), n.dtype()), zero = scalar(0, n.dtype());
  const Value below = n.one("mul", {alpha, n.one("expm1", {n.one("div", {n.x(), alpha})})});
  return {n.one("add", {n.one("maximum", {zero, n.x()}), n.one("minimum", {zero, below})})};
}

/// gamma·x above zero, else gamma·(alpha·exp(x) - alpha)
[[nodiscard]] Values selu(NodeTranslation& n) {
  n.read_over({"consumed_inputs"});
  const double alpha = n.real("alpha", rounded(1.67326319217681884765625)), gamma = n.real("gamma", rounded(1.05070102214813232421875));
  return {times(n, gamma, n.one("elu", {n.x()}, {{"alpha", alpha}}))};
}

[[nodiscard]] Values gelu(NodeTranslation& n) { return {n.one(n.meaning(), {n.x()}, {{"approximate", n.text("approximate", "none")}})}; }

[[nodiscard]] Values prelu(NodeTranslation& n) {
  n.read_over({"consumed_inputs"});
  Value slope = n.x(1);
  if (n.opset() < 7 && n.rank(1) == 1 && n.rank(0) > 2) {  // one slope per channel
    Integers shape = extents_of(n.dims(1));
    shape.resize(static_cast<std::size_t>(n.rank(0)) - 1, 1);
    slope = n.reshaped(slope, shape);
  }
  const Value below = n.one("lt", {n.x(), scalar(0, n.dtype())});
  return {n.one("where", {below, n.one("mul", {slope, n.x()}), n.x()})};
}

[[nodiscard]] Values thresholded_relu(NodeTranslation& n) {
  const Value above = n.one("gt", {n.x(), scalar(n.real("alpha", 1), n.dtype())});
  return {n.one("where", {above, n.x(), scalar(0, n.dtype())})};
}

/// x + bias below -lambd, x - bias above lambd, else zero
[[nodiscard]] Values shrink(NodeTranslation& n) {
  const double lambda = n.real("lambd", 0.5), bias = n.real("bias", 0);
  const Value zero = scalar(0, n.dtype()), shift = scalar(bias, n.dtype());
  const Value above = n.one("where", {n.one("gt", {n.x(), scalar(lambda, n.dtype())}), n.one("sub", {n.x(), shift}), zero});
  return {n.one("where", {n.one("lt", {n.x(), scalar(-lambda, n.dtype())}), n.one("add", {n.x(), shift}), above})};
}

[[nodiscard]] Values softsign(NodeTranslation& n) {
  return {n.one("div", {n.x(), n.one("add", {scalar(1, n.dtype()), n.one("abs", {n.x()})})})};
}

[[nodiscard]] Value hard_sigmoid_of(NodeTranslation& n, double alpha, double beta) {
  return n.one("sat01", {n.one("add", {times(n, alpha, n.x()), scalar(beta, n.dtype())})});
}

[[nodiscard]] Values hard_sigmoid(NodeTranslation& n) {
  n.read_over({"consumed_inputs"});
  return {hard_sigmoid_of(n, n.real("alpha", rounded(0.2)), n.real("beta", 0.5))};
}

[[nodiscard]] Values hard_swish(NodeTranslation& n) {
  // The slope is the nearest number of the operand's type to a sixth.
  return {n.one("mul", {n.x(), hard_sigmoid_of(n, 1.0 / 6.0, 0.5)})};
}

[[nodiscard]] Values mish(NodeTranslation& n) { return {n.one("mul", {n.x(), n.one("tanh", {n.one("softplus", {n.x()})})})}; }

/// Before opset 13 the operand was a matrix whose rows are all axes from `axis` on.
[[nodiscard]] Values along_axis(NodeTranslation& n) {
  const bool is_old = n.opset() < 13;
  if (n.rank() == 0) return {n.reshaped(n.one(n.meaning(), {n.reshaped(n.x(), {1})}), {})};
  const std::int64_t axis = n.axis("axis", is_old ? 1 : -1, n.rank());
  if (!is_old || axis == n.rank() - 1) return {n.one(n.meaning(), {n.x()}, {{"axis", axis}})};
  const Integers shape = extents_of(n.dims());
  const std::span<const std::int64_t> all(shape);
  const Value rows =
      n.reshaped(n.x(), {product(all.first(static_cast<std::size_t>(axis))), product(all.subspan(static_cast<std::size_t>(axis)))});
  return {n.reshaped(n.one(n.meaning(), {rows}, {{"axis", std::int64_t{1}}}), shape)};
}

/// 1 at the first of the largest elements, else 0.
[[nodiscard]] Values hardmax(NodeTranslation& n) {
  refuse(n.opset() < 13, "the form before opset 13 is not offered");
  const std::int64_t axis = n.axis("axis", -1, n.rank());
  const Value place = n.one("argmax", {n.x()}, {{"axes", Integers{axis}}});
  return {n.one("one_hot", {place},
                {{"classes", n.dims()[static_cast<std::size_t>(axis)]}, {"axis", axis}, {"dtype", std::string(name_of(n.dtype()))}})};
}

constexpr Row rows[] = {
    {"Celu", celu},
    {"Elu", elu, "elu", true, {{{"alpha", "alpha"}}}},
    {"Gelu", gelu, "gelu", true, {{{"approximate", "approximate"}}}, 20},
    {"HardSigmoid", hard_sigmoid},
    {"HardSwish", hard_swish},
    {"Hardmax", hardmax},
    {"LeakyRelu", leaky_relu, "leaky_relu", true, {{{"slope", "alpha"}}}},
    {"LogSoftmax", along_axis, "log_softmax", true, {{{"axis", "axis"}}}},
    {"Mish", mish},
    {"PRelu", prelu},
    {"Relu", same_operands, "relu", true},
    {"Selu", selu},
    {"Shrink", shrink},
    {"Sigmoid", same_operands, "sigmoid", true},
    {"Softmax", along_axis, "softmax", true, {{{"axis", "axis"}}}},
    {"Softplus", same_operands, "softplus"},
    {"Softsign", softsign},
    {"ThresholdedRelu", thresholded_relu},
};

}  // namespace

std::span<const Row> activation_rows() { return rows; }

}  // namespace etalon::conformance::onnx
