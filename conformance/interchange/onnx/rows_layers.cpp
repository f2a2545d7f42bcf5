#include <algorithm>

#include "conformance/interchange/onnx/rows.hpp"

namespace etalon::conformance::onnx {
namespace {

/// ONNX's default is a number of f32.
[[nodiscard]] double epsilon(NodeTranslation& n) { return n.real("epsilon", static_cast<double>(1e-5F)); }

/// By given statistics; those of the batch ONNX updates by another rule than the library.
[[nodiscard]] Values batch_normalization(NodeTranslation& n) {
  n.read_over({"momentum", "consumed_inputs"});
  refuse(n.integer("training_mode", 0) != 0 || n.results() > 1,
         "statistics of the batch are not offered: the running variance is ONNX's, without n/(n - 1)");
  refuse(n.integer("spatial", 1) != 1, "statistics of single positions are not offered");
  refuse(n.opset() < 7 && n.integer("is_test", 0) == 0, "statistics of the batch are not offered");
  return {n.call("batch_norm", n.all(), {{"eps", epsilon(n)}, {"training", false}}).front()};
}

[[nodiscard]] Values instance_normalization(NodeTranslation& n) {
  n.read_over({"consumed_inputs"});
  return {n.one("instance_norm", n.all(), {{"eps", epsilon(n)}})};
}

[[nodiscard]] Values group_normalization(NodeTranslation& n) {
  refuse(n.opset() < 21, "a scale of each group, as before opset 21, is not offered");
  n.read_over({"stash_type"});
  return {n.one("group_norm", n.all(), {{"groups", n.integer("num_groups", 1)}, {"eps", epsilon(n)}})};
}

/// The axes from the one that is stated on.
[[nodiscard]] Integers last_axes(NodeTranslation& n) {
  Integers axes;
  for (std::int64_t i = n.axis("axis", -1, n.rank()); i < n.rank(); ++i) axes.push_back(i);
  return axes;
}

/// Scale and shift as the axes have them.
[[nodiscard]] Value over_axes(NodeTranslation& n, std::size_t i, const Integers& axes) {
  if (!n.has(i)) return nullptr;
  const Integers shape = extents_of(n.dims());
  const Integers inner(shape.end() - static_cast<std::ptrdiff_t>(axes.size()), shape.end());
  if (extents_of(n.dims(i)) == inner) return n.x(i);
  return n.one("broadcast_to", {n.x(i)}, {{"shape", joined(extents_of(n.dims(i)), inner)}});
}

[[nodiscard]] Values layer_normalization(NodeTranslation& n) {
  // In which type others compute, and the type of the mean and the deviation.
  const bool is_own_type = dtype_of(n.integer("stash_type", 1)) == n.dtype();
  const Integers axes = last_axes(n);
  const double eps = epsilon(n);
  Values results{n.one("layer_norm", {n.x(), over_axes(n, 1, axes), over_axes(n, 2, axes)}, {{"axes", axes}, {"eps", eps}})};
  if (!is_own_type) return results;
  if (n.wants(1) || n.wants(2)) results.push_back(n.one("mean", {n.x()}, {{"axes", axes}, {"keepdims", true}}));
  if (n.wants(2)) {
    const Value variance = n.one("var", {n.x()}, {{"axes", axes}, {"correction", std::int64_t{0}}, {"keepdims", true}});
    results.push_back(n.one("reciprocal", {n.one("sqrt", {n.one("add", {variance, scalar(eps, n.dtype())})})}));
  }
  return results;
}

[[nodiscard]] Values rms_normalization(NodeTranslation& n) {
  n.read_over({"stash_type"});
  const Integers axes = last_axes(n);
  return {n.one("rms_norm", {n.x(), over_axes(n, 1, axes)}, {{"axes", axes}, {"eps", epsilon(n)}})};
}

/// Outside of training it keeps everything.
[[nodiscard]] Values dropout(NodeTranslation& n) {
  n.read_over({"ratio", "seed", "consumed_inputs"});
  refuse(n.opset() < 7 && n.integer("is_test", 0) == 0, "training is not offered: ONNX does not say which numbers are drawn");
  refuse(n.has(2) && n.known_number(2) != 0, "training is not offered: ONNX does not say which numbers are drawn");
  if (!n.wants(1) || n.opset() < 10) return {n.x()};  // before, the mask has the operand's type
  refuse(n.dims().count() > (1 << 24), "a mask of so many elements is not offered");
  HostTensor kept(DType::boolean, n.dims());
  std::fill(kept.bytes.begin(), kept.bytes.end(), std::byte{1});
  return {n.x(), known_value(std::move(kept))};
}

[[nodiscard]] Values loss(NodeTranslation& n) {
  spec::Attributes attributes{{"reduction", n.text("reduction", "mean")}, {"axis", std::int64_t{1}}};
  if (n.says("ignore_index")) attributes["ignore_index"] = n.integer("ignore_index", 0);
  Values results{n.one(n.meaning(), {n.x(0), n.x(1), n.x_or_nothing(2)}, attributes)};
  if (n.wants(1)) results.push_back(n.one("log_softmax", {n.x()}, {{"axis", std::int64_t{1}}}));
  return results;
}

constexpr Row rows[] = {
    {"BatchNormalization", batch_normalization},
    {"Dropout", dropout},
    {"GroupNormalization", group_normalization},
    {"InstanceNormalization", instance_normalization},
    {"LayerNormalization", layer_normalization},
    {"NegativeLogLikelihoodLoss", loss, "nll"},
    {"RMSNormalization", rms_normalization},
    {"SoftmaxCrossEntropyLoss", loss, "cross_entropy"},
};

}  // namespace

std::span<const Row> layer_rows() { return rows; }

}  // namespace etalon::conformance::onnx
