// The graph builder: handles of values and the functions that add nodes. One graph is current at a time.
#pragma once
#include "core.h"

namespace adze {

extern Graph* current;

struct T {
  int id = -1;
  explicit operator bool() const { return id >= 0; }
  const Shape& shape() const { return current->vals[id].shape; }
  DT dt() const { return current->vals[id].dt; }
  int rank() const { return int(shape().size()); }
  I dim(int k) const { return shape()[k]; }
};

T K(Real v, Shape shape = {}, DT dt = DT::Wide);  // a constant
T iota(Shape shape, int axis);                     // i64: the position along an axis
T like(Real v, T x);                               // a constant scalar of x's kind

T un(Op op, T x);
T bin(Op op, T a, T b);  // with broadcasting
T operator+(T a, T b); T operator-(T a, T b); T operator*(T a, T b); T operator/(T a, T b);
T operator-(T a);
T select(T c, T a, T b);
T store(T x, DT dt);
inline T real(T x) { return store(x, DT::Wide); }
T detach(T x);
T sqrt(T x); T exp(T x); T log(T x); T log1p(T x); T abs(T x); T tanh(T x);
T sigmoid(T x);

Shape joined(const Shape& a, const Shape& b);
T expand(T x, const Shape& shape);
T transpose(T x, const Shape& perm);
T reshape(T x, Shape shape);
T slice(T x, const Shape& start, const Shape& step, const Shape& n);
T place(T x, const Shape& shape, const Shape& start, const Shape& step, Real fill = 0);
T concat(const std::vector<T>& xs, int axis);
T move_axis(T x, int from, int to);
T part(T x, int axis, I from, I to);  // a range along one axis
T unfold(T x, const Shape& kernel, const Shape& stride, const Shape& dilation);  // the last axes: [.., o.., w..]
T fold(T x, const Shape& sizes, const Shape& kernel, const Shape& stride, const Shape& dilation);
T swap_last(T x);
T matmul(T a, T b);  // [.., m, k] x [.., k, n]

// Reduce over axes in the order in which they stand; `mask` (of x's shape) excludes.
T reduce(Op op, T x, const Shape& axes, bool keep, T mask = {});
inline T sum(T x, const Shape& axes, bool keep) { return reduce(Op::RSum, x, axes, keep); }
Shape all_axes(T x);
T sum_all(T x);
T sum_to(T x, const Shape& shape);  // undo broadcasting
T unsqueeze(T x, int axis);
T scan(Op op, T x, bool reverse, bool exclusive, T other = {});  // along the last axis

T gather(T x, T t, int axis);
T scatter(T x, T t, T s, int axis);
T take_along(T x, T t);  // the last axis
T scatter_along(T x, T t, T s);

// grad.cpp
std::vector<T> push_forward(const std::vector<T>& outputs, const std::vector<T>& wrt, const std::vector<T>& tangents);
std::vector<T> pull_back(const std::vector<T>& outputs, const std::vector<T>& seeds, const std::vector<T>& wrt);

}  // namespace adze
