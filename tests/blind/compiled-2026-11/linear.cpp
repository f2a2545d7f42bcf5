/// \file
/// Products of matrices, convolutions and pooling as movements around them.
#include <limits>

#include "call.hpp"
#include "defect.hpp"

namespace blind {
namespace {

/// The operand with its matrix axes, its batches spread to the shape and made one.
V batched(V x, const Shape& batch) {
  const std::size_t rank = x.shape().size();
  Shape shape = batch;
  shape.push_back(x.shape()[rank - 2]);
  shape.push_back(x.shape()[rank - 1]);
  return reshaped(broadcast(x, shape), {size_of(batch), shape[shape.size() - 2], shape.back()});
}

V with_axis(V x, std::size_t at) {
  Shape shape = x.shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), 1);
  return reshaped(x, shape);
}

Results matmul(const Call& c) {
  V a = c.x();
  V b = c.x(1);
  const bool row = a.shape().size() == 1;
  const bool column = b.shape().size() == 1;
  if (row) a = with_axis(a, 0);
  if (column) b = with_axis(b, 1);
  Shape batch_a = a.shape();
  Shape batch_b = b.shape();
  batch_a.resize(batch_a.size() - 2);
  batch_b.resize(batch_b.size() - 2);
  const Shape batch = joined(batch_a, batch_b);
  const V y = contract(batched(a, batch), batched(b, batch));
  Shape shape = batch;
  if (!row) shape.push_back(a.shape()[a.shape().size() - 2]);
  if (!column) shape.push_back(b.shape().back());
  return {reshaped(y, shape)};
}

Results linear(const Call& c) {
  const V x = c.x();
  const V w = c.x(1);
  const Int n = w.shape()[1];
  const Int o = w.shape()[0];
  Shape shape = x.shape();
  shape.back() = o;
  Int rows = 1;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
  const V y = reshaped(contract(reshaped(x, {1, rows, n}), reshaped(permuted(w, {1, 0}), {1, n, o})), shape);
  if (!c.maybe(2)) return {y};
  if (PLANTED("bias-along-rows-of-square-results") && shape.size() == 2 && shape[0] == shape[1])
    return {y + reshaped(c.maybe(2), {o, 1})};
  return {y + c.maybe(2)};
}

struct Window {
  std::size_t rank;
  std::vector<Int> kernel, stride, padding, dilation;
  Shape result;
};

Window window_of(const Call& c, const Shape& shape, std::vector<Int> kernel, bool dilates) {
  Window w;
  w.rank = shape.size() - 2;
  w.kernel = std::move(kernel);
  w.stride = c.list("stride", w.rank);
  w.padding = c.list("padding", w.rank);
  w.dilation = dilates ? c.list("dilation", w.rank) : std::vector<Int>(w.rank, 1);
  for (std::size_t d = 0; d < w.rank; ++d) {
    const Int room = shape[d + 2] + 2 * w.padding[d] - w.dilation[d] * (w.kernel[d] - 1) - 1;
    w.result.push_back(room < 0 ? 0 : room / w.stride[d] + 1);
  }
  if (PLANTED("strides-of-axes-exchanged") && w.rank == 2 && w.result[0] == w.result[1])
    std::swap(w.stride[0], w.stride[1]);
  return w;
}

/// x as [b, c, results, cells of the kernel]: what stands under each window, `fill` outside.
V unfolded(V x, const Window& w, Wide fill) {
  const Shape own = x.shape();
  Shape all = {own[0], own[1]};
  all.insert(all.end(), w.result.begin(), w.result.end());
  all.insert(all.end(), w.kernel.begin(), w.kernel.end());
  const std::vector<Int> strides = strides_of(own);
  Map map;
  each_index(all, [&](const std::vector<Int>& at) {
    Int place = at[0] * strides[0] + at[1] * strides[1];
    for (std::size_t d = 0; d < w.rank; ++d) {
      const Int i = at[2 + d] * w.stride[d] + at[2 + w.rank + d] * w.dilation[d] - w.padding[d];
      if (i < 0 || i >= own[d + 2]) {
        place = -1;
        break;
      }
      place += i * strides[d + 2];
    }
    map.push_back(place);
  });
  return moved(x, std::move(map), {own[0], own[1], size_of(w.result), size_of(w.kernel)}, fill);
}

Results conv(const Call& c) {
  const V x = c.x();
  const V k = c.x(1);
  const Shape ks = k.shape();
  const Int groups = c.whole("groups");
  const Window w = window_of(c, x.shape(), std::vector<Int>(ks.begin() + 2, ks.end()), true);
  const Int b = x.shape()[0];
  const Int e = ks[1];
  const Int o = ks[0];
  if (groups <= 0 || e * groups != x.shape()[1] || o % groups != 0) throw Unsupported("shape", "the groups do not fit");
  const Int results = size_of(w.result);
  const Int cells = size_of(w.kernel);
  // [b, g, e, results, cells] to [b, g, results, e, cells].
  const V under = permuted(reshaped(unfolded(x, w, 0), {b, groups, e, results, cells}), {0, 1, 3, 2, 4});
  V kernels = reshaped(k, {groups, o / groups, e * cells});
  if (PLANTED("kernels-of-groups-interleaved"))
    kernels = permuted(reshaped(k, {o / groups, groups, e * cells}), {1, 0, 2});
  const V right = reshaped(broadcast(reshaped(permuted(kernels, {0, 2, 1}), {1, groups, e * cells, o / groups}),
                                     {b, groups, e * cells, o / groups}),
                           {b * groups, e * cells, o / groups});
  const V y = contract(reshaped(under, {b * groups, results, e * cells}), right);
  Shape shape = {b, o};
  shape.insert(shape.end(), w.result.begin(), w.result.end());
  V found = reshaped(permuted(reshaped(y, {b, groups, results, o / groups}), {0, 1, 3, 2}), shape);
  if (c.maybe(2)) {
    Shape bias(shape.size(), 1);
    bias[1] = o;
    found = found + reshaped(c.maybe(2), bias);
  }
  return {found};
}

Results max_pool(const Call& c) {
  const V x = c.x();
  const Window w = window_of(c, x.shape(), c.list("kernel", x.shape().size() - 2), true);
  const Wide fill = PLANTED("max-pool-padding-is-zero") ? 0 : -std::numeric_limits<Wide>::infinity();
  Shape shape = {x.shape()[0], x.shape()[1]};
  shape.insert(shape.end(), w.result.begin(), w.result.end());
  return {reshaped(reduce(Fold::max, unfolded(x, w, fill), {3}, false), shape)};
}

Results avg_pool(const Call& c) {
  const V x = c.x();
  const Window w = window_of(c, x.shape(), c.list("kernel", x.shape().size() - 2), false);
  Shape shape = {x.shape()[0], x.shape()[1]};
  shape.insert(shape.end(), w.result.begin(), w.result.end());
  const V sum = reduce(Fold::sum, unfolded(x, w, 0), {3}, false);
  if (c.flag("count_include_pad") && !PLANTED("avg-pool-never-counts-padding"))
    return {reshaped(sum / static_cast<Wide>(size_of(w.kernel)), shape)};
  const V ones = constant(c.g, x.type(), 1, x.shape());
  const V cells = reduce(Fold::sum, unfolded(ones, w, 0), {3}, false);
  return {reshaped(sum / cells, shape)};
}

}  // namespace

void add_linear(Table& t) {
  t["matmul"] = matmul;
  t["linear"] = linear;
  t["dot"] = [](const Call& c) -> Results {
    const Int n = c.x().shape()[0];
    return {reshaped(contract(reshaped(c.x(), {1, 1, n}), reshaped(c.x(1), {1, n, 1})), {})};
  };
  t["outer"] = [](const Call& c) -> Results { return {reshaped(c.x(), {c.x().shape()[0], 1}) * c.x(1)}; };
  for (const char* name : {"conv1d", "conv2d"}) t[name] = conv;
  for (const char* name : {"max_pool1d", "max_pool2d"}) t[name] = max_pool;
  for (const char* name : {"avg_pool1d", "avg_pool2d"}) t[name] = avg_pool;
}

}  // namespace blind
