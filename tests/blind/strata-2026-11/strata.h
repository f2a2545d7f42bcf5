// strata: strided kernels behind a dispatcher. What all parts share: tensors over pooled storage, wide and paired
// scalars, the scalar tape, calls and their attributes, the tables of operations, and the defect in force.
#pragma once
#include <quadmath.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

bool defect(const char* name);  // defect.cpp: whether ETALON_BLIND names it

typedef __float128 W;  // kernels widen on load and round once on store
typedef std::vector<int64_t> Shape;
enum DT { NONE = -1, F32, F64, I32, I64, BOOL };
inline bool is_real(DT t) { return t == F32 || t == F64; }
inline size_t width(DT t) { return t == F32 || t == I32 ? 4 : t == BOOL ? 1 : 8; }
const char* name_of(DT t);
DT dtype_named(const std::string& s);
inline int64_t size_of(const Shape& s) { int64_t n = 1; for (int64_t e : s) n *= e; return n; }

struct Refusal { std::string what, why; };
[[noreturn]] inline void refuse(const std::string& what, const std::string& why) { throw Refusal{what, why}; }

// ---- tensor.cpp -------------------------------------------------------------------------------------------------
struct Storage { void* data; size_t bytes; uint64_t version = 0; Storage(size_t n); ~Storage(); };
struct Tensor {
  DT dt = NONE;
  Shape shape, strides;
  int64_t offset = 0;
  std::shared_ptr<Storage> st;
  int64_t n() const { return size_of(shape); }
  int rank() const { return (int)shape.size(); }
  template <class E> E* at0() const { return (E*)st->data + offset; }
};
struct Value { Tensor v, t; bool has_t() const { return t.dt != NONE; } bool absent() const { return v.dt == NONE; } };
Tensor empty_tensor(DT dt, const Shape& shape);  // dense, from the pool, contents undefined
Tensor zero_tensor(DT dt, const Shape& shape);
bool is_dense(const Tensor& t);
Shape dense_strides(const Shape& s);
Tensor dense(const Tensor& t);
void each_position(const Tensor& t, const std::function<void(int64_t k, int64_t p)>& f);

// ---- scalars ----------------------------------------------------------------------------------------------------
// A pair of value and tangent; `m` tells whether a path leads here at all, so that an absent one stays an exact zero.
struct D { W v, d; bool m; D() : v(0), d(0), m(false) {} D(W x) : v(x), d(0), m(false) {} D(double x) : v(x), d(0), m(false) {} D(int x) : v(x), d(0), m(false) {} D(W x, W y, bool z) : v(x), d(y), m(z) {} };
inline W val(W x) { return x; }
inline W val(const D& x) { return x.v; }
inline W tan_of(W) { return 0; }
inline W tan_of(const D& x) { return x.d; }
inline bool moves(W) { return false; }
inline bool moves(const D& x) { return x.m; }
template <class S> S fixed(const S& x);  // detached
template <> inline W fixed<W>(const W& x) { return x; }
template <> inline D fixed<D>(const D& x) { return D(x.v); }

inline D chain(const D& x, W y, W slope) { return x.m ? D(y, slope * x.d, true) : D(y); }
inline D operator-(const D& a) { return D(-a.v, a.m ? -a.d : (W)0, a.m); }
inline D operator+(const D& a, const D& b) { return D(a.v + b.v, a.m || b.m ? a.d + b.d : (W)0, a.m || b.m); }
inline D operator-(const D& a, const D& b) { return D(a.v - b.v, a.m || b.m ? a.d - b.d : (W)0, a.m || b.m); }
inline D operator*(const D& a, const D& b) {
  W d = 0;
  if (a.m) d = a.d * b.v;
  if (b.m) d = a.m ? d + a.v * b.d : a.v * b.d;
  return D(a.v * b.v, d, a.m || b.m);
}
inline D operator/(const D& a, const D& b) {
  const W y = a.v / b.v;
  W d = 0;
  if (a.m) d = a.d / b.v;
  if (b.m) { const W s = -(y / b.v) * b.d; d = a.m ? d + s : s; }
  return D(y, d, a.m || b.m);
}
inline D& operator+=(D& a, const D& b) { return a = a + b; }
inline D& operator-=(D& a, const D& b) { return a = a - b; }
inline D& operator*=(D& a, const D& b) { return a = a * b; }
inline D& operator/=(D& a, const D& b) { return a = a / b; }

const W PI_W = M_PIq;
inline W Exp(W x) { return expq(x); }
inline W Log(W x) { return logq(x); }
inline W Log1p(W x) { return log1pq(x); }
inline W Expm1(W x) { return expm1q(x); }
inline W Sqrt(W x) { return sqrtq(x); }
inline W Sin(W x) { return sinq(x); }
inline W Cos(W x) { return cosq(x); }
inline W Tanh(W x) { return tanhq(x); }
inline W Erf(W x) { return erfq(x); }
inline W Pow(W x, W p) { return p == 0 || x == 1 ? (W)1 : powq(x, p); }
inline W sech2(W x) { const W c = coshq(x); return isinfq(c) ? (W)0 : 1 / (c * c); }
inline D Exp(const D& x) { const W y = expq(x.v); return chain(x, y, y); }
inline D Log(const D& x) { return chain(x, logq(x.v), 1 / x.v); }
inline D Log1p(const D& x) { return chain(x, log1pq(x.v), 1 / (1 + x.v)); }
inline D Expm1(const D& x) { return chain(x, expm1q(x.v), expq(x.v)); }
inline D Sqrt(const D& x) { const W y = sqrtq(x.v); return chain(x, y, 1 / (2 * y)); }
inline D Sin(const D& x) { return chain(x, sinq(x.v), cosq(x.v)); }
inline D Cos(const D& x) { return chain(x, cosq(x.v), -sinq(x.v)); }
inline D Tanh(const D& x) { return chain(x, tanhq(x.v), sech2(x.v)); }
inline D Erf(const D& x) { return chain(x, erfq(x.v), 2 / sqrtq(PI_W) * expq(-x.v * x.v)); }
inline D Pow(const D& x, W p) { return chain(x, Pow(x.v, p), p == 0 ? (W)0 : p * Pow(x.v, p - 1)); }
template <class S> S Abs(const S& x) { return val(x) > 0 ? x : val(x) < 0 ? -x : val(x) == 0 ? S((W)0) : x * S(nanq("")); }
inline W sign_of(W x) { return x != x ? x : x > 0 ? 1 : x < 0 ? -1 : (W)0; }

// The scalar tape, for operations that are written forward only: var holds a value of B and its place on the tape.
template <class B> struct Node { int a, b; B da, db; };
template <class B> struct Tape { std::vector<Node<B>> nodes; };
template <class B> Tape<B>& tape() { static Tape<B> t; return t; }
template <class B> struct V {
  B v; int id;
  V() : v((W)0), id(-1) {}
  V(W x) : v(x), id(-1) {}
  V(double x) : v((W)x), id(-1) {}
  V(int x) : v((W)x), id(-1) {}
  V(const B& x, int i) : v(x), id(i) {}
};
template <class B> int note(int a, const B& da, int b, const B& db) { tape<B>().nodes.push_back({a, b, da, db}); return (int)tape<B>().nodes.size() - 1; }
template <class B> V<B> leaf(const B& x) { return V<B>(x, note<B>(-1, B((W)0), -1, B((W)0))); }
template <class B> W val(const V<B>& x) { return val(x.v); }
template <class B> V<B> one(const V<B>& x, const B& y, const B& slope) { return x.id < 0 ? V<B>(y, -1) : V<B>(y, note<B>(x.id, slope, -1, B((W)0))); }
template <class B> V<B> two(const V<B>& x, const V<B>& z, const B& y, const B& dx, const B& dz) {
  if (x.id < 0 && z.id < 0) return V<B>(y, -1);
  return V<B>(y, note<B>(x.id, dx, z.id, dz));
}
template <class B> V<B> operator-(const V<B>& a) { return one(a, -a.v, B((W)-1)); }
template <class B> V<B> operator+(const V<B>& a, const V<B>& b) { return two(a, b, a.v + b.v, B((W)1), B((W)1)); }
template <class B> V<B> operator-(const V<B>& a, const V<B>& b) { return two(a, b, a.v - b.v, B((W)1), B((W)-1)); }
template <class B> V<B> operator*(const V<B>& a, const V<B>& b) { return two(a, b, a.v * b.v, b.v, a.v); }
template <class B> V<B> operator/(const V<B>& a, const V<B>& b) { const B y = a.v / b.v; return two(a, b, y, B((W)1) / b.v, -(y / b.v)); }
template <class B> V<B>& operator+=(V<B>& a, const V<B>& b) { return a = a + b; }
template <class B> V<B> Exp(const V<B>& x) { const B y = Exp(x.v); return one(x, y, y); }
template <class B> V<B> Log(const V<B>& x) { return one(x, Log(x.v), B((W)1) / x.v); }
template <class B> V<B> Log1p(const V<B>& x) { return one(x, Log1p(x.v), B((W)1) / (B((W)1) + x.v)); }
template <class B> V<B> Sqrt(const V<B>& x) { const B y = Sqrt(x.v); return one(x, y, B((W)0.5) / y); }
template <class B> V<B> Sin(const V<B>& x) { return one(x, Sin(x.v), Cos(x.v)); }
template <class B> V<B> Cos(const V<B>& x) { return one(x, Cos(x.v), -Sin(x.v)); }
template <class B> V<B> Tanh(const V<B>& x) { const B y = Tanh(x.v); return one(x, y, B((W)1) - y * y); }
template <class B> V<B> fixed_v(const V<B>& x) { V<B> y = x; y.id = -1; return y; }
template <> inline V<W> fixed<V<W>>(const V<W>& x) { return V<W>(x.v, -1); }
template <> inline V<D> fixed<V<D>>(const V<D>& x) { return V<D>(D(x.v.v), -1); }
template <class S> S Maximum(const S& a, const S& b) {  // at a tie the mean of both, which halves the derivative
  if (val(a) != val(a)) return a;
  if (val(b) != val(b)) return b;
  return val(a) > val(b) ? a : val(a) < val(b) ? b : (a + b) * S(0.5);
}

// Integers wrap.
struct I { int64_t v; I(int64_t x = 0) : v(x) {} };
inline I operator+(I a, I b) { return I((int64_t)((uint64_t)a.v + (uint64_t)b.v)); }
inline I operator-(I a, I b) { return I((int64_t)((uint64_t)a.v - (uint64_t)b.v)); }
inline I operator*(I a, I b) { return I((int64_t)((uint64_t)a.v * (uint64_t)b.v)); }
inline I operator-(I a) { return I((int64_t)(0 - (uint64_t)a.v)); }
inline I& operator+=(I& a, I b) { return a = a + b; }

inline W narrow(W x, DT t) { return t == F32 ? (W)(float)x : (W)(double)x; }
inline D narrow(const D& x, DT t) { return D(narrow(x.v, t), x.d, x.m); }

// ---- arrays of kernels ------------------------------------------------------------------------------------------
template <class S> struct Arr {
  DT dt = NONE;
  Shape shape;
  std::vector<S> a;        // of reals
  std::vector<int64_t> i;  // of integers and truth values
  bool real() const { return is_real(dt); }
  bool absent() const { return dt == NONE; }
  int64_t n() const { return size_of(shape); }
  int rank() const { return (int)shape.size(); }
};
template <class S> Arr<S> load(const Value& x);
template <class S> Value store(const Arr<S>& x);
template <class S> Arr<S> make(DT dt, const Shape& shape) {
  Arr<S> r;
  r.dt = dt;
  r.shape = shape;
  if (is_real(dt)) r.a.assign((size_t)size_of(shape), S((W)0));
  else r.i.assign((size_t)size_of(shape), 0);
  return r;
}

// ---- calls ------------------------------------------------------------------------------------------------------
struct Attribute { enum { INT, REAL, BOOLEAN, SYMBOL, LIST } kind; double real = 0; int64_t integer = 0; std::string symbol; std::vector<double> reals; std::vector<int64_t> integers; };
struct Call {
  std::string op;
  std::vector<int> operands, results;  // values; -1 where absent
  std::map<std::string, Attribute> attributes;
  int64_t integer(const char* k, int64_t otherwise = 0) const;
  W real(const char* k, double otherwise = 0) const;
  bool flag(const char* k, bool otherwise = false) const { return integer(k, otherwise) != 0; }
  std::string symbol(const char* k, const char* otherwise = "") const;
  bool has(const char* k) const { return attributes.count(k) != 0; }
  Shape list(const char* k, int count = -1, int64_t otherwise = 0) const;  // one number stands for all
  Shape axes(int rank) const;
  int64_t axis(int rank, const char* k = "axis", int64_t otherwise = -1) const { const int64_t a = integer(k, otherwise); return a < 0 ? a + rank : a; }
  DT dtype(DT otherwise) const { return has("dtype") ? dtype_named(symbol("dtype")) : otherwise; }
  bool is(const char* name) const { return op == name; }
};
template <class S> struct Ctx {
  const Call* call;
  std::vector<Arr<S>> in, out;
  std::vector<Arr<S>> g;    // per result: its cotangent, or absent
  std::vector<Arr<S>> gin;  // per operand: to be added to, where wanted
  std::vector<char> want;
  std::vector<Tensor> raw;  // the operands' own storage, for kernels that read strides
  const Arr<S>& x(int k) const { return in[k]; }
  bool has(int k) const { return k < (int)in.size() && !in[k].absent(); }
  bool wants(int k) const { return k < (int)want.size() && want[k]; }
  Arr<S>& result(DT dt, const Shape& s) { out.push_back(make<S>(dt, s)); return out.back(); }
};
template <class S> using Kernel = void (*)(Ctx<S>&);
enum { NEEDS_NOTHING = 0, NEEDS_INPUTS = 1, VIEW = 2, NO_VJP = 4 };
struct Op {
  const char* name;
  Kernel<W> fw; Kernel<D> fd;   // values, values with tangents
  Kernel<W> bw; Kernel<D> bd;   // cotangents; NULL where there are none
  Kernel<V<W>> tw; Kernel<V<D>> td;  // or forward on the tape
  int flags;
};
const Op* find_op(const std::string& name);
typedef std::vector<Op> Table;
#define KERNELS(f, b) f<W>, f<D>, b<W>, b<D>, nullptr, nullptr
#define FLAT(f) f<W>, f<D>, nullptr, nullptr, nullptr, nullptr
#define TAPED(f) f<W>, f<D>, nullptr, nullptr, f<V<W>>, f<V<D>>
Table elementwise_ops(), movement_ops(), reduce_ops(), linear_ops(), window_ops(), norm_ops(), loss_ops(), step_ops(), composite_ops(), random_ops();

// elementwise.cpp: native strided loops, in place where `reuse` names an operand whose memory may be taken.
bool native_elementwise(const Call& c, const std::vector<Value>& in, int reuse, Value* out);
Shape joined(const Shape& a, const Shape& b);
std::vector<int64_t> positions(const Shape& own, const Shape& shape);  // of a broadcast operand
// movement.cpp: views, and plans of positions
bool view_of(const Call& c, const Value& x, std::vector<Value>* out);

template <class S> bool native_move(const Call& c, const std::vector<Arr<S>>& in, const std::vector<Tensor>& raw, Value* out);

// rows of a reduction: kept axes in order, then the reduced ones in theirs
struct Rows { int64_t count = 1, length = 1; std::vector<int64_t> at; };
Rows rows_of(const Shape& shape, const Shape& axes);
Shape reduced_shape(const Shape& shape, const Shape& axes, bool keepdims);
