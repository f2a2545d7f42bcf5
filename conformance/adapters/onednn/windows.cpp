#include <string>

#include "conformance/adapters/onednn/operations.hpp"

namespace etalon::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

/// What a window does along the spatial axes, in oneDNN's words: dilation 0 is none, padding on either side.
struct Windows {
  Dims shape, stride, dilation, before, after;
};

/// \param small the side with fewer places: the result of a convolution, the operand of a transposed one
[[nodiscard]] Windows windows_of(const Call& c, const Dims& large, const Dims& small, const Dims& kernel, bool dilated) {
  const std::size_t n = kernel.size();
  Windows w{small, c.list("stride", n), dilated ? c.list("dilation", n) : Dims(n, 1), c.list("padding", n), Dims(n)};
  for (std::size_t i = 0; i < n; ++i)
    w.after[i] = (small[i + 2] - 1) * w.stride[i] + w.dilation[i] * (kernel[i] - 1) + 1 - large[i + 2] - w.before[i];
  for (std::int64_t& d : w.dilation) --d;
  return w;
}

[[nodiscard]] Dims spatial(const Dims& shape) { return {shape.begin() + 2, shape.end()}; }

[[nodiscard]] std::int64_t places(std::int64_t extent, std::int64_t padding, std::int64_t reach, std::int64_t stride) {
  const std::int64_t steps = extent + 2 * padding - reach;
  return steps < 0 ? 0 : steps / stride + 1;
}

/// Shapes of a convolution; kernels with groups as oneDNN wants them.
struct Convolution {
  Dims x, k, y;
  Desc kernel;
  Windows windows;
};

[[nodiscard]] Convolution convolution_of(const Call& c, bool transpose) {
  const Dims &x = c.x(0).shape, &k = c.x(1).shape;
  const std::int64_t groups = c.integer("groups");
  const Dims kernel = spatial(k);
  const std::size_t n = kernel.size();
  need(n >= 1 && n <= 3, "shape", "oneDNN has convolutions of one to three axes");
  const Dims stride = c.list("stride", n), padding = c.list("padding", n), dilation = c.list("dilation", n);
  Convolution v{x, {}, {x[0], transpose ? k[1] * groups : k[0]}, {}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
    v.y.push_back(transpose ? (x[i + 2] - 1) * stride[i] - 2 * padding[i] + reach + c.list("output_padding", n)[i] : places(x[i + 2], padding[i], reach, stride[i]));
  }
  for (const std::int64_t extent : v.y) need(extent > 0, "shape", "oneDNN computes nothing of tensors without elements");
  // Dense kernels are [in, out/groups, …] when transposed, [out, in/groups, …] else; oneDNN's are [groups, out, in, …] of one group.
  const Dims dense = dense_strides(k);
  v.k = transpose ? Dims{groups, k[1], k[0] / groups} : Dims{groups, k[0] / groups, k[1]};
  Dims strides = transpose ? Dims{dense[0] * v.k[2], dense[1], dense[0]} : Dims{dense[0] * v.k[1], dense[0], dense[1]};
  v.k.insert(v.k.end(), kernel.begin(), kernel.end());
  strides.insert(strides.end(), dense.begin() + 2, dense.end());
  if (groups == 1) {
    v.k.erase(v.k.begin());
    strides.erase(strides.begin());
  }
  v.kernel = desc(v.k, strides);
  v.windows = transpose ? windows_of(c, v.y, x, kernel, true) : windows_of(c, x, v.y, kernel, true);
  for (const std::int64_t after : v.windows.after) need(!transpose || after >= 0, "attribute", "oneDNN takes no output padding beyond the padding");
  return v;
}

/// The primitives, and their names in C++.
struct Direct {
  using Forward = dnnl::convolution_forward;
  using Data = dnnl::convolution_backward_data;
  using Weights = dnnl::convolution_backward_weights;
  static constexpr const char *forward = "convolution_forward", *data = "convolution_backward_data", *weights = "convolution_backward_weights";
  static constexpr algorithm which = algorithm::convolution_direct;
  static constexpr bool transpose = false;
};

struct Transposed {
  using Forward = dnnl::deconvolution_forward;
  using Data = dnnl::deconvolution_backward_data;
  using Weights = dnnl::deconvolution_backward_weights;
  static constexpr const char *forward = "deconvolution_forward", *data = "deconvolution_backward_data", *weights = "deconvolution_backward_weights";
  static constexpr algorithm which = algorithm::deconvolution_direct;
  static constexpr bool transpose = true;
};

template <class Kind>
[[nodiscard]] Described<typename Kind::Forward> forward_desc(const Call& c, const Convolution& v) {
  const Windows& w = v.windows;
  const auto kind = prop_kind::forward_training;
  using P = typename Kind::Forward;
  return c.has(2) ? described<P>(c.recording, Kind::forward, kind, Kind::which, any(v.x), any(v.k), desc({v.y[1]}), any(v.y), w.stride, w.dilation, w.before, w.after)
                  : described<P>(c.recording, Kind::forward, kind, Kind::which, any(v.x), any(v.k), any(v.y), w.stride, w.dilation, w.before, w.after);
}

template <class Kind>
Results convolution(const Call& c) {
  const Convolution v = convolution_of(c, Kind::transpose);
  const auto pd = forward_desc<Kind>(c, v);
  Execution run(pd);
  run.give(DNNL_ARG_SRC, c.x(0), pd->src_desc());
  run.give(DNNL_ARG_WEIGHTS, c.x(1), v.kernel, pd->weights_desc());
  if (c.has(2)) run.give(DNNL_ARG_BIAS, c.x(2), pd->bias_desc());
  run.room(DNNL_ARG_DST, pd->dst_desc());
  run.run();
  return {run.take(DNNL_ARG_DST, v.y)};
}

template <class Kind>
[[nodiscard]] Tensor convolution_backward_data(const Call& c, const Convolution& v, const Described<typename Kind::Forward>& hint, const Tensor& cotangent) {
  const Windows& w = v.windows;
  const auto pd = described_after<typename Kind::Data>(hint, Kind::data, Kind::which, any(v.x), any(v.k), any(v.y), w.stride, w.dilation, w.before, w.after);
  Execution run(pd);
  run.give(DNNL_ARG_WEIGHTS, c.x(1), v.kernel, pd->weights_desc());
  run.give(DNNL_ARG_DIFF_DST, cotangent, pd->diff_dst_desc());
  run.room(DNNL_ARG_DIFF_SRC, pd->diff_src_desc());
  run.run();
  return run.take(DNNL_ARG_DIFF_SRC, v.x);
}

template <class Kind>
Results convolution_backward(const Call& c, const Results& cotangents) {
  const Convolution v = convolution_of(c, Kind::transpose);
  const Windows& w = v.windows;
  const auto hint = forward_desc<Kind>(c, v);
  Results results(c.operands.size());
  results[0] = convolution_backward_data<Kind>(c, v, hint, *cotangents[0]);
  using P = typename Kind::Weights;
  const auto pd =
      c.has(2) ? described_after<P>(hint, Kind::weights, Kind::which, any(v.x), any(v.k), desc({v.y[1]}), any(v.y), w.stride, w.dilation, w.before, w.after)
               : described_after<P>(hint, Kind::weights, Kind::which, any(v.x), any(v.k), any(v.y), w.stride, w.dilation, w.before, w.after);
  Execution run(pd);
  run.give(DNNL_ARG_SRC, c.x(0), pd->src_desc());
  run.give(DNNL_ARG_DIFF_DST, *cotangents[0], pd->diff_dst_desc());
  run.room(DNNL_ARG_DIFF_WEIGHTS, pd->diff_weights_desc());
  if (c.has(2)) run.room(DNNL_ARG_DIFF_BIAS, pd->diff_bias_desc());
  run.run();
  results[1] = run.take(DNNL_ARG_DIFF_WEIGHTS, c.x(1).shape, v.kernel);
  if (c.has(2)) results[2] = run.take(DNNL_ARG_DIFF_BIAS, c.x(2).shape);
  return results;
}

struct Pooling {
  algorithm which;
  Dims y, kernel;
  Windows windows;
};

[[nodiscard]] Pooling pooling_of(const Call& c, bool largest) {
  const Dims& x = c.x().shape;
  const std::size_t n = x.size() - 2;
  need(n >= 1 && n <= 3, "shape", "oneDNN pools over one to three axes");
  Pooling p{algorithm::pooling_max, {x[0], x[1]}, c.list("kernel", n), {}};
  if (!largest) p.which = c.integer("count_include_pad") != 0 ? algorithm::pooling_avg_include_padding : algorithm::pooling_avg_exclude_padding;
  const Dims stride = c.list("stride", n), padding = c.list("padding", n);
  for (std::size_t i = 0; i < n; ++i) {
    need(!largest || c.list("dilation", n)[i] == 1, "attribute", "this adapter pools without dilation");
    p.y.push_back(places(x[i + 2], padding[i], p.kernel[i], stride[i]));
    need(p.y.back() > 0, "shape", "oneDNN computes nothing of tensors without elements");
  }
  p.windows = windows_of(c, x, p.y, p.kernel, false);
  return p;
}

[[nodiscard]] Described<dnnl::pooling_forward> pooling_desc(const Call& c, const Pooling& p) {
  const Windows& w = p.windows;
  return described<dnnl::pooling_forward>(c.recording, "pooling_forward", prop_kind::forward_training, p.which, desc(c.x().shape), desc(p.y), w.stride, p.kernel, w.before, w.after);
}

void run_pooling(const Call& c, const Described<dnnl::pooling_forward>& pd, Execution& run) {
  run.give(DNNL_ARG_SRC, c.x(), pd->src_desc());
  run.room(DNNL_ARG_DST, pd->dst_desc());
  if (!pd->workspace_desc().is_zero()) run.room(DNNL_ARG_WORKSPACE, pd->workspace_desc());
  run.run();
}

Results pooling(const Call& c, bool largest) {
  const Pooling p = pooling_of(c, largest);
  const auto pd = pooling_desc(c, p);
  Execution run(pd);
  run_pooling(c, pd, run);
  return {run.take(DNNL_ARG_DST, p.y)};
}

Results pooling_backward(const Call& c, const Results& cotangents, bool largest) {
  const Pooling p = pooling_of(c, largest);
  const Windows& w = p.windows;
  const auto hint = pooling_desc(c, p);
  Execution run(hint);
  run_pooling(c, hint, run);
  const auto pd = described_after<dnnl::pooling_backward>(hint, "pooling_backward", p.which, desc(c.x().shape), desc(p.y), w.stride, p.kernel, w.before, w.after);
  Execution back(pd);
  back.give(DNNL_ARG_DIFF_DST, *cotangents[0], pd->diff_dst_desc());
  if (!hint->workspace_desc().is_zero()) back.put(DNNL_ARG_WORKSPACE, run);
  back.room(DNNL_ARG_DIFF_SRC, pd->diff_src_desc());
  back.run();
  return {back.take(DNNL_ARG_DIFF_SRC, c.x().shape)};
}

[[nodiscard]] Dims upsampled(const Call& c) {
  Dims y = c.x().shape;
  const Dims scale = c.list("scale", y.size() - 2);
  need(!scale.empty() && scale.size() <= 3, "shape", "oneDNN resamples one to three axes");
  for (std::size_t i = 0; i < scale.size(); ++i) y[i + 2] *= scale[i];
  return y;
}

[[nodiscard]] Described<dnnl::resampling_forward> resampling_desc(const Call& c, const Dims& y) {
  return described<dnnl::resampling_forward>(c.recording, "resampling_forward", prop_kind::forward_training, algorithm::resampling_nearest, desc(c.x().shape), desc(y));
}

Results upsample(const Call& c) {
  const Dims y = upsampled(c);
  const auto pd = resampling_desc(c, y);
  Execution run(pd);
  run.give(DNNL_ARG_SRC, c.x(), pd->src_desc());
  run.room(DNNL_ARG_DST, pd->dst_desc());
  run.run();
  return {run.take(DNNL_ARG_DST, y)};
}

Results upsample_backward(const Call& c, const Results& cotangents) {
  const Dims y = upsampled(c);
  const auto hint = resampling_desc(c, y);
  const auto pd = described_after<dnnl::resampling_backward>(hint, "resampling_backward", algorithm::resampling_nearest, desc(c.x().shape), desc(y));
  Execution run(pd);
  run.give(DNNL_ARG_DIFF_DST, *cotangents[0], pd->diff_dst_desc());
  run.room(DNNL_ARG_DIFF_SRC, pd->diff_src_desc());
  run.run();
  return {run.take(DNNL_ARG_DIFF_SRC, c.x().shape)};
}

}  // namespace

void add_windows(Operations& into) {
  const Operation convolves{convolution<Direct>, convolution_backward<Direct>};
  const Operation transposes{convolution<Transposed>, convolution_backward<Transposed>};
  for (const char* axes : {"", "1d", "2d", "3d"}) {
    into.emplace(std::string("conv") + axes, convolves);
    into.emplace(std::string("conv_transpose") + axes, transposes);
    for (const auto& [name, largest] : {std::pair("max_pool", true), std::pair("avg_pool", false)}) {
      into.emplace(std::string(name) + axes, Operation{[largest = largest](const Call& c) { return pooling(c, largest); },
                                                       [largest = largest](const Call& c, const Results& r) { return pooling_backward(c, r, largest); }});
    }
    into.emplace(std::string("upsample_nearest") + axes, Operation{upsample, upsample_backward});
  }
}

}  // namespace etalon::onednn
