// The intermediate representation: a graph of primitive instructions over dense logical shapes.
#pragma once
#include <quadmath.h>

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using Real = __float128;  // what instructions compute in; a store rounds to the element type
using Int = std::int64_t;
using Dims = std::vector<Int>;

enum class DT { f32, f64, i32, i64, boolean };
inline bool is_real(DT t) { return t == DT::f32 || t == DT::f64; }
inline bool is_int(DT t) { return t == DT::i32 || t == DT::i64; }

// View: no loop of its own. Ew: element by element. Others: a kernel each.
enum class Op {
  param, constant, iota, ew, broadcast, reshape, transpose, slice, pad, embed, concat, reduce, cum, dot, patch, unpatch,
  gather, scatter, take_along, scat_along, prod_others, cumprod_jvp, cumprod_vjp
};
enum class Fn {
  none, store, convert, detach, neg, abs, sign, floor, ceil, trunc, round, sqrt, sqrt0, exp, exp2, expm1, log, log2,
  log1p, sin, cos, tan, sinh, cosh, tanh, erf, sigmoid, softplus, silu, lnot, isnan, isinf, isfinite,
  add, sub, mul, div, pow, maximum, minimum, rem, fdiv, atan2, eq, ne, lt, le, gt, ge, land, lor, lxor, select, fma
};
enum class Red { sum, prod, max, min, any, all, argmax, argmin };

struct Node {
  int id = 0;
  Op op = Op::param;
  Fn fn = Fn::none;
  Red red = Red::sum;
  DT dt = DT::f32;
  Dims shape;
  std::vector<Node*> in;
  Dims a, b, c, d;  // what they say depends on the instruction: see build.cpp
  Real fill = 0;    // of patch
  std::shared_ptr<std::vector<Real>> data;  // of constant
};
using N = Node*;

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  N make(Op op, DT dt, Dims shape, std::vector<N> in);
};
extern Graph* g;  // the graph of the request that is compiled

struct Unsupported : std::runtime_error {
  std::string what_;
  Unsupported(std::string w, std::string why) : std::runtime_error(why), what_(std::move(w)) {}
};

bool active(const char* name);  // whether ETALON_BLIND names this defect
#define BUG(name) ([] { static const bool on = active(#name); return on; }())

inline Int size_of(const Dims& s) { Int n = 1; for (Int e : s) n *= e; return n; }
Dims row_major(const Dims& shape);
Dims iota_dims(Int n);
Dims without(const Dims& s, const Dims& axes);
bool contains(const Dims& s, Int v);
Real rounded(Real v, DT dt);   // to nearest of the type; integers wrap
Int to_int(Real v);

// A value in the text of a lowering: an instruction with the arithmetic of arrays, broadcasting as NumPy does.
struct V {
  N n = nullptr;
  V() = default;
  V(N x) : n(x) {}
  explicit operator bool() const { return n != nullptr; }
  const Dims& shape() const { return n->shape; }
  Int rank() const { return Int(n->shape.size()); }
  Int dim(Int i) const { return n->shape[i < 0 ? i + rank() : i]; }
  DT dt() const { return n->dt; }
};

V scalar(Real v, DT dt);
V iota(const Dims& shape, Int axis);                      // i64
V ew(Fn fn, DT dt, std::vector<V> in);                    // broadcasts
V un(Fn fn, V x);                                         // same type
V cmp(Fn fn, V a, V b);                                   // bool
V select(V c, V a, V b);
V convert(V x, DT dt);
V store(V x, DT dt);
V detach(V x);
V broadcast(V x, const Dims& shape, const Dims& map);     // map[i]: axis of x at axis i of the result, or -1
V broadcast_to(V x, const Dims& shape);
V reshape(V x, const Dims& shape);
V transpose(V x, const Dims& perm);
V slice(V x, const Dims& start, const Dims& step, const Dims& count);
V slice_axis(V x, Int axis, Int start, Int count);
V pad(V x, const Dims& low, const Dims& high, V value);
V embed(V x, const Dims& start, const Dims& step, const Dims& shape);
V concat(const std::vector<V>& xs, Int axis);
V reduce(Red r, V x, const Dims& axes, bool keep = false);
V sum(V x, const Dims& axes, bool keep = false);
V cum(bool product, V x, Int axis, bool reverse, bool exclusive);
V dot(V l, V r, const Dims& lb, const Dims& rb, const Dims& lc, const Dims& rc);
V patch(V x, const Dims& kernel, const Dims& stride, const Dims& dilation, const Dims& padding, const Dims& out, Real fill);
V unpatch(V x, const Dims& kernel, const Dims& stride, const Dims& dilation, const Dims& padding, const Dims& spatial);
V gather(V x, V t, Int axis);
V scatter(V x, V t, V s, Int axis);
V take_along(V x, V t, Int axis);
V scat_along(V x, V t, V s, Int axis);
V raw(Op op, V x, std::vector<V> more, const Dims& a);     // prod_others, cumprod_jvp, cumprod_vjp: the shape of x
V move_axis_last(V x, Int axis);
V last_axis_to(V x, Int axis);
Dims joined(const Dims& p, const Dims& q);

inline V lit(Real v, V like) { return scalar(v, like.dt()); }
V operator+(V a, V b);
V operator-(V a, V b);
V operator*(V a, V b);
V operator/(V a, V b);
V operator-(V a);
inline V operator+(V a, Real b) { return a + lit(b, a); }
inline V operator-(V a, Real b) { return a - lit(b, a); }
inline V operator*(V a, Real b) { return a * lit(b, a); }
inline V operator/(V a, Real b) { return a / lit(b, a); }
inline V operator+(Real a, V b) { return lit(a, b) + b; }
inline V operator-(Real a, V b) { return lit(a, b) - b; }
inline V operator*(Real a, V b) { return lit(a, b) * b; }
inline V operator/(Real a, V b) { return lit(a, b) / b; }
inline V zeros_like(V x) { return broadcast_to(scalar(0, x.dt()), x.shape()); }

// Attributes of a call.
struct Attr {
  std::vector<Real> num;
  std::string sym;
  bool list = false;
};
struct Attrs {
  std::map<std::string, Attr> m;
  bool has(const std::string& k) const { return m.count(k) != 0; }
  Real num(const std::string& k, Real otherwise = 0) const;
  Int integer(const std::string& k, Int otherwise = 0) const { return has(k) ? to_int(num(k)) : otherwise; }
  bool flag(const std::string& k, bool otherwise = false) const { return has(k) ? num(k) != 0 : otherwise; }
  std::string sym(const std::string& k, const std::string& otherwise) const;
  Dims ints(const std::string& k, Int rank, Int otherwise) const;  // one number stands for all
  Dims axes(const std::string& k, Int rank) const;                 // missing or "all": all of them
  Int axis(const std::string& k, Int rank, Int otherwise) const;
  DT dtype(const std::string& k, DT otherwise) const;
};
struct Call {
  std::string name;
  std::vector<V> x;  // null where absent
  Attrs a;
  std::vector<std::size_t> packs;
  V opt(std::size_t i) const { return i < x.size() ? x[i] : V(); }
};
using Lowering = std::vector<V> (*)(const Call&);
std::map<std::string, Lowering>& table();
struct Register {
  Register(std::initializer_list<std::pair<const char*, Lowering>> l) { for (auto& p : l) table()[p.first] = p.second; }
};

// Derivatives, by transformation of the graph.
std::vector<V> append_jvp(const std::vector<V>& outputs, const std::vector<V>& params, const std::vector<V>& tangents);
std::vector<V> append_vjp(const std::vector<V>& outputs, const std::vector<V>& cotangents, const std::vector<V>& params);

// Passes: each takes the roots and gives their replacements.
std::vector<N> optimise(std::vector<N> roots);
std::vector<N> topological(const std::vector<N>& roots);
N rewrite_arithmetic(N n);
N rewrite_movement(N n);
N rewrite_products(N n);
N fold_constants(N n);
bool stored_exactly(N n);      // whether each element is a number of the instruction's type
bool splat_value(N n, Real& v);
void eliminate_common(std::vector<N>& roots);

// Execution.
struct Operand { const std::vector<Real>* data; Dims stride; Int offset; };   // of a parameter
std::vector<std::vector<Real>> execute(const std::vector<N>& roots, const std::map<N, Operand>& params);
Real scalar_fn(const Node* n, const Real* x);
