// Products of matrices: naive when small, in blocks of the inner axis when large; weights of linear are packed into
// panels of eight rows, which are kept as long as the storage they came from.
#include <algorithm>

#include "strata.h"

enum { KBLOCK = 64, PANEL = 8, SMALL = 2048 };
struct Sides { int64_t m, n, k, am, ak, bk, bn; };
// out[m, n] += a[m, k] b[k, n], each with its own strides.
template <class S> static void gemm(S* out, const S* a, const S* b, const Sides& s) {
  if (s.m * s.n * s.k <= SMALL) {
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j)
        for (int64_t l = 0; l < s.k; ++l) out[i * s.n + j] += a[i * s.am + l * s.ak] * b[l * s.bk + j * s.bn];
    return;
  }
  std::vector<S> column((size_t)KBLOCK, S(0));
  for (int64_t l = 0; l < s.k; l += KBLOCK) {
    const int64_t depth = std::min<int64_t>(KBLOCK, s.k - l);
    if (defect("transposed-product-whole-blocks-only") && s.ak != 1 && l > 0 && depth < KBLOCK) break;
    for (int64_t j = 0; j < s.n; ++j) {
      for (int64_t w = 0; w < depth; ++w) column[w] = b[(l + w) * s.bk + j * s.bn];
      for (int64_t i = 0; i < s.m; ++i) {
        S sum(0);
        const S* row = a + i * s.am + l * s.ak;
        for (int64_t w = 0; w < depth; ++w) sum += row[w * s.ak] * column[w];
        out[i * s.n + j] += sum;
      }
    }
  }
}

struct Batches { Shape shape; std::vector<int64_t> a, b; int64_t m, n, k, count; bool av, bv; Shape result; };
static Batches batches(const Shape& a, const Shape& b) {
  Batches t;
  t.av = a.size() == 1;
  t.bv = b.size() == 1;
  t.k = a.back();
  t.m = t.av ? 1 : a[a.size() - 2];
  t.n = t.bv ? 1 : b.back();
  const Shape ab(a.begin(), a.end() - (t.av ? 1 : 2)), bb(b.begin(), b.end() - (t.bv ? 1 : 2));
  t.shape = joined(ab, bb);
  t.a = positions(ab, t.shape);
  t.b = positions(bb, t.shape);
  t.count = size_of(t.shape);
  t.result = t.shape;
  if (!t.av) t.result.push_back(t.m);
  if (!t.bv) t.result.push_back(t.n);
  return t;
}
template <class S> static void run_matmul(Ctx<S>& c) {
  const Batches t = batches(c.in[0].shape, c.in[1].shape);
  Arr<S>& y = c.result(c.in[0].dt, t.result);
  const Sides s = {t.m, t.n, t.k, t.k, 1, t.n, 1};
  std::vector<I> ai, bi, yi;
  if (!y.real()) { ai.assign(c.in[0].i.begin(), c.in[0].i.end()); bi.assign(c.in[1].i.begin(), c.in[1].i.end()); yi.resize(y.i.size()); }
  for (int64_t e = 0; e < t.count; ++e) {
    const int64_t p = (defect("matmul-left-batch-by-count") && t.count > 0 ? e % std::max<int64_t>(1, (int64_t)(c.in[0].n() / std::max<int64_t>(1, t.m * t.k))) : t.a[e]) * t.m * t.k, q = t.b[e] * t.k * t.n, r = e * t.m * t.n;
    if (y.real()) gemm(y.a.data() + r, c.in[0].a.data() + p, c.in[1].a.data() + q, s);
    else gemm(yi.data() + r, ai.data() + p, bi.data() + q, s);
  }
  for (size_t e = 0; e < yi.size(); ++e) y.i[e] = yi[e].v;
}
template <class S> static void matmul_back(Ctx<S>& c) {
  const Batches t = batches(c.in[0].shape, c.in[1].shape);
  for (int64_t e = 0; e < t.count; ++e) {
    const int64_t p = t.a[e] * t.m * t.k, q = t.b[e] * t.k * t.n, r = e * t.m * t.n;
    const S* g = c.g[0].a.data() + r;
    if (c.wants(0)) gemm(c.gin[0].a.data() + p, g, c.in[1].a.data() + q, {t.m, t.k, t.n, t.n, 1, 1, t.n});
    if (c.wants(1)) gemm(c.gin[1].a.data() + q, c.in[0].a.data() + p, g, {t.k, t.n, t.m, 1, t.k, t.n, 1});
  }
}
template <class S> static void run_outer(Ctx<S>& c) {
  const int64_t m = c.in[0].n(), n = c.in[1].n();
  Arr<S>& y = c.result(c.in[0].dt, {m, n});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      if (y.real()) y.a[i * n + j] = c.in[0].a[i] * c.in[1].a[j];
      else y.i[i * n + j] = (I(c.in[0].i[i]) * I(c.in[1].i[j])).v;
    }
}
template <class S> static void outer_back(Ctx<S>& c) {
  const int64_t m = c.in[0].n(), n = c.in[1].n();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const S& g = c.g[0].a[i * n + j];
      if (c.wants(0)) c.gin[0].a[i] += g * c.in[1].a[j];
      if (c.wants(1)) c.gin[1].a[j] += g * c.in[0].a[i];
    }
}

// Panels: for each eight rows of w, for each column, the eight elements; what the last panel lacks is 0.
struct Packed { std::shared_ptr<Storage> st; uint64_t version; int64_t offset; Shape shape, strides; DT dt; std::vector<W> panels; };
static const std::vector<W>& packed(const Tensor& t, const std::vector<W>& w, int64_t o, int64_t n) {
  static std::vector<Packed> kept;
  for (const Packed& k : kept)
    if (k.st == t.st && (k.version == t.st->version || defect("packed-weights-outlive-a-write")) && (k.offset == t.offset || defect("packed-weights-key-without-offset")) && k.shape == t.shape && (k.strides == t.strides || defect("packed-weights-key-without-strides")) && k.dt == t.dt) return k.panels;
  if (kept.size() >= 16) kept.erase(kept.begin());
  Packed p{t.st, t.st->version, t.offset, t.shape, t.strides, t.dt, {}};
  const int64_t panels = (o + PANEL - 1) / PANEL;
  p.panels.assign((size_t)(panels * n * PANEL), 0);
  for (int64_t i = 0; i < o; ++i)
    for (int64_t j = 0; j < n; ++j) p.panels[(i / PANEL * n + j) * PANEL + i % PANEL] = w[i * n + j];
  kept.push_back(p);
  return kept.back().panels;
}
static void multiply(Ctx<W>& c, Arr<W>& y, int64_t m, int64_t o, int64_t n) {
  const std::vector<W>& p = packed(c.raw[1], c.in[1].a, o, n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t f = 0; f < o; f += PANEL) {
      W sum[PANEL] = {0};
      for (int64_t j = 0; j < n; ++j)
        for (int l = 0; l < PANEL; ++l) sum[l] += c.in[0].a[i * n + j] * p[(f / PANEL * n + j) * PANEL + l];
      for (int l = 0; l < PANEL && f + l < o; ++l) y.a[i * o + f + l] += sum[l];
    }
}
static void multiply(Ctx<D>& c, Arr<D>& y, int64_t m, int64_t o, int64_t n) { gemm(y.a.data(), c.in[0].a.data(), c.in[1].a.data(), {m, o, n, n, 1, 1, n}); }
template <class S> static void run_linear(Ctx<S>& c) {
  const int64_t o = c.in[1].shape[0], n = c.in[1].shape[1];
  Shape shape = c.in[0].shape;
  shape.pop_back();
  const int64_t m = size_of(shape);
  shape.push_back(o);
  Arr<S>& y = c.result(c.in[0].dt, shape);
  if (c.has(2)) for (int64_t e = 0; e < y.n(); ++e) y.a[e] = c.in[2].a[e % o];
  multiply(c, y, m, o, n);
}
template <class S> static void linear_back(Ctx<S>& c) {
  const int64_t o = c.in[1].shape[0], n = c.in[1].shape[1], m = c.g[0].n() / std::max<int64_t>(o, 1);
  const S* g = c.g[0].a.data();
  if (c.wants(0)) gemm(c.gin[0].a.data(), g, c.in[1].a.data(), {m, n, o, o, 1, n, 1});
  if (c.wants(1)) gemm(c.gin[1].a.data(), g, c.in[0].a.data(), {o, n, m, 1, o, n, 1});
  if (c.wants(2)) for (int64_t e = 0; e < c.g[0].n(); ++e) if (!(defect("bias-cotangent-of-whole-panels") && o > PANEL && e % o >= o / PANEL * PANEL)) c.gin[2].a[e % o] += g[e];
}

Table linear_ops() {
  return {{"matmul", KERNELS(run_matmul, matmul_back), NEEDS_INPUTS}, {"dot", KERNELS(run_matmul, matmul_back), NEEDS_INPUTS},
          {"outer", KERNELS(run_outer, outer_back), NEEDS_INPUTS}, {"linear", KERNELS(run_linear, linear_back), NEEDS_INPUTS}};
}
