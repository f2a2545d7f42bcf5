// Operations that move elements, and those at computed places.
#include <algorithm>

#include "lower.h"

namespace {

using R = std::vector<V>;

R transposed(const Call& c) {
  Int r = c.x[0].rank();
  Dims p = c.a.has("permutation") && c.a.m.at("permutation").list ? c.a.axes("permutation", r) : Dims();
  if (p.empty()) for (Int i = r; i-- > 0;) p.push_back(i);
  return {transpose(c.x[0], p)};
}
R reshaped(const Call& c) {
  V x = c.x[0];
  Dims s = c.a.ints("shape", 0, 0);
  Int known = 1;
  for (Int e : s) if (e != -1) known *= e;
  for (Int& e : s) if (e == -1) e = size_of(x.shape()) / std::max<Int>(known, 1);
  return {reshape(x, s)};
}
R flatten(const Call& c) {
  V x = c.x[0];
  Int rank = std::max<Int>(1, x.rank());
  Int start = (c.a.integer("start", 0) + rank) % rank, end = (c.a.integer("end", -1) + rank) % rank;
  Dims s;
  Int n = 1;
  for (Int i = 0; i < x.rank(); ++i) {
    if (i < start || i > end) { s.push_back(x.dim(i)); continue; }
    n *= x.dim(i);
    if (i == end) s.push_back(n);
  }
  if (x.rank() == 0) s = {1};
  return {reshape(x, s)};
}
R swap_axes(const Call& c) {
  Int r = c.x[0].rank();
  Dims p = iota_dims(r);
  std::swap(p[c.a.axis("axis1", r, 0)], p[c.a.axis("axis2", r, 0)]);
  return {transpose(c.x[0], p)};
}
R broadcasted(const Call& c) { return {broadcast_to(c.x[0], c.a.ints("shape", 0, 0))}; }
R concatenated(const Call& c) { return {concat(c.x, c.a.axis("axis", c.x[0].rank(), 0))}; }
V stacked(const std::vector<V>& xs, Int axis) {
  std::vector<V> parts;
  for (V x : xs) {
    Dims s = x.shape();
    s.insert(s.begin() + axis, 1);
    parts.push_back(reshape(x, s));
  }
  return concat(parts, axis);
}
R stack(const Call& c) { return {stacked(c.x, c.a.axis("axis", c.x[0].rank() + 1, 0))}; }
R split(const Call& c) {
  Int axis = c.a.axis("axis", c.x[0].rank(), 0), at = 0;
  R r;
  for (Int e : c.a.ints("sizes", 0, 0)) {
    r.push_back(slice_axis(c.x[0], axis, at, e));
    at += e;
  }
  return r;
}
Int steps(Int start, Int stop, Int step) {
  Int up = step < 0 ? -step : step;
  return std::max<Int>(0, ((stop - start) * (step < 0 ? -1 : 1) + up - 1) / up);
}
R sliced(const Call& c) {
  Int r = c.x[0].rank();
  Dims start = c.a.ints("start", r, 0), stop = c.a.ints("stop", r, 0), step = c.a.ints("step", r, 1), n;
  for (Int i = 0; i < r; ++i) n.push_back(stop[i] == start[i] ? 0 : (stop[i] > start[i]) != (step[i] > 0) ? 0 : steps(start[i], stop[i], step[i]));
  return {slice(c.x[0], start, step, n)};
}
R selected(const Call& c) {
  V x = c.x[0];
  Int axis = c.a.axis("axis", x.rank(), 0), n = x.dim(axis), i = c.a.integer("index");
  return {reshape(slice_axis(x, axis, i < 0 ? i + n : i, 1), without(x.shape(), {axis}))};
}
R padded(const Call& c) {
  V x = c.x[0];
  Real v = rounded(c.a.num("value", 0), x.dt());
  if (BUG(pad_infinity_as_lowest) && is_real(x.dt()) && isinfq(v)) v = copysignq(x.dt() == DT::f32 ? 3.4028234663852886e38 : 1.7976931348623157e308, v);
  return {pad(x, c.a.ints("low", x.rank(), 0), c.a.ints("high", x.rank(), 0), lit(v, x))};
}
R flipped(const Call& c) {
  V x = c.x[0];
  Dims start(x.rank(), 0), step(x.rank(), 1);
  for (Int a : c.a.axes("axes", x.rank())) { start[a] = x.dim(a) - 1; step[a] = -1; }
  if (size_of(x.shape()) == 0) return {x};
  return {slice(x, start, step, x.shape())};
}
R rolled(const Call& c) {
  V x = c.x[0];
  Dims axes = c.a.axes("axes", x.rank()), shift = c.a.ints("shift", Int(axes.size()), 0);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    Int n = x.dim(axes[k]), by = BUG(roll_first_shift_for_all) ? shift[0] : shift[k];
    if (n == 0) continue;
    by = (by % n + n) % n;
    if (by) x = concat({slice_axis(x, axes[k], n - by, by), slice_axis(x, axes[k], 0, n - by)}, axes[k]);
  }
  return {x};
}
template <bool lower> R triangle(const Call& c) {
  V x = c.x[0];
  Int r = x.rank();
  Int diagonal = c.a.integer("diagonal", 0);
  if (BUG(tril_of_wide_matrix_from_corner) && lower && x.dim(-1) > x.dim(-2) && r > 2) diagonal += x.dim(-1) - x.dim(-2);
  V i = iota(x.shape(), r - 2) + lit(diagonal, scalar(0, DT::i64)), j = iota(x.shape(), r - 1);
  return {select(cmp(lower ? Fn::le : Fn::ge, j, i), x, broadcast_to(lit(0, x), x.shape()))};
}
R interleave(const Call& c) {
  Int axis = c.a.axis("axis", c.x[0].rank(), -1);
  Dims s = c.x[0].shape();
  s[axis] *= 2;
  return {reshape(stacked({c.x[0], c.x[1]}, axis + 1), s)};
}
R deinterleave(const Call& c) {
  V x = c.x[0];
  Int axis = c.a.axis("axis", x.rank(), -1);
  Dims start(x.rank(), 0), step(x.rank(), 1), n = x.shape();
  step[axis] = 2;
  n[axis] /= 2;
  V a = slice(x, start, step, n);
  start[axis] = n[axis] ? 1 : 0;
  return {a, slice(x, start, step, n)};
}

R gathering(const Call& c) { return {gather(c.x[0], c.x[1], c.a.axis("axis", c.x[0].rank(), 0))}; }
R taking(const Call& c) { return {take_along(c.x[0], c.x[1], c.a.axis("axis", c.x[0].rank(), -1))}; }
R scattering(const Call& c) { return {scatter(c.x[0], c.x[1], c.x[2], c.a.axis("axis", c.x[0].rank(), 0))}; }
R scattering_along(const Call& c) {
  return {scat_along(c.x[0], c.x[1], c.x[2], c.a.axis("axis", c.x[0].rank(), -1))};
}
R one_hot(const Call& c) {
  V t = c.x[0];
  Int axis = c.a.axis("axis", t.rank() + 1, -1), classes = c.a.integer("classes");
  Dims s = t.shape(), one = t.shape();
  s.insert(s.begin() + axis, classes);
  one.insert(one.begin() + axis, 1);
  V hit = cmp(Fn::eq, convert(reshape(t, one), DT::i64), iota(s, axis));
  return {convert(hit, c.a.dtype("dtype", DT::f32))};
}
R embedding(const Call& c) {
  V w = c.x[0], t = c.x[1];
  V rows = gather(w, t, 0);
  Int padding = c.a.integer("padding_idx", -1);
  Dims s = t.shape();
  s.push_back(1);
  V at = broadcast_to(reshape(cmp(Fn::eq, t, lit(Real(padding), t)), s), rows.shape());
  return {select(at, detach(rows), rows)};
}
R arange(const Call& c) {
  Int start = c.a.integer("start", 0), stop = c.a.integer("stop"), step = c.a.integer("step", 1);
  Int n = (stop > start) != (step > 0) || stop == start ? 0 : steps(start, stop, step);
  V i = iota({n}, 0);
  return {convert(i * lit(Real(step), i) + Real(start), c.a.dtype("dtype", DT::i64))};
}
V filled(const Call& c, Real v) {
  DT dt = c.a.dtype("dtype", DT::f32);
  return broadcast_to(scalar(is_real(dt) ? rounded(v, dt) : v, dt), c.a.ints("shape", 0, 0));
}
R full(const Call& c) { return {filled(c, c.a.num("value"))}; }
R constant(const Call& c) {
  DT dt = c.a.dtype("dtype", DT::f32);
  V v = convert(scalar(c.a.num("value"), DT::f64), dt);
  return {broadcast_to(store(v, dt), c.a.ints("shape", 0, 0))};
}
R zeros(const Call& c) { return {filled(c, 0)}; }
R ones(const Call& c) { return {filled(c, 1)}; }
R literal(const Call& c) { return {reshape(c.x[0], c.a.ints("shape", 0, 0))}; }

const Register rows{
    {"transpose", transposed}, {"reshape", reshaped}, {"flatten", flatten}, {"swap_axes", swap_axes},
    {"broadcast_to", broadcasted}, {"concat", concatenated}, {"stack", stack}, {"split", split}, {"slice", sliced},
    {"select", selected}, {"pad", padded}, {"flip", flipped}, {"roll", rolled}, {"tril", triangle<true>},
    {"triu", triangle<false>}, {"interleave", interleave}, {"deinterleave", deinterleave}, {"gather", gathering},
    {"take_along_axis", taking}, {"scatter_add", scattering}, {"scatter_add_along_axis", scattering_along},
    {"one_hot", one_hot}, {"embedding", embedding}, {"arange", arange}, {"full", full}, {"constant", constant},
    {"zeros", zeros}, {"ones", ones}, {"literal", literal}};

}  // namespace
