// Making instructions, with their shapes.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core.h"

Graph* g = nullptr;

bool active(const char* name) {
  static const char* on = std::getenv("ETALON_BLIND");
  return on && std::strcmp(on, name) == 0;
}

N Graph::make(Op op, DT dt, Dims shape, std::vector<N> in) {
  nodes.push_back(std::make_unique<Node>());
  Node* n = nodes.back().get();
  n->id = int(nodes.size());
  n->op = op;
  n->dt = dt;
  n->shape = std::move(shape);
  n->in = std::move(in);
  if (size_of(n->shape) > (Int(1) << 24)) throw Unsupported("size", "more than 2^24 elements");
  return n;
}

Dims row_major(const Dims& shape) {
  Dims s(shape.size());
  Int n = 1;
  for (std::size_t i = shape.size(); i-- > 0;) { s[i] = n; n *= shape[i]; }
  return s;
}
Dims iota_dims(Int n) { Dims r; for (Int i = 0; i < n; ++i) r.push_back(i); return r; }
bool contains(const Dims& s, Int v) { return std::find(s.begin(), s.end(), v) != s.end(); }
Dims without(const Dims& s, const Dims& axes) {
  Dims r;
  for (std::size_t i = 0; i < s.size(); ++i) if (!contains(axes, Int(i))) r.push_back(s[i]);
  return r;
}
Int to_int(Real v) { return Int(v); }

Real rounded(Real v, DT dt) {
  switch (dt) {
    case DT::f32: return Real(float(v));
    case DT::f64: return Real(double(v));
    case DT::i32: return Real(Int(std::int32_t(std::uint32_t(std::uint64_t(Int(v))))));
    case DT::i64: return v;
    default: return v != 0 ? 1 : 0;
  }
}

Dims joined(const Dims& p, const Dims& q) {
  Dims r(std::max(p.size(), q.size()));
  for (std::size_t i = 0; i < r.size(); ++i) {
    Int a = i < p.size() ? p[p.size() - 1 - i] : 1, b = i < q.size() ? q[q.size() - 1 - i] : 1;
    if (a != b && a != 1 && b != 1) throw std::runtime_error("shapes do not join");
    r[r.size() - 1 - i] = a == 1 ? b : a;
  }
  return r;
}

V scalar(Real v, DT dt) {
  N n = g->make(Op::constant, dt, {}, {});
  n->data = std::make_shared<std::vector<Real>>(1, v);
  return n;
}
V iota(const Dims& shape, Int axis) {
  N n = g->make(Op::iota, DT::i64, shape, {});
  n->a = {axis};
  return n;
}
V ew(Fn fn, DT dt, std::vector<V> in) {
  Dims s;
  for (V x : in) s = joined(s, x.shape());
  std::vector<N> ops;
  for (V x : in) ops.push_back(broadcast_to(x, s).n);
  N n = g->make(Op::ew, dt, s, ops);
  n->fn = fn;
  return n;
}
V un(Fn fn, V x) { return ew(fn, x.dt(), {x}); }
V cmp(Fn fn, V a, V b) { return ew(fn, DT::boolean, {a, b}); }
V select(V c, V a, V b) { return ew(Fn::select, a.dt(), {c, a, b}); }
V convert(V x, DT dt) { return ew(Fn::convert, dt, {x}); }
V store(V x, DT dt) { return is_real(dt) ? ew(Fn::store, dt, {x}) : x; }
V detach(V x) { return un(Fn::detach, x); }
V operator+(V a, V b) { return ew(Fn::add, a.dt(), {a, b}); }
V operator-(V a, V b) { return ew(Fn::sub, a.dt(), {a, b}); }
V operator*(V a, V b) { return ew(Fn::mul, a.dt(), {a, b}); }
V operator/(V a, V b) { return ew(Fn::div, a.dt(), {a, b}); }
V operator-(V a) { return un(Fn::neg, a); }

V broadcast(V x, const Dims& shape, const Dims& map) {
  if (shape == x.shape() && map == iota_dims(x.rank())) return x;
  N n = g->make(Op::broadcast, x.dt(), shape, {x.n});
  n->a = map;
  return n;
}
V broadcast_to(V x, const Dims& shape) {
  if (shape == x.shape()) return x;
  Dims map(shape.size(), -1);
  Int lead = Int(shape.size()) - x.rank();
  for (Int i = lead; i < Int(shape.size()); ++i) map[i] = i - lead;
  return broadcast(x, shape, map);
}
V reshape(V x, const Dims& shape) {
  if (shape == x.shape()) return x;
  if (size_of(shape) != size_of(x.shape())) throw std::runtime_error("reshape changes the number of elements");
  return g->make(Op::reshape, x.dt(), shape, {x.n});
}
V transpose(V x, const Dims& perm) {
  if (perm == iota_dims(x.rank())) return x;
  Dims s;
  for (Int p : perm) s.push_back(x.shape()[p]);
  N n = g->make(Op::transpose, x.dt(), s, {x.n});
  n->a = perm;
  return n;
}
V slice(V x, const Dims& start, const Dims& step, const Dims& count) {
  if (count == x.shape() && start == Dims(count.size(), 0) && step == Dims(count.size(), 1)) return x;
  N n = g->make(Op::slice, x.dt(), count, {x.n});
  n->a = start;
  n->b = step;
  return n;
}
V slice_axis(V x, Int axis, Int start, Int count) {
  Dims s(x.rank(), 0), c = x.shape();
  s[axis] = start;
  c[axis] = count;
  return slice(x, s, Dims(x.rank(), 1), c);
}
V pad(V x, const Dims& low, const Dims& high, V value) {
  Dims s = x.shape();
  for (std::size_t i = 0; i < s.size(); ++i) s[i] += low[i] + high[i];
  N n = g->make(Op::pad, x.dt(), s, {x.n, value.n});
  n->a = low;
  n->b = high;
  return n;
}
V embed(V x, const Dims& start, const Dims& step, const Dims& shape) {
  N n = g->make(Op::embed, x.dt(), shape, {x.n});
  n->a = start;
  n->b = step;
  return n;
}
V concat(const std::vector<V>& xs, Int axis) {
  Dims s = xs[0].shape();
  s[axis] = 0;
  std::vector<N> in;
  for (V x : xs) { s[axis] += x.dim(axis); in.push_back(x.n); }
  N n = g->make(Op::concat, xs[0].dt(), s, in);
  n->a = {axis};
  return n;
}
V reduce(Red r, V x, const Dims& axes, bool keep) {
  Dims sorted = axes;
  bool ordered = r == Red::argmax || r == Red::argmin || r == Red::max || r == Red::min;  // the first of equals counts
  if (!ordered) std::sort(sorted.begin(), sorted.end());
  DT dt = r == Red::argmax || r == Red::argmin ? DT::i64 : x.dt();
  N n = g->make(Op::reduce, dt, without(x.shape(), sorted), {x.n});
  n->red = r;
  n->a = sorted;
  if (!keep) return n;
  Dims s = x.shape();
  for (Int a : axes) s[a] = 1;
  return reshape(n, s);
}
V sum(V x, const Dims& axes, bool keep) { return reduce(Red::sum, x, axes, keep); }
V cum(bool product, V x, Int axis, bool reverse, bool exclusive) {
  N n = g->make(Op::cum, x.dt(), x.shape(), {x.n});
  n->a = {product, axis, reverse, exclusive};
  return n;
}
V dot(V l, V r, const Dims& lb, const Dims& rb, const Dims& lc, const Dims& rc) {
  Dims s;
  for (Int i : lb) s.push_back(l.shape()[i]);
  for (Int i = 0; i < l.rank(); ++i) if (!contains(lb, i) && !contains(lc, i)) s.push_back(l.shape()[i]);
  for (Int i = 0; i < r.rank(); ++i) if (!contains(rb, i) && !contains(rc, i)) s.push_back(r.shape()[i]);
  N n = g->make(Op::dot, l.dt(), s, {l.n, r.n});
  n->a = lb; n->b = rb; n->c = lc; n->d = rc;
  return n;
}
V patch(V x, const Dims& kernel, const Dims& stride, const Dims& dilation, const Dims& padding, const Dims& out, Real fill) {
  Dims s = {x.dim(0), x.dim(1)};
  s.insert(s.end(), out.begin(), out.end());
  s.insert(s.end(), kernel.begin(), kernel.end());
  N n = g->make(Op::patch, x.dt(), s, {x.n});
  n->a = kernel; n->b = stride; n->c = dilation; n->d = padding;
  n->fill = fill;
  return n;
}
V unpatch(V x, const Dims& kernel, const Dims& stride, const Dims& dilation, const Dims& padding, const Dims& spatial) {
  Dims s = {x.dim(0), x.dim(1)};
  s.insert(s.end(), spatial.begin(), spatial.end());
  N n = g->make(Op::unpatch, x.dt(), s, {x.n});
  n->a = kernel; n->b = stride; n->c = dilation; n->d = padding;
  return n;
}
V gather(V x, V t, Int axis) {
  Dims s(x.shape().begin(), x.shape().begin() + axis);
  s.insert(s.end(), t.shape().begin(), t.shape().end());
  s.insert(s.end(), x.shape().begin() + axis + 1, x.shape().end());
  N n = g->make(Op::gather, x.dt(), s, {x.n, t.n});
  n->a = {axis};
  return n;
}
V scatter(V x, V t, V s, Int axis) {
  N n = g->make(Op::scatter, x.dt(), x.shape(), {x.n, t.n, s.n});
  n->a = {axis};
  return n;
}
V take_along(V x, V t, Int axis) {
  N n = g->make(Op::take_along, x.dt(), t.shape(), {x.n, t.n});
  n->a = {axis};
  return n;
}
V scat_along(V x, V t, V s, Int axis) {
  N n = g->make(Op::scat_along, x.dt(), x.shape(), {x.n, t.n, s.n});
  n->a = {axis};
  return n;
}
V raw(Op op, V x, std::vector<V> more, const Dims& a) {
  std::vector<N> in = {x.n};
  for (V v : more) in.push_back(v.n);
  N n = g->make(op, x.dt(), x.shape(), in);
  n->a = a;
  return n;
}
V move_axis_last(V x, Int axis) {
  Dims p;
  for (Int i = 0; i < x.rank(); ++i) if (i != axis) p.push_back(i);
  p.push_back(axis);
  return transpose(x, p);
}
V last_axis_to(V x, Int axis) {
  Dims p;
  for (Int i = 0, k = 0; i < x.rank(); ++i) p.push_back(i == axis ? x.rank() - 1 : k++);
  return transpose(x, p);
}

Real Attrs::num(const std::string& k, Real otherwise) const {
  auto it = m.find(k);
  return it == m.end() || it->second.num.empty() ? otherwise : it->second.num[0];
}
std::string Attrs::sym(const std::string& k, const std::string& otherwise) const {
  auto it = m.find(k);
  return it == m.end() || it->second.sym.empty() ? otherwise : it->second.sym;
}
Dims Attrs::ints(const std::string& k, Int rank, Int otherwise) const {
  auto it = m.find(k);
  if (it == m.end()) return Dims(rank, otherwise);
  if (!it->second.list) return Dims(rank, to_int(it->second.num.at(0)));
  Dims r;
  for (Real v : it->second.num) r.push_back(to_int(v));
  return r;
}
Dims Attrs::axes(const std::string& k, Int rank) const {
  auto it = m.find(k);
  if (it == m.end() || !it->second.sym.empty()) return iota_dims(rank);
  Dims r;
  for (Real v : it->second.num) r.push_back((to_int(v) + rank) % std::max<Int>(rank, 1));
  return r;
}
Int Attrs::axis(const std::string& k, Int rank, Int otherwise) const {
  Int v = integer(k, otherwise);
  return v < 0 ? v + rank : v;
}
DT Attrs::dtype(const std::string& k, DT otherwise) const {
  std::string s = sym(k, "");
  if (s.empty()) return otherwise;
  static const std::map<std::string, DT> names = {
      {"f32", DT::f32}, {"f64", DT::f64}, {"i32", DT::i32}, {"i64", DT::i64}, {"bool", DT::boolean}};
  auto it = names.find(s);
  if (it == names.end()) throw Unsupported("dtype", s + " is not offered");
  return it->second;
}
std::map<std::string, Lowering>& table() { static std::map<std::string, Lowering> t; return t; }
