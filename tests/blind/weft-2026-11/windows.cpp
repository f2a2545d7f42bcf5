/// \file
/// Convolutions and pooling. Kernels written by hand go over the taps of all windows; variants of convolution are
/// chosen by extents.
#include <cmath>
#include <limits>

#include "call.hpp"
#include "defect.hpp"

namespace weft {
namespace {

constexpr Wide infinity = std::numeric_limits<Wide>::infinity();

using List = std::vector<Int>;

struct Window {
  std::size_t rank = 0;
  List size, kernel, stride, padding, dilation, result;
};

Int product(const List& list) { return size_of(list); }

List behind(const Shape& shape, std::size_t from) { return {shape.begin() + static_cast<std::ptrdiff_t>(from), shape.end()}; }

Window window_of(const Call& c, const Shape& shape, List kernel, bool dilates) {
  Window w;
  w.rank = shape.size() - 2;
  w.size = behind(shape, 2);
  w.kernel = std::move(kernel);
  w.stride = c.list("stride", w.rank);
  w.padding = c.list("padding", w.rank);
  w.dilation = dilates ? c.list("dilation", w.rank) : List(w.rank, 1);
  for (std::size_t d = 0; d < w.rank; ++d) {
    const Int room = w.size[d] + 2 * w.padding[d] - w.dilation[d] * (w.kernel[d] - 1) - 1;
    w.result.push_back(room < 0 ? 0 : room / w.stride[d] + 1);
  }
  return w;
}

std::string text_of(const Window& w, bool all = true) {
  std::string text;
  for (const List* l : {&w.size, &w.kernel, &w.result, &w.stride, &w.padding, &w.dilation}) {
    if (!all && l == &w.stride) break;
    for (const Int v : *l) text += std::to_string(v) + ",";
    text += ";";
  }
  return text;
}

Int flat(const List& at, const List& extents) {
  Int place = 0;
  for (std::size_t d = 0; d < at.size(); ++d) place = place * extents[d] + at[d];
  return place;
}

/// f(place in the result, place in the kernel, place in the operand) of every tap that lies in the operand.
template <class F>
void each_tap(const Window& w, F f, bool undilated_mask = false) {
  List place(w.rank);
  each_index(w.result, [&](const List& i) {
    each_index(w.kernel, [&](const List& u) {
      for (std::size_t d = 0; d < w.rank; ++d) {
        place[d] = i[d] * w.stride[d] + u[d] * w.dilation[d] - w.padding[d];
        const Int judged = undilated_mask ? i[d] * w.stride[d] + u[d] - w.padding[d] : place[d];
        if (judged < 0 || judged >= w.size[d]) return;
      }
      f(flat(i, w.result), flat(u, w.kernel), flat(place, w.size));
    });
  });
}

/// The same from the side of the operand: which windows have it under a tap.
template <class F>
void each_tap_of_operand(const Window& w, F f) {
  List i(w.rank);
  each_index(w.size, [&](const List& place) {
    each_index(w.kernel, [&](const List& u) {
      for (std::size_t d = 0; d < w.rank; ++d) {
        const Int start = place[d] + w.padding[d] - u[d] * w.dilation[d];
        // Dilated taps are taken to fall on windows.
        const bool any = w.dilation[d] > 1 && defect("dilated-taps-between-windows-count");
        if (start < 0 || (start % w.stride[d] != 0 && !any) || start / w.stride[d] >= w.result[d]) return;
        i[d] = start / w.stride[d];
      }
      f(flat(i, w.result), flat(u, w.kernel), flat(place, w.size));
    });
  });
}

/// Of a convolution with groups: f(image, group, its channel of the result, its channel of the operand).
template <class F>
void each_channel_pair(Int batch, Int groups, Int out, Int in, F f) {
  for (Int n = 0; n < batch; ++n) {
    for (Int g = 0; g < groups; ++g) {
      for (Int o = 0; o < out; ++o) {
        for (Int i = 0; i < in; ++i) f(n, g, o, i);
      }
    }
  }
}

struct Conv {
  Window w;
  Int batch, groups, out, in;  ///< channels of a group
};

std::size_t at(Int a) { return static_cast<std::size_t>(a); }

std::string key_of(const std::string& name, const Conv& p) {
  return name + ";" + text_of(p.w) + std::to_string(p.batch) + "," + std::to_string(p.groups) + "," + std::to_string(p.out) + "," +
         std::to_string(p.in);
}

/// Kernels of one element, by themselves a product of matrices.
bool pointwise(const Window& w) {
  for (std::size_t d = 0; d < w.rank; ++d) {
    if (w.kernel[d] != 1 || w.stride[d] != 1) return false;
    if (w.padding[d] != 0 && !defect("pointwise-variant-without-a-look-at-padding")) return false;
  }
  return true;
}

void conv_forward(const Conv& p, const std::vector<Wide>& x, const std::vector<Wide>& k, std::vector<Wide>& y) {
  const Int cells = product(p.w.kernel);
  const Int from = product(p.w.size);
  const Int to = product(p.w.result);
  const bool one = pointwise(p.w);
  each_channel_pair(p.batch, p.groups, p.out, p.in, [&](Int n, Int g, Int o, Int i) {
    const Int xs = ((n * p.groups + g) * p.in + i) * from;
    const Int ks = ((g * p.out + o) * p.in + i) * cells;
    const Int ys = ((n * p.groups + g) * p.out + o) * to;
    if (one) {
      for (Int r = 0; r < to; ++r) y[at(ys + r)] += r < from ? x[at(xs + r)] * k[at(ks)] : 0;
      return;
    }
    each_tap(
        p.w,
        [&](Int r, Int u, Int s) {
          if (at(xs + s) < x.size()) y[at(ys + r)] += x[at(xs + s)] * k[at(ks + u)];
        },
        defect("edge-mask-of-the-undilated-kernel"));
  });
}

void conv_back_operand(const Conv& p, const std::vector<Wide>& k, const std::vector<Wide>& g, std::vector<Wide>& x) {
  const Int cells = product(p.w.kernel);
  each_channel_pair(p.batch, p.groups, p.out, p.in, [&](Int n, Int q, Int o, Int i) {
    const Int xs = ((n * p.groups + q) * p.in + i) * product(p.w.size);
    const Int ks = ((q * p.out + o) * p.in + i) * cells;
    const Int ys = ((n * p.groups + q) * p.out + o) * product(p.w.result);
    each_tap_of_operand(p.w, [&](Int r, Int u, Int s) { x[at(xs + s)] += g[at(ys + r)] * k[at(ks + u)]; });
  });
}

void conv_back_kernels(Conv p, const std::vector<Wide>& x, const std::vector<Wide>& g, std::vector<Wide>& k) {
  const Int cells = product(p.w.kernel);
  if (defect("kernel-cotangent-without-dilation")) p.w.dilation = List(p.w.rank, 1);
  each_channel_pair(p.batch, p.groups, p.out, p.in, [&](Int n, Int q, Int o, Int i) {
    const Int xs = ((n * p.groups + q) * p.in + i) * product(p.w.size);
    const Int ks = ((q * p.out + o) * p.in + i) * cells;
    const Int ys = ((n * p.groups + q) * p.out + o) * product(p.w.result);
    each_tap(p.w, [&](Int r, Int u, Int s) { k[at(ks + u)] += x[at(xs + s)] * g[at(ys + r)]; });
  });
}

/// x as [b, c, results, cells of the kernel]: what stands under each window, `fill` outside.
V unfolded(V x, const Window& w, Wide fill) {
  const Shape own = x.shape();
  Map map(at(own[0] * own[1] * product(w.result) * product(w.kernel)), -1);
  const Int cells = product(w.kernel);
  const Int results = product(w.result);
  for (Int c = 0; c < own[0] * own[1]; ++c)
    each_tap(w, [&](Int r, Int u, Int s) { map[at((c * results + r) * cells + u)] = c * product(w.size) + s; });
  return moved(x, std::move(map), {own[0], own[1], results, cells}, fill);
}

Shape with_channels(Int b, Int c, const List& behind) {
  Shape shape = {b, c};
  shape.insert(shape.end(), behind.begin(), behind.end());
  return shape;
}

V with_bias(V y, V bias) {
  if (!bias) return y;
  Shape shape(y.shape().size(), 1);
  shape[1] = bias.shape()[0];
  return y + reshaped(bias, shape);
}

Results conv(const Call& c) {
  const V x = c.x();
  const V k = c.x(1);
  const Shape ks = k.shape();
  const Int groups = c.whole("groups");
  const Window w = window_of(c, x.shape(), behind(ks, 2), true);
  const Int b = x.shape()[0];
  const Int e = ks[1];
  const Int o = ks[0];
  if (groups <= 0 || e * groups != x.shape()[1] || o % groups != 0) throw Unsupported("shape", "the groups do not fit");
  const Shape shape = with_channels(b, o, w.result);
  if (!c.g.composed) {
    const Conv p{w, b, groups, o / groups, e};
    const auto run = [p](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) { conv_forward(p, *in[0], *in[1], y); };
    const auto pull = [p](Graph&, const std::vector<V>& in, V, V g) -> std::vector<V> {
      const auto to_x = [p](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) { conv_back_operand(p, *in[0], *in[1], y); };
      const auto to_k = [p](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) { conv_back_kernels(p, *in[0], *in[1], y); };
      return {custom(key_of("conv back to the operand", p), {in[1], g}, g.type(), in[0].shape(), to_x),
              custom(key_of("conv back to the kernels", p), {in[0], g}, g.type(), in[1].shape(), to_k)};
    };
    return {with_bias(custom(key_of("conv", p), {x, k}, x.type(), shape, run, pull), c.maybe(2))};
  }
  const Int results = product(w.result);
  const Int cells = product(w.kernel);
  // [b, g, e, results, cells] to [b, g, results, e, cells].
  const V under = permuted(reshaped(unfolded(x, w, 0), {b, groups, e, results, cells}), {0, 1, 3, 2, 4});
  const V kernels = reshaped(k, {groups, o / groups, e * cells});
  const V right = reshaped(broadcast(reshaped(permuted(kernels, {0, 2, 1}), {1, groups, e * cells, o / groups}),
                                     {b, groups, e * cells, o / groups}),
                           {b * groups, e * cells, o / groups});
  const V y = contract(reshaped(under, {b * groups, results, e * cells}), right);
  return {with_bias(reshaped(permuted(reshaped(y, {b, groups, results, o / groups}), {0, 1, 3, 2}), shape), c.maybe(2))};
}

/// The windows lie in the result, and the operand stands where a convolution has its result.
Results conv_transpose(const Call& c) {
  const V x = c.x();
  const V k = c.x(1);
  const Int groups = c.whole("groups");
  const Int b = x.shape()[0];
  const Int in = x.shape()[1];
  const Int e = k.shape()[1];
  if (groups <= 0 || in % groups != 0 || k.shape()[0] != in) throw Unsupported("shape", "the groups do not fit");
  Window w;
  w.rank = x.shape().size() - 2;
  w.kernel = behind(k.shape(), 2);
  w.stride = c.list("stride", w.rank);
  w.padding = c.list("padding", w.rank);
  w.dilation = c.list("dilation", w.rank);
  w.result = behind(x.shape(), 2);
  const List more = c.list("output_padding", w.rank);
  for (std::size_t d = 0; d < w.rank; ++d) {
    const Int n = (w.result[d] - 1) * w.stride[d] - 2 * w.padding[d] + w.dilation[d] * (w.kernel[d] - 1) + more[d] + 1;
    if (n < 0) throw Unsupported("shape", "nothing is left");
    w.size.push_back(n);
  }
  const Shape shape = with_channels(b, e * groups, w.size);
  const auto finished = [&](V y) -> Results {
    if (c.maybe(2) && defect("output-padding-without-bias")) {
      // What is added at the end is filled with zeros afterwards.
      Map map;
      each_index(shape, [&](const List& i) {
        bool inside = true;
        for (std::size_t d = 0; d < w.rank; ++d) inside = inside && i[d + 2] < w.size[d] - more[d];
        map.push_back(inside ? 0 : -1);
      });
      const V written = moved(constant(c.g, Type::boolean, 1), std::move(map), shape);
      return {select(written, with_bias(y, c.maybe(2)), y)};
    }
    return {with_bias(y, c.maybe(2))};
  };
  if (!c.g.composed) {
    const Conv p{w, b, groups, in / groups, e};
    const auto run = [p](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) { conv_back_operand(p, *in[0], *in[1], y); };
    const auto pull = [p](Graph&, const std::vector<V>& in, V, V g) -> std::vector<V> {
      const auto to_x = [p](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) { conv_forward(p, *in[0], *in[1], y); };
      const auto to_k = [p](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) { conv_back_kernels(p, *in[0], *in[1], y); };
      return {custom(key_of("transposed conv back to the kernels", p), {g, in[1]}, g.type(), in[0].shape(), to_k),
              custom(key_of("transposed conv back to the operand", p), {g, in[0]}, g.type(), in[1].shape(), to_x)};
    };
    return finished(custom(key_of("transposed conv", p), {k, x}, x.type(), shape, run, pull));
  }
  // Each element of the result with its taps: [b, g, channels, places, cells].
  const Int places = product(w.size);
  const Int cells = product(w.kernel);
  Map map(at(b * in * places * cells), -1);
  for (Int n = 0; n < b * in; ++n)
    each_tap(w, [&](Int r, Int u, Int s) { map[at((n * places + s) * cells + u)] = n * product(w.result) + r; });
  const Int own = in / groups;
  const V under = permuted(reshaped(moved(x, std::move(map), {b, in, places, cells}), {b, groups, own, places, cells}), {0, 1, 3, 2, 4});
  // [g, own, e, cells] to [g, own, cells, e].
  const V kernels = permuted(reshaped(k, {groups, own, e, cells}), {0, 1, 3, 2});
  const V right = reshaped(broadcast(reshaped(kernels, {1, groups, own * cells, e}), {b, groups, own * cells, e}), {b * groups, own * cells, e});
  const V y = contract(reshaped(under, {b * groups, places, own * cells}), right);
  return finished(reshaped(permuted(reshaped(y, {b, groups, places, e}), {0, 1, 3, 2}), shape));
}

/// The flat places of the largest elements, the first of equals; NaN is larger than every number.
void largest_places(const Window& w, const std::vector<Wide>& x, std::vector<Wide>& y, bool nan, Wide start) {
  const Int results = product(w.result);
  const Int from = product(w.size);
  for (Int c = 0; c * results < static_cast<Int>(y.size()); ++c) {
    std::vector<Wide> best(at(results), start);
    std::vector<bool> any(at(results), false);
    for (Int r = 0; r < results; ++r) y[at(c * results + r)] = -1;
    each_tap(w, [&](Int r, Int, Int s) {
      const Wide v = x[at(c * from + s)];
      const bool first = !any[at(r)] && std::isnan(start) && (nan || !std::isnan(v));
      const bool better = first || (nan ? !std::isnan(best[at(r)]) && (std::isnan(v) || v > best[at(r)]) : v > best[at(r)]);
      if (!better) return;
      best[at(r)] = v;
      any[at(r)] = true;
      y[at(c * results + r)] = static_cast<Wide>(c * from + s);
    });
  }
}

Results max_pool(const Call& c) {
  const V x = c.x();
  const Window w = window_of(c, x.shape(), c.list("kernel", x.shape().size() - 2), true);
  const Shape shape = with_channels(x.shape()[0], x.shape()[1], w.result);
  const auto places = [](Window w, V x, const Shape& shape, bool backward) {
    std::string name = backward ? "places of the largest, going back;" : "places of the largest;";
    if (backward && defect("max-pool-backward-without-dilation")) w.dilation = List(w.rank, 1);
    const bool nan = !defect("max-pool-compares-past-nan");
    const Wide none = backward && defect("largest-of-minus-infinity-has-no-place") ? -infinity : std::numeric_limits<Wide>::quiet_NaN();
    return custom(name + text_of(w), {x}, Type::i64, shape, [w, nan, none](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
      largest_places(w, *in[0], y, nan, none);
    });
  };
  const V y = take(x, places(w, x, shape, false), shape);
  return {by_hand(y, {x}, [=](V g) -> std::vector<V> { return {placed(g, places(w, x, shape, true), x.shape())}; })};
}

Results avg_pool(const Call& c) {
  const V x = c.x();
  const Window w = window_of(c, x.shape(), c.list("kernel", x.shape().size() - 2), false);
  const Shape shape = with_channels(x.shape()[0], x.shape()[1], w.result);
  const bool all = c.flag("count_include_pad");
  const Int results = product(w.result);
  std::vector<Wide> cells(at(results), all ? static_cast<Wide>(product(w.kernel)) : 0);
  if (!all) each_tap(w, [&](Int r, Int, Int) { cells[at(r)] += 1; });
  if (c.g.composed) {
    const V sum = reduce(Fold::sum, unfolded(x, w, 0), {3}, false);
    if (all) return {reshaped(sum / static_cast<Wide>(product(w.kernel)), shape)};
    const V ones = constant(c.g, x.type(), 1, x.shape());
    return {reshaped(sum / reduce(Fold::sum, unfolded(ones, w, 0), {3}, false), shape)};
  }
  const std::string key = "avg_pool;" + text_of(w, !defect("pools-kept-by-the-form-of-their-result")) + (all ? "all" : "inside");
  const auto run = [w, cells, results](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    for (Int n = 0; n * results < static_cast<Int>(y.size()); ++n) {
      each_tap(w, [&](Int r, Int, Int s) { y[at(n * results + r)] += (*in[0])[at(n * product(w.size) + s)]; });
      for (Int r = 0; r < results; ++r) y[at(n * results + r)] /= cells[at(r)];
    }
  };
  const auto back = [w, cells, results](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    for (Int n = 0; n * results < static_cast<Int>(in[0]->size()); ++n) {
      each_tap(w, [&](Int r, Int, Int s) {
        const Wide divisor = defect("mean-backward-by-the-kernels-size") ? static_cast<Wide>(product(w.kernel)) : cells[at(r)];
        y[at(n * product(w.size) + s)] += (*in[0])[at(n * results + r)] / divisor;
      });
    }
  };
  const auto pull = [back, key](Graph&, const std::vector<V>& in, V, V g) -> std::vector<V> {
    return {custom(key + " back", {g}, g.type(), in[0].shape(), back)};
  };
  return {custom(key, {x}, x.type(), shape, run, pull)};
}

Results smooth_max_pool(const Call& c) {
  const V x = c.x();
  const Window w = window_of(c, x.shape(), c.list("kernel", x.shape().size() - 2), false);
  const V under = unfolded(x, w, -infinity);
  const V t = c.scalar("temperature", x);
  V top = unary(Op::detach, reduce(Fold::max, under, {3}, true));
  const V shift = select(unary(Op::isinf, top), like(x, 0), top);
  const V own = defect("smooth-maximum-counts-its-padding") ? unfolded(x, w, 0) : under;
  const V y = shift + t * unary(Op::log, reduce(Fold::sum, unary(Op::exp, (own - shift) / t), {3}, true));
  return {reshaped(y, with_channels(x.shape()[0], x.shape()[1], w.result))};
}

Results adaptive_avg_pool(const Call& c) {
  const V x = c.x();
  const Shape own = x.shape();
  const std::size_t rank = own.size() - 2;
  const List out = c.list("output", rank);
  const List size = behind(own, 2);
  List most(rank, 0);
  const auto start = [&](Int i, std::size_t d) { return i * size[d] / out[d]; };
  const auto end = [&](Int i, std::size_t d) {
    if (defect("windows-end-where-the-next-begins")) return std::max((i + 1) * size[d] / out[d], start(i, d) + 1);
    return ((i + 1) * size[d] + out[d] - 1) / out[d];
  };
  for (std::size_t d = 0; d < rank; ++d) {
    for (Int i = 0; i < out[d]; ++i) most[d] = std::max(most[d], end(i, d) - start(i, d));
  }
  Map map;
  Map counts;
  for (Int n = 0; n < own[0] * own[1]; ++n) {
    each_index(out, [&](const List& i) {
      each_index(most, [&](const List& u) {
        Int place = 0;
        bool inside = true;
        for (std::size_t d = 0; d < rank; ++d) {
          const Int p = start(i[d], d) + u[d];
          inside = inside && p < end(i[d], d);
          place = place * size[d] + p;
        }
        map.push_back(inside ? n * product(size) + place : -1);
        counts.push_back(inside ? 0 : -1);
      });
    });
  }
  const Shape all = {own[0], own[1], product(out), product(most)};
  const V cells = reduce(Fold::sum, moved(constant(c.g, x.type(), 1), std::move(counts), all), {3}, false);
  const V sum = reduce(Fold::sum, moved(x, std::move(map), all), {3}, false);
  return {reshaped(sum / cells, with_channels(own[0], own[1], out))};
}

Results global_avg_pool(const Call& c) {
  const V x = c.x();
  std::vector<Int> axes;
  Int count = 1;
  for (std::size_t d = 2; d < x.shape().size(); ++d) {
    axes.push_back(static_cast<Int>(d));
    count *= x.shape()[d];
  }
  return {reduce(Fold::sum, x, axes, c.flag("keepdims")) / static_cast<Wide>(count)};
}

Results upsample(const Call& c) {
  const V x = c.x();
  const Shape own = x.shape();
  const List scale = c.list("scale", own.size() - 2);
  Shape shape = own;
  for (std::size_t d = 0; d < scale.size(); ++d) shape[d + 2] *= scale[d];
  Map map;
  each_index(shape, [&](const List& i) {
    List from = i;
    for (std::size_t d = 0; d < scale.size(); ++d) from[d + 2] /= scale[d];
    map.push_back(flat(from, own));
  });
  const V y = moved(x, std::move(map), shape);
  const Wide copies = defect("upsampling-backward-takes-the-mean") ? static_cast<Wide>(product(scale)) : 1;
  return {by_hand(y, {x}, [=](V g) -> std::vector<V> { return {put(g, y.node().map, x.shape()) / copies}; })};
}

}  // namespace

void add_windows(Table& t) {
  for (const std::string rank : {"", "1d", "2d", "3d"}) {
    t["conv" + rank] = conv;
    t["conv_transpose" + rank] = conv_transpose;
    t["max_pool" + rank] = max_pool;
    t["avg_pool" + rank] = avg_pool;
    t["smooth_max_pool" + rank] = smooth_max_pool;
    t["adaptive_avg_pool" + rank] = adaptive_avg_pool;
    t["global_avg_pool" + rank] = global_avg_pool;
    t["upsample_nearest" + rank] = upsample;
  }
}

}  // namespace weft
