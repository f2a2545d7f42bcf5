#include <cmath>

#include "conformance/adapters/onednn/operations.hpp"

namespace etalon::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

struct Choice {
  algorithm which;
  float alpha = 0, beta = 0;
};
using Chooser = std::function<Choice(const Call&)>;

/// oneDNN has no tensors without axes.
[[nodiscard]] Dims at_least_one_axis(const Dims& shape) { return shape.empty() ? Dims{1} : shape; }

Results eltwise(const Call& c, const Chooser& choose) {
  const Choice choice = choose(c);
  const Dims shape = at_least_one_axis(c.x().shape);
  const auto pd = described<dnnl::eltwise_forward>(c.recording, "eltwise_forward", prop_kind::forward_training, choice.which, desc(shape), choice.alpha, choice.beta);
  Execution run(pd);
  run.give(DNNL_ARG_SRC, c.x(), desc(shape), pd->src_desc());
  run.room(DNNL_ARG_DST, pd->dst_desc());
  run.run();
  return {run.take(DNNL_ARG_DST, c.x().shape, desc(shape))};
}

Results eltwise_backward(const Call& c, const Results& cotangents, const Chooser& choose) {
  const Choice choice = choose(c);
  const Dims shape = at_least_one_axis(c.x().shape);
  const Desc d = desc(shape);
  const auto hint = described<dnnl::eltwise_forward>(c.recording, "eltwise_forward", prop_kind::forward_training, choice.which, d, choice.alpha, choice.beta);
  const auto pd = described_after<dnnl::eltwise_backward>(hint, "eltwise_backward", choice.which, d, d, choice.alpha, choice.beta);
  Execution run(pd);
  run.give(DNNL_ARG_SRC, c.x(), d, pd->src_desc());
  run.give(DNNL_ARG_DIFF_DST, *cotangents[0], d, pd->diff_dst_desc());
  run.room(DNNL_ARG_DIFF_SRC, pd->diff_src_desc());
  run.run();
  return {run.take(DNNL_ARG_DIFF_SRC, c.x().shape, d)};
}

void add(Operations& into, const char* name, Chooser choose, bool differentiable = true) {
  Operation o{[choose](const Call& c) { return eltwise(c, choose); }};
  if (differentiable) o.backward = [choose](const Call& c, const Results& r) { return eltwise_backward(c, r, choose); };
  into.emplace(name, std::move(o));
}

[[nodiscard]] Dims padded(const Dims& shape, std::size_t rank) {
  Dims result(rank - shape.size(), 1);
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

Results binary(const Call& c, algorithm which, bool truth) {
  const std::size_t rank = std::max<std::size_t>({c.x(0).shape.size(), c.x(1).shape.size(), 1});
  const Dims a = padded(c.x(0).shape, rank), b = padded(c.x(1).shape, rank);
  Dims shape(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) shape[axis] = a[axis] == 1 ? b[axis] : a[axis];
  need(a == shape, "shape", "oneDNN 2.6 broadcasts only the second operand");
  const auto pd = described<dnnl::binary>(c.recording, "binary", which, desc(a), desc(b), desc(shape));
  Execution run(pd);
  run.give(DNNL_ARG_SRC_0, c.x(0), desc(a), pd->src0_desc());
  run.give(DNNL_ARG_SRC_1, c.x(1), desc(b), pd->src1_desc());
  run.room(DNNL_ARG_DST, pd->dst_desc());
  run.run();
  shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(rank - std::max(c.x(0).shape.size(), c.x(1).shape.size())));
  Tensor y = run.take(DNNL_ARG_DST, shape, desc(at_least_one_axis(shape)));
  y.truth = truth;
  return {y};
}

}  // namespace

void add_elementwise(Operations& into) {
  const auto plain = [&](const char* name, algorithm which, float alpha = 0, float beta = 0) {
    add(into, name, [=](const Call&) { return Choice{which, alpha, beta}; });
  };
  plain("relu", algorithm::eltwise_relu);
  plain("tanh", algorithm::eltwise_tanh);
  plain("square", algorithm::eltwise_square);
  plain("abs", algorithm::eltwise_abs);
  plain("sqrt", algorithm::eltwise_sqrt);
  plain("sigmoid", algorithm::eltwise_logistic);
  plain("exp", algorithm::eltwise_exp);
  plain("log", algorithm::eltwise_log);
  plain("silu", algorithm::eltwise_swish, 1);
  plain("neg", algorithm::eltwise_linear, -1);
  add(into, "round", [](const Call&) { return Choice{algorithm::eltwise_round}; }, false);
  add(into, "leaky_relu", [](const Call& c) { return Choice{algorithm::eltwise_relu, c.number("slope")}; });
  add(into, "elu", [](const Call& c) { return Choice{algorithm::eltwise_elu, c.number("alpha")}; });
  add(into, "scale", [](const Call& c) { return Choice{algorithm::eltwise_linear, c.number("by")}; });
  add(into, "clamp", [](const Call& c) {
    need(c.number("low") <= c.number("high"), "attribute", "oneDNN clips between ordered ends");
    return Choice{algorithm::eltwise_clip, c.number("low"), c.number("high")};
  });
  add(into, "gelu", [](const Call& c) {
    return Choice{c.symbol("approximate") == "tanh" ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf};
  });
  add(into, "softplus", [](const Call& c) {
    need(c.number("beta") == 1, "attribute", "oneDNN 2.6 has softplus for beta 1");
    return Choice{algorithm::eltwise_soft_relu};
  });
  const auto two = [&](const char* name, algorithm which, bool truth = false) {
    into.emplace(name, Operation{[=](const Call& c) { return binary(c, which, truth); }});
  };
  two("add", algorithm::binary_add);
  two("sub", algorithm::binary_sub);
  two("mul", algorithm::binary_mul);
  two("div", algorithm::binary_div);
  two("maximum", algorithm::binary_max);
  two("minimum", algorithm::binary_min);
  two("eq", algorithm::binary_eq, true);
  two("ne", algorithm::binary_ne, true);
  two("lt", algorithm::binary_lt, true);
  two("le", algorithm::binary_le, true);
  two("gt", algorithm::binary_gt, true);
  two("ge", algorithm::binary_ge, true);
}

}  // namespace etalon::onednn
