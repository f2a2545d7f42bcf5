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
  const dnnl::reduction::primitive_desc pd({which, desc(x.shape), desc(kept), 0, 0}, engine());
  Execution run;
  run.give(DNNL_ARG_SRC, x, pd.src_desc());
  run.room(DNNL_ARG_DST, pd.dst_desc());
  run.run(dnnl::reduction(pd));
  return {run.take(DNNL_ARG_DST, shape, desc(kept))};
}

Results softmax(const Call& c, algorithm which) {
  const Tensor& x = c.x();
  const dnnl::softmax_v2_forward::primitive_desc pd({prop_kind::forward_training, which, desc(x.shape), desc(x.shape), static_cast<int>(c.integer("axis"))}, engine());
  Execution run;
  run.give(DNNL_ARG_SRC, x, pd.src_desc());
  run.room(DNNL_ARG_DST, pd.dst_desc());
  run.run(dnnl::softmax_v2_forward(pd));
  return {run.take(DNNL_ARG_DST, x.shape)};
}

Results softmax_backward(const Call& c, const Results& cotangents, algorithm which) {
  const Tensor y = *softmax(c, which)[0];
  const Desc d = desc(y.shape);
  const int axis = static_cast<int>(c.integer("axis"));
  const dnnl::softmax_v2_forward::primitive_desc hint({prop_kind::forward_training, which, d, d, axis}, engine());
  const dnnl::softmax_v2_backward::primitive_desc pd({which, d, d, d, axis}, engine(), hint);
  Execution run;
  run.give(DNNL_ARG_DST, y, pd.dst_desc());
  run.give(DNNL_ARG_DIFF_DST, *cotangents[0], pd.diff_dst_desc());
  run.room(DNNL_ARG_DIFF_SRC, pd.diff_src_desc());
  run.run(dnnl::softmax_v2_backward(pd));
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
  const dnnl::concat::primitive_desc pd(desc(shape), static_cast<int>(axis), parts, engine());
  Tensor y = zeros(shape);
  // Packs may have any number of members: no copies, and no fixed room for them.
  std::unordered_map<int, dnnl::memory> arguments;
  std::vector<Tensor> members;
  for (const auto& x : c.operands) members.push_back(*x);
  for (std::size_t i = 0; i < members.size(); ++i)
    arguments[DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i)] = dnnl::memory(parts[i], engine(), members[i].data.data());
  arguments[DNNL_ARG_DST] = dnnl::memory(pd.dst_desc(), engine(), y.data.data());
  dnnl::stream stream(engine());
  dnnl::concat(pd).execute(stream, arguments);
  stream.wait();
  return {y};
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
