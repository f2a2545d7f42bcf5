// Convolution, its transpose and pooling: windows are views of the padded operand, products do the rest.
#include "lower.h"

namespace adze {

namespace {

std::vector<T> one(T t) { return {t}; }
Shape spatial(T x) { return Shape(x.shape().begin() + 2, x.shape().end()); }
Shape range(int from, int to) { Shape r; for (int k = from; k < to; ++k) r.push_back(k); return r; }

T surrounded(T x, const Shape& padding) {  // zeros around the last axes
  const int lead = x.rank() - int(padding.size());
  Shape s = x.shape(), start(x.rank(), 0);
  bool some = false;
  for (std::size_t k = 0; k < padding.size(); ++k) {
    s[lead + k] += 2 * padding[k];
    start[lead + k] = padding[k];
    some = some || padding[k] > 0;
  }
  return some ? place(x, s, start, Shape(x.rank(), 1)) : x;
}

T convolution(const Call& c) {
  T x = c.in(0), k = c.in(1), bias = c.in(2);
  const int w = x.rank() - 2;
  Shape stride = c.list("stride", w, 1), dilation = c.list("dilation", w, 1), padding = c.list("padding", w, 0);
  if (bug("conv_dilation_of_last_axis_everywhere") && w > 1) dilation.assign(w, dilation.back());
  const I groups = c.whole("groups", 1), b = x.dim(0), o = k.dim(0), e = k.dim(1);
  if (groups <= 0 || x.dim(1) != e * groups || o % groups) throw Rejected("channels and groups");
  const Shape window = spatial(k);
  T u = unfold(surrounded(x, padding), window, stride, dilation);
  Shape out(u.shape().begin() + 2, u.shape().begin() + 2 + w);
  // [b, g, e, o.., w..] to [b, g, o.., e, w..]
  Shape split{b, groups, e};
  split.insert(split.end(), u.shape().begin() + 2, u.shape().end());
  Shape perm{0, 1};
  for (int q = 0; q < w; ++q) perm.push_back(3 + q);
  perm.push_back(2);
  for (int q = 0; q < w; ++q) perm.push_back(3 + w + q);
  const I cells = count(out), depth = e * count(window);
  T cols = reshape(transpose(reshape(u, split), perm), {b, groups, cells, depth});
  T kernel = reshape(k, {groups, o / groups, depth});
  T y;
  if (bug("depthwise_kernel_order") && e == 1 && groups > 1 && o > groups) {
    y = matmul(cols, swap_last(transpose(reshape(k, {o / groups, groups, depth}), {1, 0, 2})));
  } else {
    y = matmul(cols, swap_last(kernel));
  }
  Shape shape{b, o};
  shape.insert(shape.end(), out.begin(), out.end());
  y = reshape(transpose(y, {0, 1, 3, 2}), shape);
  if (!bias) return y;
  Shape along(1 + w, 1);
  along[0] = o;
  return y + reshape(bias, along);
}

T transposed(const Call& c) {
  T x = c.in(0), k = c.in(1), bias = c.in(2);
  const int w = x.rank() - 2;
  const Shape stride = c.list("stride", w, 1), dilation = c.list("dilation", w, 1);
  const Shape padding = c.list("padding", w, 0), extra = c.list("output_padding", w, 0);
  const I groups = c.whole("groups", 1), b = x.dim(0), ch = x.dim(1), e = k.dim(1), cg = ch / groups;
  const Shape window = spatial(k), s = spatial(x);
  T xt = swap_last(reshape(x, {b, groups, cg, count(s)}));
  T p = matmul(xt, reshape(k, {groups, cg, e * count(window)}));  // [b, g, i, e w]
  Shape parts{b, groups};
  parts.insert(parts.end(), s.begin(), s.end());
  parts.push_back(e);
  parts.insert(parts.end(), window.begin(), window.end());
  Shape perm{0, 1, 2 + w};
  for (int q = 0; q < w; ++q) perm.push_back(2 + q);
  for (int q = 0; q < w; ++q) perm.push_back(3 + w + q);
  Shape merged{b, groups * e};
  merged.insert(merged.end(), s.begin(), s.end());
  merged.insert(merged.end(), window.begin(), window.end());
  p = reshape(transpose(reshape(p, parts), perm), merged);
  Shape full{b, groups * e}, start{0, 0}, n{b, groups * e};
  for (int q = 0; q < w; ++q) {
    full.push_back((s[q] - 1) * stride[q] + dilation[q] * (window[q] - 1) + 1 + extra[q]);
    start.push_back(padding[q]);
    if (bug("conv_transpose_output_padding_in_front")) start.back() = std::max<I>(0, padding[q] - extra[q]);
    n.push_back(full.back() - 2 * padding[q]);
    if (n.back() < 0) throw Rejected("a negative extent");
  }
  T y = slice(fold(p, full, window, stride, dilation), start, Shape(2 + w, 1), n);
  if (!bias) return y;
  Shape along(1 + w, 1);
  along[0] = groups * e;
  return y + reshape(bias, along);
}

struct Windows { T u, mask; int from; Shape over; I cells; };  // [b, c, o.., w..]

Windows windows(const Call& c) {
  T x = c.in(0);
  const int w = x.rank() - 2;
  const Shape kernel = c.list("kernel", w, 1), padding = c.list("padding", w, 0), dilation = c.list("dilation", w, 1);
  Shape stride = kernel;
  if (c.has("stride")) stride = c.list("stride", w, 1);
  for (int k = 0; k < w; ++k) if (2 * padding[k] > kernel[k]) throw Rejected("2*padding <= kernel");
  Windows r;
  r.u = unfold(surrounded(x, padding), kernel, stride, dilation);
  T in = K(1, spatial(x), DT::Bool);
  T m = surrounded(in, padding);
  if (m.id != in.id) r.mask = expand(unfold(m, kernel, stride, dilation), r.u.shape());
  r.over = range(2 + w, 2 + 2 * w);
  r.cells = count(kernel);
  return r;
}

T max_pool(const Call& c) {
  Windows w = windows(c);
  if (bug("max_pool_padding_counts_as_zero")) return reduce(Op::RMax, w.u, w.over, false);
  return reduce(Op::RMax, w.u, w.over, false, w.mask);
}

T avg_pool(const Call& c) {
  Windows w = windows(c);
  T s = sum(w.u, w.over, false);
  if (c.flag("count_include_pad", true) || !w.mask) return s / K(w.cells);
  if (bug("avg_pool_exclusive_count_is_largest")) {
    T m = sum(real(w.mask), w.over, false);
    return s / reduce(Op::RMax, m, all_axes(m), false);
  }
  return s / sum(real(w.mask), w.over, false);
}

T smooth_max(const Call& c) {
  Windows w = windows(c);
  T temp = c.num("temperature", 1.0);
  T top = detach(reduce(Op::RMax, w.u, w.over, true, w.mask));
  T shift = select(un(Op::IsInf, top), K(0), top);
  T u = w.mask ? select(w.mask, w.u, shift) : w.u;
  T e = exp((u - shift) / temp);
  if (w.mask) e = select(w.mask, e, K(0));
  T s = sum(e, w.over, true);
  return reshape(shift + temp * log(s), sum(w.u, w.over, false).shape());
}

T adaptive(const Call& c) {
  T x = c.in(0);
  const int w = x.rank() - 2;
  const Shape out = c.list("output", w, 1);
  for (int k = 0; k < w; ++k) {
    const I s = x.dim(2 + k), o = out[k];
    std::vector<T> parts;
    for (I i = 0; i < o; ++i) {
      const I lo = i * s / o;
      I hi = ((i + 1) * s + o - 1) / o;
      if (bug("adaptive_pool_end_rounds_down")) hi = std::max(lo + 1, (i + 1) * s / o);
      parts.push_back(sum(part(x, 2 + k, lo, hi), {2 + k}, true) / K(hi - lo));
    }
    x = concat(parts, 2 + k);
  }
  return x;
}

T upsample(const Call& c) {
  T x = c.in(0);
  const int w = x.rank() - 2;
  const Shape scale = c.list("scale", w, 1);
  Shape one_more{x.dim(0), x.dim(1)}, wide = one_more, out = one_more;
  for (int k = 0; k < w; ++k) {
    one_more.push_back(x.dim(2 + k)); one_more.push_back(1);
    wide.push_back(x.dim(2 + k)); wide.push_back(scale[k]);
    out.push_back(x.dim(2 + k) * scale[k]);
  }
  return reshape(expand(reshape(x, one_more), wide), out);
}

}  // namespace

void lower_windows(Table& t) {
  for (const char* d : {"", "1d", "2d", "3d"}) {
    const std::string s = d;
    t["conv" + s] = [](const Call& c) { return one(convolution(c)); };
    t["conv_transpose" + s] = [](const Call& c) { return one(transposed(c)); };
    t["max_pool" + s] = [](const Call& c) { return one(max_pool(c)); };
    t["avg_pool" + s] = [](const Call& c) { return one(avg_pool(c)); };
    t["smooth_max_pool" + s] = [](const Call& c) { return one(smooth_max(c)); };
    t["adaptive_avg_pool" + s] = [](const Call& c) { return one(adaptive(c)); };
    t["upsample_nearest" + s] = [](const Call& c) { return one(upsample(c)); };
    t["global_avg_pool" + s] = [](const Call& c) {
      T x = c.in(0);
      return one(sum(x, range(2, x.rank()), c.flag("keepdims", true)) / K(count(spatial(x))));
    };
  }
}

}  // namespace adze
