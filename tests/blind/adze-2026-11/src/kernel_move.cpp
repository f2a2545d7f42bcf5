// Nodes that copy elements to other places, and reads and writes at computed places.
#include <algorithm>
#include "loops.h"

namespace adze {

static void copy(const Shape& shape, const Real* from, const Shape& fs, Real* to, const Shape& ts) {
  const Loop l = collapsed(shape, {&ts, &fs});
  elements(l, [&](const std::vector<I>& o) { to[o[0]] = from[o[1]]; });
}

void move_kernel(const Graph& g, const Node& n, const std::vector<View>& in, View out) {
  const Shape& shape = g.vals[n.out].shape;
  const I size = count(shape);
  if (n.op == Op::Iota) {
    const I step = dense_strides(shape)[n.at.axis];
    for (I k = 0; k < size; ++k) out.p[k] = (k / step) % shape[n.at.axis];
    return;
  }
  if (n.op == Op::Reshape) {
    const Shape& s = g.vals[n.in[0]].shape;
    copy(s, in[0].p, in[0].strides, out.p, dense_strides(s));
    return;
  }
  if (n.op == Op::Concat) {
    I at = 0;
    for (std::size_t k = 0; k < in.size(); ++k) {
      const Shape& s = g.vals[n.in[k]].shape;
      if (count(s) > 0) copy(s, in[k].p, in[k].strides, out.p + at * out.strides[n.at.axis], out.strides);
      at += s[n.at.axis];
    }
    return;
  }
  std::fill(out.p, out.p + size, n.op == Op::Place ? n.at.value : Real(0));
  const Shape& s = g.vals[n.in[0]].shape;
  const DT dt = g.vals[n.out].dt;
  if (n.op == Op::Place) {  // element i of the operand goes to start + step*i, if that is inside
    const Shape ds = dense_strides(s);
    elements(collapsed(s, {&in[0].strides, &ds}), [&](const std::vector<I>& o) {
      I rest = o[1], to = 0;
      for (std::size_t k = 0; k < s.size(); ++k) {
        const I at = n.at.a[k] + n.at.b[k] * (rest / ds[k]);
        rest %= ds[k];
        if (at < 0 || at >= shape[k]) return;
        to += at * out.strides[k];
      }
      out.p[to] = in[0].p[o[0]];
    });
    return;
  }
  // Fold: windows are added where they came from.
  const std::size_t w = n.at.a.size(), lead = shape.size() - w;
  Shape os(out.strides.begin(), out.strides.begin() + lead);
  for (std::size_t k = 0; k < w; ++k) os.push_back(out.strides[lead + k] * n.at.b[k]);
  for (std::size_t k = 0; k < w; ++k) os.push_back(out.strides[lead + k] * n.at.c[k]);
  elements(collapsed(s, {&in[0].strides, &os}), [&](const std::vector<I>& o) {
    if (bug("fold_overwrites_overlap")) out.p[o[1]] = in[0].p[o[0]];
    else out.p[o[1]] = apply(Op::Add, dt, dt, out.p[o[1]], in[0].p[o[0]], 0);
  });
}

static I index_of(Real t, I n) {
  if (bug("index_taken_as_i32") && t >= 4294967296.0Q) return I(std::uint32_t(I(t)));
  return t < 0 || t >= n ? -1 : I(t);
}

void index_kernel(const Graph& g, const Node& n, const std::vector<View>& in, View out) {
  const Shape& shape = g.vals[n.out].shape;
  const Shape& xs = g.vals[n.in[0]].shape;
  const Shape& ts = g.vals[n.in[1]].shape;
  const DT dt = g.vals[n.out].dt;
  const bool scatters = n.op == Op::Scatter || n.op == Op::ScatterAlong;
  if (scatters) copy(xs, in[0].p, in[0].strides, out.p, out.strides);
  auto add = [&](I to, Real v) {
    if (bug("gather_gradient_overwrites_duplicates") && n.at.flag) { out.p[to] = v; return; }
    out.p[to] = apply(Op::Add, dt, dt, out.p[to], v, 0);
  };
  if (n.op == Op::TakeAlong || n.op == Op::ScatterAlong) {
    auto body = [&](Shape s) { s.back() = 0; return s; };  // the last axis is computed
    const I len = xs.back();
    if (scatters) {
      const Shape os = body(out.strides);
      elements(collapsed(ts, {&os, &in[1].strides, &in[2].strides}), [&](const std::vector<I>& o) {
        const I k = index_of(in[1].p[o[1]], len);
        if (k >= 0) add(o[0] + k * out.strides.back(), in[2].p[o[2]]);
      });
    } else {
      const Shape xo = body(in[0].strides);
      elements(collapsed(shape, {&out.strides, &in[1].strides, &xo}), [&](const std::vector<I>& o) {
        const I k = index_of(in[1].p[o[1]], len);
        out.p[o[0]] = k < 0 ? Real(0) : in[0].p[o[2] + k * in[0].strides.back()];
      });
    }
    return;
  }
  // Slices: [..l, ..q, ..r] against [..l, n, ..r].
  const std::size_t axis = std::size_t(n.at.axis), q = ts.size();
  const View& slices = scatters ? in[2] : out;
  const View& base = scatters ? out : in[0];
  const Shape& places = scatters ? g.vals[n.in[2]].shape : shape;
  Shape tst(places.size(), 0), bst(places.size(), 0);
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (k < axis) bst[k] = base.strides[k];
    else if (k < axis + q) tst[k] = in[1].strides[k - axis];
    else bst[k] = base.strides[k - q + 1];
  }
  elements(collapsed(places, {&slices.strides, &tst, &bst}), [&](const std::vector<I>& o) {
    const I k = index_of(in[1].p[o[1]], xs[axis]);
    const I at = o[2] + k * base.strides[axis];
    if (scatters) { if (k >= 0) add(at, slices.p[o[0]]); }
    else slices.p[o[0]] = k < 0 ? Real(0) : base.p[at];
  });
}

}  // namespace adze
