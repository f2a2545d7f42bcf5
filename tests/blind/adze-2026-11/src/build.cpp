// Node constructors.
#include "build.h"
#include <algorithm>

namespace adze {

Graph* current = nullptr;

static T add_node(Op op, std::vector<T> in, DT dt, Shape shape, Attr at = {}) {
  std::vector<int> ids;
  for (T t : in) ids.push_back(t.id);
  return {current->emit(op, std::move(ids), dt, std::move(shape), std::move(at))};
}

T K(Real v, Shape shape, DT dt) { Attr a; a.value = v; return add_node(Op::Const, {}, dt, std::move(shape), a); }
T like(Real v, T x) { return K(v, {}, is_real(x.dt()) ? DT::Wide : x.dt()); }
T iota(Shape shape, int axis) { Attr a; a.axis = axis; return add_node(Op::Iota, {}, DT::I64, std::move(shape), a); }

static bool tests(Op op) { return (op >= Op::IsNan && op <= Op::Not) || (op >= Op::Eq && op <= Op::Xor); }
static DT computed(DT t) { return is_real(t) ? DT::Wide : t; }

T un(Op op, T x) { return add_node(op, {x}, tests(op) ? DT::Bool : computed(x.dt()), x.shape()); }

Shape joined(const Shape& a, const Shape& b) {
  Shape r(std::max(a.size(), b.size()), 1);
  for (std::size_t k = 0; k < r.size(); ++k) {
    const I p = k + a.size() >= r.size() ? a[k + a.size() - r.size()] : 1;
    const I q = k + b.size() >= r.size() ? b[k + b.size() - r.size()] : 1;
    if (p != q && p != 1 && q != 1) throw Rejected("extents do not join");
    r[k] = p == 1 ? q : p;
  }
  return r;
}

T bin(Op op, T a, T b) {
  const Shape s = joined(a.shape(), b.shape());
  const DT dt = tests(op) ? DT::Bool : computed(a.dt());
  return add_node(op, {expand(a, s), expand(b, s)}, dt, s);
}
T operator+(T a, T b) { return bin(Op::Add, a, b); }
T operator-(T a, T b) { return bin(Op::Sub, a, b); }
T operator*(T a, T b) { return bin(Op::Mul, a, b); }
T operator/(T a, T b) { return bin(Op::Div, a, b); }
T operator-(T a) { return un(Op::Neg, a); }

T select(T c, T a, T b) {
  const Shape s = joined(joined(c.shape(), a.shape()), b.shape());
  return add_node(Op::Select, {expand(c, s), expand(a, s), expand(b, s)}, computed(a.dt()), s);
}
T store(T x, DT dt) { return x.dt() == dt ? x : add_node(Op::Store, {x}, dt, x.shape()); }
T detach(T x) { return un(Op::Detach, x); }
T sqrt(T x) { return un(Op::Sqrt, x); }
T exp(T x) { return un(Op::Exp, x); }
T log(T x) { return un(Op::Log, x); }
T log1p(T x) { return un(Op::Log1p, x); }
T abs(T x) { return un(Op::Abs, x); }
T tanh(T x) { return un(Op::Tanh, x); }

T sigmoid(T x) {
  T below = bin(Op::Lt, x, K(0));
  // Each branch sees only operands that it is chosen for, so that no derivative of the other overflows.
  T low = exp(select(below, x, K(0)));
  T high = exp(-select(below, K(0), x));
  return select(below, low / (K(1) + low), K(1) / (K(1) + high));
}

T expand(T x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (joined(x.shape(), shape) != shape) throw Rejected("extents do not broadcast");
  return add_node(Op::Expand, {x}, x.dt(), shape);
}

T transpose(T x, const Shape& perm) {
  Shape s;
  for (I p : perm) s.push_back(x.shape()[p]);
  bool same = true;
  for (std::size_t k = 0; k < perm.size(); ++k) same = same && perm[k] == I(k);
  if (same) return x;
  Attr a;
  a.a = perm;
  return add_node(Op::Transpose, {x}, x.dt(), s, a);
}

T reshape(T x, Shape shape) {
  if (x.shape() == shape) return x;
  if (count(shape) != count(x.shape())) throw Rejected("sizes differ");
  return add_node(Op::Reshape, {x}, x.dt(), std::move(shape));
}

T slice(T x, const Shape& start, const Shape& step, const Shape& n) {
  Attr a;
  a.a = start;
  a.b = step;
  return add_node(Op::Slice, {x}, x.dt(), n, a);
}

T place(T x, const Shape& shape, const Shape& start, const Shape& step, Real fill) {
  Attr a;
  a.a = start;
  a.b = step;
  a.value = fill;
  return add_node(Op::Place, {x}, x.dt(), shape, a);
}

T part(T x, int axis, I from, I to) {
  Shape start(x.rank(), 0), step(x.rank(), 1), n = x.shape();
  start[axis] = from;
  n[axis] = to - from;
  return slice(x, start, step, n);
}

T concat(const std::vector<T>& xs, int axis) {
  if (xs.size() == 1) return xs[0];
  Shape s = xs[0].shape();
  s[axis] = 0;
  for (T x : xs) s[axis] += x.shape()[axis];
  DT dt = xs[0].dt();
  for (T x : xs) if (x.dt() != dt) dt = DT::Wide;
  Attr a;
  a.axis = axis;
  return add_node(Op::Concat, xs, dt, s, a);
}

T move_axis(T x, int from, int to) {
  Shape p;
  for (int k = 0; k < x.rank(); ++k) if (k != from) p.push_back(k);
  p.insert(p.begin() + to, from);
  return transpose(x, p);
}

T unfold(T x, const Shape& kernel, const Shape& stride, const Shape& dilation) {
  const int w = int(kernel.size()), lead = x.rank() - w;
  Shape s(x.shape().begin(), x.shape().begin() + lead);
  for (int k = 0; k < w; ++k) {
    const I room = x.dim(lead + k) - dilation[k] * (kernel[k] - 1) - 1;
    s.push_back(room < 0 ? 0 : room / stride[k] + 1);
  }
  s.insert(s.end(), kernel.begin(), kernel.end());
  Attr a;
  a.a = kernel; a.b = stride; a.c = dilation;
  return add_node(Op::Unfold, {x}, x.dt(), s, a);
}

T fold(T x, const Shape& sizes, const Shape& kernel, const Shape& stride, const Shape& dilation) {
  Attr a;
  a.a = kernel; a.b = stride; a.c = dilation;
  return add_node(Op::Fold, {x}, computed(x.dt()), sizes, a);
}

T swap_last(T x) { return move_axis(x, x.rank() - 1, x.rank() - 2); }

T matmul(T a, T b) {
  Shape p(a.shape().begin(), a.shape().end() - 2), q(b.shape().begin(), b.shape().end() - 2), o = joined(p, q);
  auto whole = [&](T x) {
    Shape s = o;
    s.insert(s.end(), x.shape().end() - 2, x.shape().end());
    return expand(x, s);
  };
  const I m = a.dim(a.rank() - 2), n = b.dim(b.rank() - 1);
  if (a.dim(a.rank() - 1) != b.dim(b.rank() - 2)) throw Rejected("inner extents differ");
  T u = whole(a), v = whole(b);
  o.push_back(m);
  o.push_back(n);
  return add_node(Op::Matmul, {u, v}, computed(a.dt()), o);
}

Shape all_axes(T x) {
  Shape r;
  for (int k = 0; k < x.rank(); ++k) r.push_back(k);
  return r;
}

T reduce(Op op, T x, const Shape& axes, bool keep, T mask) {
  Shape perm, kept, shape;
  for (int k = 0; k < x.rank(); ++k) {
    const bool gone = std::find(axes.begin(), axes.end(), k) != axes.end();
    if (!gone) { perm.push_back(k); kept.push_back(x.dim(k)); }
    if (!gone || keep) shape.push_back(gone ? 1 : x.dim(k));
  }
  Shape order = axes;
  perm.insert(perm.end(), order.begin(), order.end());
  Attr a;
  a.axis = I(axes.size());
  DT dt = op == Op::RArgmax || op == Op::RArgmin ? DT::I64 : op == Op::RAny || op == Op::RAll ? DT::Bool : computed(x.dt());
  std::vector<T> in{transpose(x, perm)};
  if (mask) in.push_back(transpose(mask, perm));
  return reshape(add_node(op, in, dt, kept, a), shape);
}

T sum_all(T x) { return sum(x, all_axes(x), false); }

T sum_to(T x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const int lead = x.rank() - int(shape.size());
  Shape axes;
  for (int k = 0; k < x.rank(); ++k) {
    if (k < lead || (shape[k - lead] == 1 && x.dim(k) != 1)) axes.push_back(k);
  }
  if (bug("unbroadcast_leading_only") && lead > 0) axes.resize(lead);
  T r = sum(x, axes, true);
  if (bug("unbroadcast_leading_only") && count(r.shape()) != count(shape)) {
    Shape zero(r.rank(), 0), one(r.rank(), 1), n(lead, 1);
    n.insert(n.end(), shape.begin(), shape.end());
    r = slice(r, zero, one, n);
  }
  return reshape(r, shape);
}

T unsqueeze(T x, int axis) {
  Shape s = x.shape();
  s.insert(s.begin() + axis, 1);
  return reshape(x, s);
}

T scan(Op op, T x, bool reverse, bool exclusive, T other) {
  Attr a;
  a.flag = reverse;
  a.flag2 = exclusive;
  std::vector<T> in{x};
  if (other) in.push_back(other);
  return add_node(op, in, computed(x.dt()), x.shape(), a);
}

T gather(T x, T t, int axis) {
  Shape s(x.shape().begin(), x.shape().begin() + axis);
  s.insert(s.end(), t.shape().begin(), t.shape().end());
  s.insert(s.end(), x.shape().begin() + axis + 1, x.shape().end());
  Attr a;
  a.axis = axis;
  return add_node(Op::Gather, {x, t}, x.dt(), s, a);
}

T scatter(T x, T t, T s, int axis) {
  Attr a;
  a.axis = axis;
  return add_node(Op::Scatter, {x, t, s}, computed(x.dt()), x.shape(), a);
}
T take_along(T x, T t) { return add_node(Op::TakeAlong, {x, t}, x.dt(), t.shape()); }
T scatter_along(T x, T t, T s) { return add_node(Op::ScatterAlong, {x, t, s}, computed(x.dt()), x.shape()); }

}  // namespace adze
