// Pooled storage, strides, packing of operands (contiguous, rows, anything), rounding of results.
#include <cstdlib>

#include "strata.h"

const char* name_of(DT t) { static const char* n[] = {"f32", "f64", "i32", "i64", "bool"}; return n[t]; }
DT dtype_named(const std::string& s) {
  for (int t = F32; t <= BOOL; ++t)
    if (s == name_of((DT)t)) return (DT)t;
  refuse("dtype", s + " is not offered");
}

// Blocks of powers of two that are given back and taken again, with what they held.
static std::vector<void*>& bin(size_t bytes) {
  static std::vector<void*> bins[48];
  int b = 0;
  while (((size_t)64 << b) < bytes) ++b;
  return bins[b];
}
static size_t rounded(size_t bytes) { size_t b = 64; while (b < bytes) b <<= 1; return b; }
Storage::Storage(size_t n) : bytes(n) {
  auto& free_blocks = bin(n);
  if (!free_blocks.empty()) { data = free_blocks.back(); free_blocks.pop_back(); return; }
  data = std::calloc(rounded(n), 1);
  if (!data) std::abort();
}
Storage::~Storage() {
  auto& free_blocks = bin(bytes);
  if (rounded(bytes) <= (1u << 20)) free_blocks.push_back(data);
  else std::free(data);
}

Shape dense_strides(const Shape& s) {
  Shape r(s.size());
  int64_t k = 1;
  for (size_t a = s.size(); a-- > 0; k *= s[a]) r[a] = k;
  return r;
}
Tensor empty_tensor(DT dt, const Shape& shape) {
  Tensor t;
  t.dt = dt;
  t.shape = shape;
  t.strides = dense_strides(shape);
  t.st = std::make_shared<Storage>(width(dt) * (size_t)size_of(shape));
  return t;
}
Tensor zero_tensor(DT dt, const Shape& shape) {
  Tensor t = empty_tensor(dt, shape);
  std::memset(t.st->data, 0, width(dt) * (size_t)t.n());
  return t;
}
bool is_dense(const Tensor& t) {
  int64_t k = 1;
  for (size_t a = t.shape.size(); a-- > 0; k *= t.shape[a])
    if (t.shape[a] != 1 && t.strides[a] != k) return false;
  return true;
}
void each_position(const Tensor& t, const std::function<void(int64_t, int64_t)>& f) {
  const int64_t n = t.n();
  const int rank = t.rank();
  Shape index(rank, 0);
  int64_t p = t.offset;
  for (int64_t k = 0; k < n; ++k) {
    f(k, p);
    for (int a = rank; a-- > 0;) {
      p += t.strides[a];
      if (++index[a] < t.shape[a]) break;
      p -= index[a] * t.strides[a];
      index[a] = 0;
    }
  }
}
Tensor dense(const Tensor& t) {
  if (is_dense(t) && t.offset == 0 && t.st->bytes == width(t.dt) * (size_t)t.n()) return t;
  Tensor r = empty_tensor(t.dt, t.shape);
  const size_t w = width(t.dt);
  char* to = (char*)r.st->data;
  const char* from = (const char*)t.st->data;
  if (is_dense(t)) std::memcpy(to, from + (defect("dense-copy-forgets-offset") ? 0 : w * (size_t)t.offset), w * (size_t)t.n());
  else each_position(t, [&](int64_t k, int64_t p) { std::memcpy(to + w * k, from + w * p, w); });
  return r;
}

static W real_at(const Tensor& t, int64_t p) { return t.dt == F32 ? (W)((const float*)t.st->data)[p] : (W)((const double*)t.st->data)[p]; }
static int64_t integer_at(const Tensor& t, int64_t p) {
  return t.dt == I32 ? ((const int32_t*)t.st->data)[p] : t.dt == I64 ? ((const int64_t*)t.st->data)[p] : ((const uint8_t*)t.st->data)[p] != 0;
}
// Neighbouring axes that one stride runs through are one axis.
static void collapse(const Tensor& t, Shape* shape, Shape* strides) {
  for (int a = 0; a < t.rank(); ++a) {
    if (t.shape[a] == 1) continue;
    if (!shape->empty() && strides->back() == t.strides[a] * t.shape[a]) { shape->back() *= t.shape[a]; strides->back() = t.strides[a]; }
    else { shape->push_back(t.shape[a]); strides->push_back(t.strides[a]); }
  }
}
template <class F> static void pack(const Tensor& t, F put) {
  const int64_t n = t.n();
  if (n == 0) return;
  if (is_dense(t)) {
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
      for (int l = 0; l < 8; ++l) put(k + l, t.offset + k + l);
    for (; k < n; ++k) put(k, t.offset + k);
    return;
  }
  Tensor c = t;
  c.shape.clear();
  c.strides.clear();
  collapse(t, &c.shape, &c.strides);
  const int rank = c.rank();
  const int64_t row = rank ? c.shape[rank - 1] : 1, step = rank ? c.strides[rank - 1] : 0;
  Tensor outer = c;
  if (rank) { outer.shape.pop_back(); outer.strides.pop_back(); }
  each_position(outer, [&](int64_t r, int64_t p) {
    int64_t k = 0;
    for (; k + 4 <= row; k += 4)
      for (int l = 0; l < 4; ++l) put(r * row + k + l, p + (k + l) * step);
    for (; k < row; ++k) put(r * row + k, p + (defect("strided-tail-steps-by-one") && row > 4 && step > 0 ? k * step - (k % 4) * (step - 1) : k * step));
  });
}

template <class S> static void put_real(S& to, W x) { to = S(x); }
template <class S> Arr<S> load(const Value& x) {
  Arr<S> r;
  if (x.absent()) return r;
  r = make<S>(x.v.dt, x.v.shape);
  if (r.real()) pack(x.v, [&](int64_t k, int64_t p) { put_real(r.a[k], real_at(x.v, p)); });
  else pack(x.v, [&](int64_t k, int64_t p) { r.i[k] = integer_at(x.v, p); });
  return r;
}
template <> Arr<D> load<D>(const Value& x) {
  Arr<D> r;
  if (x.absent()) return r;
  r = make<D>(x.v.dt, x.v.shape);
  if (r.real()) {
    pack(x.v, [&](int64_t k, int64_t p) { r.a[k] = D(real_at(x.v, p)); });
    Tensor t = x.t;
    if (x.has_t() && defect("tangent-read-by-primal-strides") && x.v.st->bytes == x.t.st->bytes) { t.strides = x.v.strides; t.offset = x.v.offset; }
    if (x.has_t()) pack(t, [&](int64_t k, int64_t p) { r.a[k].d = real_at(t, p); r.a[k].m = true; });
  } else pack(x.v, [&](int64_t k, int64_t p) { r.i[k] = integer_at(x.v, p); });
  return r;
}
template Arr<W> load<W>(const Value&);

static void put_at(const Tensor& t, int64_t k, W x) { if (t.dt == F32) ((float*)t.st->data)[k] = (float)x; else ((double*)t.st->data)[k] = (double)x; }
template <class S> Value store(const Arr<S>& x) {
  Value r;
  r.v = empty_tensor(x.dt, x.shape);
  const int64_t n = x.n();
  bool any = false;
  for (int64_t k = 0; k < n; ++k) switch (x.dt) {
      case F32: case F64: put_at(r.v, k, val(x.a[k])); any = any || moves(x.a[k]); break;
      case I32: ((int32_t*)r.v.st->data)[k] = (int32_t)(uint32_t)(uint64_t)x.i[k]; break;
      case I64: ((int64_t*)r.v.st->data)[k] = x.i[k]; break;
      default: ((uint8_t*)r.v.st->data)[k] = x.i[k] != 0;
    }
  if (any) {
    r.t = empty_tensor(x.dt, x.shape);
    for (int64_t k = 0; k < n; ++k) put_at(r.t, k, tan_of(x.a[k]));
  }
  return r;
}
template Value store<W>(const Arr<W>&);
template Value store<D>(const Arr<D>&);

Shape joined(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.size(), b.size());
  Shape s(rank);
  for (size_t k = 0; k < rank; ++k) {
    const int64_t p = k < a.size() ? a[a.size() - 1 - k] : 1, q = k < b.size() ? b[b.size() - 1 - k] : 1;
    s[rank - 1 - k] = p == 1 ? q : p;
  }
  return s;
}
std::vector<int64_t> positions(const Shape& own, const Shape& shape) {
  Tensor t;
  t.shape = shape;
  t.strides.assign(shape.size(), 0);
  const Shape d = dense_strides(own);
  for (size_t k = 0; k < own.size(); ++k)
    if (own[k] != 1) t.strides[shape.size() - own.size() + k] = d[k];
  std::vector<int64_t> r((size_t)size_of(shape));
  each_position(t, [&](int64_t k, int64_t p) { r[k] = p; });
  return r;
}
Rows rows_of(const Shape& shape, const Shape& axes) {
  Rows r;
  std::vector<char> gone(shape.size(), 0);
  Tensor t;
  const Shape d = dense_strides(shape);
  for (int64_t a : axes) gone[a] = 1;
  for (size_t a = 0; a < shape.size(); ++a)
    if (!gone[a]) { t.shape.push_back(shape[a]); t.strides.push_back(d[a]); r.count *= shape[a]; }
  for (int64_t a : axes) { t.shape.push_back(shape[a]); t.strides.push_back(d[a]); r.length *= shape[a]; }
  r.at.resize((size_t)(r.count * r.length));
  each_position(t, [&](int64_t k, int64_t p) { r.at[k] = p; });
  return r;
}
Shape reduced_shape(const Shape& shape, const Shape& axes, bool keepdims) {
  Shape s;
  for (size_t a = 0; a < shape.size(); ++a) {
    bool gone = false;
    for (int64_t k : axes) gone = gone || k == (int64_t)a;
    if (!gone) s.push_back(shape[a]);
    else if (keepdims) s.push_back(1);
  }
  return s;
}

static const Attribute* found(const Call& c, const char* k) { auto f = c.attributes.find(k); return f == c.attributes.end() ? nullptr : &f->second; }
int64_t Call::integer(const char* k, int64_t o) const { const Attribute* a = found(*this, k); return !a ? o : a->kind == Attribute::REAL ? (int64_t)a->real : a->kind == Attribute::LIST && !a->integers.empty() ? a->integers[0] : a->integer; }
W Call::real(const char* k, double o) const { const Attribute* a = found(*this, k); return !a ? (W)o : a->kind == Attribute::REAL ? (W)a->real : (W)a->integer; }
std::string Call::symbol(const char* k, const char* o) const { const Attribute* a = found(*this, k); return a && a->kind == Attribute::SYMBOL ? a->symbol : o; }
Shape Call::list(const char* k, int count, int64_t o) const {
  const Attribute* a = found(*this, k);
  if (!a) return Shape(count < 0 ? 0 : count, o);
  if (a->kind == Attribute::LIST) return a->integers;
  return Shape(count < 0 ? 1 : count, a->kind == Attribute::REAL ? (int64_t)a->real : a->integer);
}
Shape Call::axes(int rank) const {
  const Attribute* a = found(*this, "axes");
  Shape s;
  if (!a || a->kind == Attribute::SYMBOL) { for (int k = 0; k < rank; ++k) s.push_back(k); return s; }
  s = list("axes");
  for (auto& k : s) if (k < 0) k += rank;
  return s;
}
