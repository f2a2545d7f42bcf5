// Products, convolution and pooling.
#include <algorithm>

#include "lower.h"

V matmul_last(V x, V w) { return dot(x, w, {}, {}, {x.rank() - 1}, {1}); }

namespace {

using R = std::vector<V>;

R matmul(const Call& c) {
  V a = c.x[0], b = c.x[1];
  bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = reshape(a, {1, a.dim(0)});
  if (column) b = reshape(b, {b.dim(0), 1});
  Dims pa(a.shape().begin(), a.shape().end() - 2), pb(b.shape().begin(), b.shape().end() - 2), p = joined(pa, pb);
  auto widened = [&](V x) {
    Dims s = p;
    s.insert(s.end(), x.shape().end() - 2, x.shape().end());
    return broadcast_to(x, s);
  };
  Int r = Int(p.size());
  V y;
  Dims batch = iota_dims(r);
  y = dot(widened(a), widened(b), batch, batch, {r + 1}, {r});
  Dims s = p;
  if (!row) s.push_back(a.dim(-2));
  if (!column) s.push_back(b.dim(-1));
  return {reshape(y, s)};
}
R inner(const Call& c) { return {dot(c.x[0], c.x[1], {}, {}, {0}, {0})}; }
R outer(const Call& c) { return {dot(c.x[0], c.x[1], {}, {}, {}, {})}; }
R linear(const Call& c) {
  V y = matmul_last(c.x[0], c.x[1]);
  return {c.opt(2) ? y + c.x[2] : y};
}

V with_bias(V y, V bias) { return bias ? y + along_axes(bias, {1}, y.rank()) : y; }

Dims tail(const Dims& s, Int from) { return Dims(s.begin() + from, s.end()); }

R convolution(const Call& c) {
  V x = c.x[0], k = c.x[1];
  Int n = x.rank() - 2, groups = c.a.integer("groups", 1);
  Dims stride = c.a.ints("stride", n, 1), padding = c.a.ints("padding", n, 0), dilation = c.a.ints("dilation", n, 1);
  Dims w = tail(k.shape(), 2), o;
  for (Int i = 0; i < n; ++i) o.push_back((x.dim(2 + i) + 2 * padding[i] - dilation[i] * (w[i] - 1) - 1) / stride[i] + 1);
  for (Int e : o) if (e < 0) throw std::runtime_error("a negative extent");
  Int b = x.dim(0), e = k.dim(1), f = k.dim(0) / groups;
  V p = patch(x, w, stride, dilation, padding, o, 0);
  Dims ps = {b, groups, e}, ks = {groups, f, e};
  ps.insert(ps.end(), p.shape().begin() + 2, p.shape().end());
  ks.insert(ks.end(), w.begin(), w.end());
  p = reshape(p, ps);
  V kernel = reshape(k, ks);
  Dims lc = {2}, rc = {2};
  for (Int i = 0; i < n; ++i) { lc.push_back(3 + n + i); rc.push_back(3 + i); }
  V y = dot(p, kernel, {1}, {0}, lc, rc);  // groups, batch, places, outputs of the group
  Dims perm = {1, 0, 2 + n};
  for (Int i = 0; i < n; ++i) perm.push_back(2 + i);
  Dims s = {b, groups * f};
  s.insert(s.end(), o.begin(), o.end());
  return {with_bias(reshape(transpose(y, perm), s), c.opt(2))};
}

R conv_transpose(const Call& c) {
  V x = c.x[0], k = c.x[1];
  Int n = x.rank() - 2, groups = c.a.integer("groups", 1);
  Dims stride = c.a.ints("stride", n, 1), padding = c.a.ints("padding", n, 0), dilation = c.a.ints("dilation", n, 1);
  Dims more = c.a.ints("output_padding", n, 0), w = tail(k.shape(), 2), i = tail(x.shape(), 2), s;
  for (Int a = 0; a < n; ++a) s.push_back((i[a] - 1) * stride[a] - 2 * padding[a] + dilation[a] * (w[a] - 1) + more[a] + 1);
  for (Int e : s) if (e < 0) throw std::runtime_error("a negative extent");
  Int b = x.dim(0), d = x.dim(1) / groups, e = k.dim(1);
  Dims xs = {b, groups, d}, ks = {groups, d, e};
  xs.insert(xs.end(), i.begin(), i.end());
  ks.insert(ks.end(), w.begin(), w.end());
  V y = dot(reshape(x, xs), reshape(k, ks), {1}, {0}, {2}, {1});  // groups, batch, places, e, window
  Dims perm = {1, 0, 2 + n};
  for (Int a = 0; a < n; ++a) perm.push_back(2 + a);
  for (Int a = 0; a < n; ++a) perm.push_back(3 + n + a);
  Dims ys = {b, groups * e};
  ys.insert(ys.end(), i.begin(), i.end());
  ys.insert(ys.end(), w.begin(), w.end());
  y = reshape(transpose(y, perm), ys);
  if (BUG(conv_transpose_output_padding_first)) for (Int a = 0; a < n; ++a) padding[a] -= more[a];
  return {with_bias(unpatch(y, w, stride, dilation, padding, s), c.opt(2))};
}

struct Window {
  Dims kernel, stride, padding, dilation, out, ones;
  Int n;
  Window(const Call& c) {
    V x = c.x[0];
    n = x.rank() - 2;
    kernel = c.a.ints("kernel", n, 1);
    stride = c.a.has("stride") ? c.a.ints("stride", n, 1) : kernel;
    padding = c.a.ints("padding", n, 0);
    dilation = c.a.ints("dilation", n, 1);
    for (Int i = 0; i < n; ++i) {
      out.push_back((x.dim(2 + i) + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1);
    }
    for (Int e : out) if (e < 0) throw std::runtime_error("a negative extent");
  }
  V over(V x, Real fill) const {  // b, c, places, elements of the window in a row
    V p = patch(x, kernel, stride, dilation, padding, out, fill);
    Dims s(p.shape().begin(), p.shape().begin() + 2 + n);
    s.push_back(size_of(kernel));
    return reshape(p, s);
  }
  V inside(V x) const {
    return cmp(Fn::ne, over(broadcast_to(lit(1, x), x.shape()), 0), lit(0, x));
  }
};

R max_pool(const Call& c) {
  Window w(c);
  V x = c.x[0];
  bool padding = std::any_of(w.padding.begin(), w.padding.end(), [](Int p) { return p > 0; });
  if (BUG(max_pool_padding_lowest) && padding) return {reduce(Red::max, w.over(x, -3.4028234663852886e38Q), {2 + w.n})};
  V p = w.over(x, 0), in = w.inside(x);
  Int last = 2 + w.n;
  if (size_of(p.shape()) == 0) return {reshape(slice_axis(p, last, 0, 1), without(p.shape(), {last}))};
  V top = detach(reduce(Red::max, select(in, p, lit(-HUGE_VALQ, x)), {last}, true));
  V nan = ew(Fn::land, DT::boolean, {ew(Fn::isnan, DT::boolean, {p}), ew(Fn::isnan, DT::boolean, {top})});
  V hit = ew(Fn::land, DT::boolean, {in, ew(Fn::lor, DT::boolean, {cmp(Fn::eq, p, top), nan})});
  V at = reduce(Red::argmax, convert(hit, DT::i64), {last}, true);
  V y = take_along(p, at, last);
  return {reshape(y, without(p.shape(), {last}))};
}

R avg_pool(const Call& c) {
  Window w(c);
  V x = c.x[0];
  Int last = 2 + w.n;
  V total = sum(w.over(x, 0), {last});
  if (c.a.flag("count_include_pad", true)) return {total / Real(size_of(w.kernel))};
  if (BUG(avg_pool_excluded_padding_in_one_axis) && w.n > 1) w.padding[w.n - 1] = 0;
  return {total / sum(convert(w.inside(x), x.dt()), {last})};
}

R smooth_max_pool(const Call& c) {
  Window w(c);
  V x = c.x[0], p = w.over(x, 0), in = w.inside(x);
  Int last = 2 + w.n;
  Real t = c.a.num("temperature", 1);
  V top = max_or_zero(select(in, p, lit(-HUGE_VALQ, x)), {last});
  V shift = select(ew(Fn::isinf, DT::boolean, {top}), lit(0, top), top);
  V e = select(in, un(Fn::exp, select(in, (p - shift) / t, lit(0, x))), lit(0, x));
  V l = un(Fn::log, sum(e, {last}, true));
  V y = shift + l * t;
  return {reshape(y, without(p.shape(), {last}))};
}

R adaptive_avg_pool(const Call& c) {
  V x = c.x[0];
  Int n = x.rank() - 2;
  Dims out = c.a.ints("output", n, 1), i(n, 0), s = {x.dim(0), x.dim(1)};
  std::vector<V> cells;
  for (Int k = 0; k < size_of(out); ++k) {
    Dims start(2, 0), count = {x.dim(0), x.dim(1)}, axes;
    for (Int a = 0, rest = k; a < n; ++a) {
      Int inner = 1;
      for (Int b = a + 1; b < n; ++b) inner *= out[b];
      Int at = rest / inner, e = x.dim(2 + a);
      rest %= inner;
      Int first = at * e / out[a], end = ((at + 1) * e + out[a] - 1) / out[a];
      if (BUG(adaptive_avg_pool_end_floored) && out[a] < e) end = (at + 1) * e / out[a];
      start.push_back(first);
      count.push_back(end - first);
      axes.push_back(2 + a);
    }
    V cell = slice(x, start, Dims(n + 2, 1), count);
    Real many = Real(count_of(cell, axes));
    cells.push_back(reshape(sum(cell, axes) / many, {x.dim(0), x.dim(1), 1}));
  }
  s.insert(s.end(), out.begin(), out.end());
  return {reshape(concat(cells, 2), s)};
}

R global_avg_pool(const Call& c) {
  V x = c.x[0];
  Dims axes;
  for (Int i = 2; i < x.rank(); ++i) axes.push_back(i);
  return {sum(x, axes, c.a.flag("keepdims", true)) / Real(count_of(x, axes))};
}

R upsample(const Call& c) {
  V x = c.x[0];
  Int n = x.rank() - 2;
  Dims scale = c.a.ints("scale", n, 1), wide = {x.dim(0), x.dim(1)}, map = {0, 1}, s = wide;
  for (Int i = 0; i < n; ++i) {
    wide.push_back(x.dim(2 + i));
    wide.push_back(scale[i]);
    map.push_back(2 + i);
    map.push_back(-1);
    s.push_back(x.dim(2 + i) * scale[i]);
  }
  return {reshape(broadcast(x, wide, map), s)};
}

struct Families {
  Families() {
    const std::pair<const char*, Lowering> all[] = {
        {"conv", convolution}, {"conv_transpose", conv_transpose}, {"max_pool", max_pool}, {"avg_pool", avg_pool},
        {"smooth_max_pool", smooth_max_pool}, {"adaptive_avg_pool", adaptive_avg_pool},
        {"global_avg_pool", global_avg_pool}, {"upsample_nearest", upsample}};
    for (auto& [name, f] : all) for (const char* rank : {"", "1d", "2d", "3d"}) table()[std::string(name) + rank] = f;
  }
};
const Families families;
const Register rows{{"matmul", matmul}, {"dot", inner}, {"outer", outer}, {"linear", linear}};

}  // namespace
