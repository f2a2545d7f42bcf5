#include <algorithm>

#include "conformance/adapters/onednn/operations.hpp"

namespace etalon::onednn {
namespace {

using dnnl::normalization_flags;
using dnnl::prop_kind;

/// The operand as rows by the normalised elements; axes must be the last ones, and all that lies in them one axis.
struct Rows {
  Dims shape, inner;
};

[[nodiscard]] Rows rows_of(const Call& c) {
  const Dims& shape = c.x().shape;
  const Dims axes = c.list("axes", 1);
  Rows rows{{1, 1}, {}};
  for (std::size_t i = 0; i < axes.size(); ++i)
    need(axes[i] == static_cast<std::int64_t>(shape.size() - axes.size() + i), "attribute", "oneDNN normalises the last axes");
  need(!axes.empty(), "attribute", "oneDNN normalises at least one axis");
  for (std::size_t i = 0; i < shape.size(); ++i) rows.shape[i < shape.size() - axes.size() ? 0 : 1] *= shape[i];
  return rows;
}

[[nodiscard]] normalization_flags flags_of(const Call& c) {
  normalization_flags flags = normalization_flags::none;
  if (c.has(1)) flags |= normalization_flags::use_scale;
  if (c.has(2)) flags |= normalization_flags::use_shift;
  return flags;
}

void give_parameters(const Call& c, Execution& run, const Dims& shape) {
  if (c.has(1)) run.give(DNNL_ARG_SCALE, c.x(1), desc(shape), desc(shape));
  if (c.has(2)) run.give(DNNL_ARG_SHIFT, c.x(2), desc(shape), desc(shape));
}

[[nodiscard]] Described<dnnl::layer_normalization_forward> forward_desc(const Call& c, const Desc& d) {
  return described<dnnl::layer_normalization_forward>(c.recording, "layer_normalization_forward", prop_kind::forward_training, d, c.number("eps"), flags_of(c));
}

Results layer_norm(const Call& c) {
  const Rows rows = rows_of(c);
  const Desc d = desc(rows.shape);
  const auto pd = forward_desc(c, d);
  Execution run(pd);
  run.give(DNNL_ARG_SRC, c.x(), d, pd->src_desc());
  give_parameters(c, run, {rows.shape[1]});
  run.room(DNNL_ARG_DST, pd->dst_desc());
  run.room(DNNL_ARG_MEAN, pd->mean_desc());
  run.room(DNNL_ARG_VARIANCE, pd->variance_desc());
  run.run();
  return {run.take(DNNL_ARG_DST, c.x().shape, d)};
}

Results layer_norm_backward(const Call& c, const Results& cotangents) {
  const Rows rows = rows_of(c);
  const Desc d = desc(rows.shape);
  const auto hint = forward_desc(c, d);
  const auto pd = described_after<dnnl::layer_normalization_backward>(hint, "layer_normalization_backward", prop_kind::backward, d, d, c.number("eps"), flags_of(c));
  Execution run(hint);
  run.give(DNNL_ARG_SRC, c.x(), d, hint->src_desc());
  give_parameters(c, run, {rows.shape[1]});
  run.room(DNNL_ARG_DST, hint->dst_desc());
  run.room(DNNL_ARG_MEAN, hint->mean_desc());
  run.room(DNNL_ARG_VARIANCE, hint->variance_desc());
  run.run();
  Execution back(pd);
  back.give(DNNL_ARG_SRC, c.x(), d, pd->src_desc());
  back.give(DNNL_ARG_DIFF_DST, *cotangents[0], d, pd->diff_dst_desc());
  back.put(DNNL_ARG_MEAN, run);
  back.put(DNNL_ARG_VARIANCE, run);
  give_parameters(c, back, {rows.shape[1]});
  back.room(DNNL_ARG_DIFF_SRC, pd->diff_src_desc());
  const Desc parameter = desc({rows.shape[1]});
  if (c.has(1)) back.room(DNNL_ARG_DIFF_SCALE, parameter);
  if (c.has(2)) back.room(DNNL_ARG_DIFF_SHIFT, parameter);
  back.run();
  Results results(c.operands.size());
  results[0] = back.take(DNNL_ARG_DIFF_SRC, c.x().shape, d);
  if (c.has(1)) results[1] = back.take(DNNL_ARG_DIFF_SCALE, c.x(1).shape, parameter);
  if (c.has(2)) results[2] = back.take(DNNL_ARG_DIFF_SHIFT, c.x(2).shape, parameter);
  return results;
}

}  // namespace

void add_normalisation(Operations& into) { into.emplace("layer_norm", Operation{layer_norm, layer_norm_backward}); }

}  // namespace etalon::onednn
