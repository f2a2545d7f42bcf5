#include <algorithm>

#include "conformance/adapters/onednn/operations.hpp"

namespace etalon::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

Results reduction(const Call& c, algorithm which) {
  const Tensor& x = c.x();
  const Dims axes = c.list("axes", 1);
  Dims kept = x.shape, shape;
  for (const std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    const bool gone = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (!gone || c.integer("keepdims") != 0) shape.push_back(kept[i]);
  }
  need(kept != x.shape, "shape", "oneDNN has no reduction of nothing");
  const auto pd = described<dnnl::reduction>(c.recording, "reduction", which, desc(x.shape), desc(kept), 0.0F, 0.0F);
  Execution run(pd);
  run.give(DNNL_ARG_SRC, x, pd->src_desc());
  run.room(DNNL_ARG_DST, pd->dst_desc());
  run.run();
  return {run.take(DNNL_ARG_DST, shape, desc(kept))};
}

Results softmax(const Call& c, algorithm which) {
  const Tensor& x = c.x();
  const auto pd = described<dnnl::softmax_v2_forward>(c.recording, "softmax_v2_forward", prop_kind::forward_training, which, desc(x.shape), desc(x.shape), static_cast<int>(c.integer("axis")));
  Execution run(pd);
  run.give(DNNL_ARG_SRC, x, pd->src_desc());
  run.room(DNNL_ARG_DST, pd->dst_desc());
  run.run();
  return {run.take(DNNL_ARG_DST, x.shape)};
}

Results softmax_backward(const Call& c, const Results& cotangents, algorithm which) {
  const Tensor y = *softmax(c, which)[0];
  const Desc d = desc(y.shape);
  const int axis = static_cast<int>(c.integer("axis"));
  const auto hint = described<dnnl::softmax_v2_forward>(c.recording, "softmax_v2_forward", prop_kind::forward_training, which, d, d, axis);
  const auto pd = described_after<dnnl::softmax_v2_backward>(hint, "softmax_v2_backward", which, d, d, d, axis);
  Execution run(pd);
  run.give(DNNL_ARG_DST, y, pd->dst_desc());
  run.give(DNNL_ARG_DIFF_DST, *cotangents[0], pd->diff_dst_desc());
  run.room(DNNL_ARG_DIFF_SRC, pd->diff_src_desc());
  run.run();
  return {run.take(DNNL_ARG_DIFF_SRC, y.shape)};
}

Results concat(const Call& c) {
  const auto axis = static_cast<std::size_t>(c.integer("axis"));
  Dims shape = c.x().shape;
  std::vector<Desc> parts;
  shape[axis] = 0;
  for (const auto& x : c.operands) {
    parts.push_back(desc(x->shape));
    shape[axis] += x->shape[axis];
  }
  std::string words;
  for (const Desc& part : parts) words += (words.empty() ? "" : ", ") + text_of(part);
  const auto pd = recorded<dnnl::concat>(c.recording, "concat", {desc(shape), static_cast<int>(axis), parts, engine()},
                                         text_of(desc(shape)) + ", " + std::to_string(axis) + ", {" + words + "}");
  Execution run(pd);
  for (std::size_t i = 0; i < parts.size(); ++i) run.give(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), *c.operands[i], parts[i]);
  run.room(DNNL_ARG_DST, pd->dst_desc());
  run.run();
  return {run.take(DNNL_ARG_DST, shape)};
}

}  // namespace

void add_reductions(Operations& into) {
  const auto reduce = [&](const char* name, algorithm which) { into.emplace(name, Operation{[=](const Call& c) { return reduction(c, which); }}); };
  reduce("sum", algorithm::reduction_sum);
  reduce("mean", algorithm::reduction_mean);
  reduce("max", algorithm::reduction_max);
  reduce("min", algorithm::reduction_min);
  reduce("prod", algorithm::reduction_mul);
  for (const auto& [name, which] : {std::pair("softmax", algorithm::softmax_accurate), std::pair("log_softmax", algorithm::softmax_log)}) {
    into.emplace(name, Operation{[which = which](const Call& c) { return softmax(c, which); },
                                 [which = which](const Call& c, const Results& r) { return softmax_backward(c, r, which); }});
  }
  into.emplace("concat", Operation{concat});
}

}  // namespace etalon::onednn
