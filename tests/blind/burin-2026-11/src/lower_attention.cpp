// Attention, position and recurrent cells.
#include "lower.h"

// q[..., m, d], k[..., n, d], v[..., n, e] of the same leading axes; live[..., m, n] or null.
V attention(V q, V k, V v, V live, V scale) {
  Int r = q.rank() - 2;
  Dims batch = iota_dims(r);
  V s = dot(q, k, batch, batch, {r + 1}, {r + 1}) * scale;
  Dims last = {r + 1}, kept = s.shape();
  kept[r + 1] = 1;
  if (s.dim(-1) == 0) return dot(s, v, batch, batch, {r + 1}, {r});
  V w, total;
  if (live) {
    live = broadcast_to(live, s.shape());
    V any = reduce(Red::any, live, last, true);
    V low = select(live, s, lit(-HUGE_VALQ, s));
    V top = detach(select(any, max_or_zero(low, last), lit(0, s)));
    w = select(live, un(Fn::exp, select(live, s - top, lit(0, s))), lit(0, s));
    total = select(any, sum(w, last, true), lit(1, s));
  } else {
    w = un(Fn::exp, s - max_or_zero(s, last));
    total = sum(w, last, true);
  }
  V a = w / total;
  if (live) a = select(live, a, lit(0, a));
  return dot(a, v, batch, batch, {r + 1}, {r});
}

namespace {

using R = std::vector<V>;

V causal_mask(Int m, Int n) {
  V shift = lit(BUG(causal_from_lower_right) ? Real(n - m) : 0, scalar(0, DT::i64));
  return cmp(Fn::le, iota({m, n}, 1), iota({m, n}, 0) + shift);
}
V both(V a, V b) { return !a ? b : !b ? a : ew(Fn::land, DT::boolean, {a, b}); }

R sdpa(const Call& c) {
  V q = c.x[0], k = c.x[1], v = c.x[2], mask = c.opt(3), scale = c.opt(4);
  Int m = q.dim(-2), n = k.dim(-2);
  Dims p(q.shape().begin(), q.shape().end() - 2), b;
  if (mask) b = Dims(mask.shape().begin(), mask.shape().end() - 2);
  Dims o = joined(p, b);
  auto widened = [&](V x) {
    Dims s = o;
    s.insert(s.end(), x.shape().end() - 2, x.shape().end());
    return broadcast_to(x, s);
  };
  bool causal = c.a.flag("causal");
  V live = mask;
  if (causal) live = both(mask, causal_mask(m, n));
  if (!scale) scale = lit(1 / sqrtq(Real(q.dim(-1))), q);
  return {attention(widened(q), widened(k), widened(v), live, scale)};
}

R multi_head(const Call& c) {
  V x = c.x[0];
  Int heads = c.a.integer("heads", 1), n = x.dim(-2), a = c.x[1].dim(0), e = a / heads, r = x.rank() - 2;
  auto projected = [&](int w, int b) {  // [..., heads, n, e]
    V y = matmul_last(x, c.x[w]);
    if (c.opt(b)) y = y + c.x[b];
    Dims s(y.shape().begin(), y.shape().end() - 1), perm = iota_dims(r);
    s.push_back(heads);
    s.push_back(e);
    if (BUG(multi_head_order_of_values) && w == 3 && e > 1) {
      s[r + 1] = e;
      s[r + 2] = heads;
      perm.insert(perm.end(), {r + 2, r, r + 1});
      return transpose(reshape(y, s), perm);
    }
    perm.insert(perm.end(), {r + 1, r, r + 2});
    return transpose(reshape(y, s), perm);
  };
  V live = both(c.opt(9), c.a.flag("causal") ? causal_mask(n, n) : V());
  V h = attention(projected(1, 5), projected(2, 6), projected(3, 7), live, lit(1 / sqrtq(Real(e)), x));
  Dims perm = iota_dims(r), s(x.shape().begin(), x.shape().end() - 1);
  perm.insert(perm.end(), {r + 1, r, r + 2});
  s.push_back(a);
  V y = matmul_last(reshape(transpose(h, perm), s), c.x[4]);
  return {c.opt(8) ? y + c.x[8] : y};
}

V angles(V pos, Int half, Real width, Real base, DT dt) {  // pos[...] to [..., half]
  Dims s = pos.shape();
  s.push_back(1);
  std::vector<V> f;
  for (Int i = 0; i < half; ++i) f.push_back(reshape(scalar(powq(base, -2 * Real(i) / width), dt), {1}));
  return reshape(convert(pos, dt), s) * (half ? concat(f, 0) : broadcast_to(scalar(0, dt), {0}));
}
R rope(const Call& c) {
  V x = c.x[0];
  Int n = x.dim(-2), d = x.dim(-1), last = x.rank() - 1;
  if (size_of(x.shape()) == 0) return {x};
  V pos = c.opt(1) ? c.x[1] : iota({n}, 0);
  bool half = c.a.sym("pairing", "interleaved") == "half";
  V t = angles(pos, d / 2, Real(d), c.a.num("base", 10000), x.dt()), co = un(Fn::cos, t), si = un(Fn::sin, t);
  Dims start(x.rank(), 0), step(x.rank(), 1), count = x.shape();
  count[last] = d / 2;
  if (!half) step[last] = 2;
  V a = slice(x, start, step, count);
  start[last] = half ? d / 2 : 1;
  V b = slice(x, start, step, count);
  V first = a * co - b * si, second = a * si + b * co;
  if (half) return {concat({first, second}, last)};
  Dims s = first.shape();
  s.push_back(1);
  return {reshape(concat({reshape(first, s), reshape(second, s)}, last + 1), x.shape())};
}
R sinusoidal(const Call& c) {
  V pos = c.x[0];
  Int width = c.a.integer("width"), half = (width + 1) / 2, r = pos.rank();
  DT dt = c.a.dtype("dtype", DT::f32);
  Dims s = pos.shape();
  s.push_back(width);
  if (width == 0) return {broadcast_to(scalar(0, dt), s)};
  Real w = Real(BUG(sinusoidal_odd_width_rounded_up) ? 2 * half : width);
  V t = angles(pos, half, w, c.a.num("base", 10000), dt), a = un(Fn::sin, t), b = un(Fn::cos, t);
  Dims one = t.shape(), wide = pos.shape();
  one.push_back(1);
  wide.push_back(2 * half);
  V y = reshape(concat({reshape(a, one), reshape(b, one)}, r + 1), wide);
  return {slice_axis(y, r, 0, width)};
}

V affine(V x, V w, V b) {
  V y = matmul_last(x, w);
  return b ? y + b : y;
}
V part(V z, Int k, Int n) { return slice_axis(z, z.rank() - 1, k * n, n); }

R rnn_cell(const Call& c) {
  V z = affine(c.x[0], c.x[2], c.opt(4)) + affine(c.x[1], c.x[3], c.opt(5));
  if (c.a.sym("nonlinearity", "tanh") == "tanh") return {un(Fn::tanh, z)};
  return {select(cmp(Fn::le, z, lit(0, z)), lit(0, z), z)};
}
R lstm_cell(const Call& c) {
  V z = affine(c.x[0], c.x[3], c.opt(5)) + affine(c.x[1], c.x[4], c.opt(6));
  Int n = c.x[2].dim(-1);
  V i = un(Fn::sigmoid, part(z, 0, n)), f = un(Fn::sigmoid, part(z, 1, n)), o = un(Fn::sigmoid, part(z, 3, n));
  V c1 = f * c.x[2] + i * un(Fn::tanh, part(z, 2, n));
  return {o * un(Fn::tanh, c1), c1};
}
R gru_cell(const Call& c) {
  V h = c.x[1], s = affine(c.x[0], c.x[2], c.opt(4)), t = affine(h, c.x[3], c.opt(5));
  Int n = h.dim(-1);
  V r = un(Fn::sigmoid, part(s, 0, n) + part(t, 0, n)), u = un(Fn::sigmoid, part(s, 1, n) + part(t, 1, n));
  V inner = r * part(t, 2, n);
  if (BUG(gru_reset_before_bias) && c.opt(5)) inner = r * part(affine(h, c.x[3], V()), 2, n) + part(c.x[5], 2, n);
  V fresh = un(Fn::tanh, part(s, 2, n) + inner);
  return {(1 - u) * fresh + u * h};
}

const Register rows{{"scaled_dot_product_attention", sdpa}, {"multi_head_attention", multi_head}, {"rope", rope},
                    {"sinusoidal_encoding", sinusoidal}, {"rnn_cell", rnn_cell}, {"lstm_cell", lstm_cell},
                    {"gru_cell", gru_cell}};

}  // namespace
