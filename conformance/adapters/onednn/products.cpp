#include <utility>

#include "conformance/adapters/onednn/operations.hpp"

namespace etalon::onednn {
namespace {

/// A matrix product with strides of the caller's choice; ranks are equal and at least 2.
Tensor product(Recording* recording, const Tensor& a, const Desc& as, const Tensor& b, const Desc& bs, const Dims& shape) {
  const auto pd = described<dnnl::matmul>(recording, "matmul", as, bs, desc(shape));
  Execution run(pd);
  run.give(DNNL_ARG_SRC, a, as, pd->src_desc());
  run.give(DNNL_ARG_WEIGHTS, b, bs, pd->weights_desc());
  run.room(DNNL_ARG_DST, pd->dst_desc());
  run.run();
  return run.take(DNNL_ARG_DST, shape);
}

/// The last two axes swapped, in place.
[[nodiscard]] Desc transposed(const Dims& shape) {
  Dims swapped = shape, strides = dense_strides(shape);
  std::swap(swapped[shape.size() - 2], swapped[shape.size() - 1]);
  std::swap(strides[shape.size() - 2], strides[shape.size() - 1]);
  return desc(swapped, strides);
}

[[nodiscard]] Dims product_shape(const Call& c) {
  const Dims &a = c.x(0).shape, &b = c.x(1).shape;
  need(a.size() == b.size() && a.size() >= 2, "shape", "oneDNN multiplies matrices, and stacks of as many axes");
  Dims shape = a;
  for (std::size_t axis = 0; axis + 2 < a.size(); ++axis) shape[axis] = a[axis] == 1 ? b[axis] : a[axis];
  shape.back() = b.back();
  return shape;
}

Results matmul(const Call& c) { return {product(c.recording, c.x(0), desc(c.x(0).shape), c.x(1), desc(c.x(1).shape), product_shape(c))}; }

Results matmul_backward(const Call& c, const Results& cotangents) {
  const Dims shape = product_shape(c);
  for (std::size_t axis = 0; axis + 2 < shape.size(); ++axis)
    need(c.x(0).shape[axis] == c.x(1).shape[axis], "shape", "oneDNN does not add up what was broadcast");
  const Tensor& g = *cotangents[0];
  return {product(c.recording, g, desc(shape), c.x(1), transposed(c.x(1).shape), c.x(0).shape),
          product(c.recording, c.x(0), transposed(c.x(0).shape), g, desc(shape), c.x(1).shape)};
}

/// Everything but the last axis as one.
[[nodiscard]] Dims flat(const Dims& shape) { return {count(shape) / shape.back(), shape.back()}; }

[[nodiscard]] Described<dnnl::inner_product_forward> linear_desc(const Call& c, const Dims& x, const Dims& w, const Dims& y) {
  const auto kind = dnnl::prop_kind::forward_training;
  const char* type = "inner_product_forward";
  return c.has(2) ? described<dnnl::inner_product_forward>(c.recording, type, kind, any(x), any(w), desc({w[0]}), any(y))
                  : described<dnnl::inner_product_forward>(c.recording, type, kind, any(x), any(w), any(y));
}

Results linear(const Call& c) {
  const Dims x = flat(c.x(0).shape), w = c.x(1).shape, y = {x[0], w[0]};
  const auto pd = linear_desc(c, x, w, y);
  Execution run(pd);
  run.give(DNNL_ARG_SRC, c.x(0), desc(x), pd->src_desc());
  run.give(DNNL_ARG_WEIGHTS, c.x(1), pd->weights_desc());
  if (c.has(2)) run.give(DNNL_ARG_BIAS, c.x(2), pd->bias_desc());
  run.room(DNNL_ARG_DST, pd->dst_desc());
  run.run();
  Dims shape = c.x(0).shape;
  shape.back() = w[0];
  return {run.take(DNNL_ARG_DST, shape, desc(y))};
}

Results linear_backward(const Call& c, const Results& cotangents) {
  const Dims x = flat(c.x(0).shape), w = c.x(1).shape, y = {x[0], w[0]};
  const auto hint = linear_desc(c, x, w, y);
  Results results(c.operands.size());
  {
    const auto pd = described_after<dnnl::inner_product_backward_data>(hint, "inner_product_backward_data", any(x), any(w), any(y));
    Execution run(pd);
    run.give(DNNL_ARG_WEIGHTS, c.x(1), pd->weights_desc());
    run.give(DNNL_ARG_DIFF_DST, *cotangents[0], desc(y), pd->diff_dst_desc());
    run.room(DNNL_ARG_DIFF_SRC, pd->diff_src_desc());
    run.run();
    results[0] = run.take(DNNL_ARG_DIFF_SRC, c.x(0).shape, desc(x));
  }
  using Weights = dnnl::inner_product_backward_weights;
  const char* type = "inner_product_backward_weights";
  const auto pd = c.has(2) ? described_after<Weights>(hint, type, any(x), any(w), desc({w[0]}), any(y)) : described_after<Weights>(hint, type, any(x), any(w), any(y));
  Execution run(pd);
  run.give(DNNL_ARG_SRC, c.x(0), desc(x), pd->src_desc());
  run.give(DNNL_ARG_DIFF_DST, *cotangents[0], desc(y), pd->diff_dst_desc());
  run.room(DNNL_ARG_DIFF_WEIGHTS, pd->diff_weights_desc());
  if (c.has(2)) run.room(DNNL_ARG_DIFF_BIAS, pd->diff_bias_desc());
  run.run();
  results[1] = run.take(DNNL_ARG_DIFF_WEIGHTS, w);
  if (c.has(2)) results[2] = run.take(DNNL_ARG_DIFF_BIAS, c.x(2).shape);
  return results;
}

}  // namespace

void add_products(Operations& into) {
  into.emplace("matmul", Operation{matmul, matmul_backward});
  into.emplace("linear", Operation{linear, linear_backward});
}

}  // namespace etalon::onednn
