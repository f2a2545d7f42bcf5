// Convolutions and pools over one to three spatial axes: tables of taps by cell, kept by geometry; cotangents by the
// same tables.
#include <algorithm>

#include "strata.h"

// Geometry in three axes, leading ones of extent 1.
struct Window { int dims; int64_t b, c, s[3], w[3], o[3], stride[3], padding[3], dilation[3], extra[3]; };
static void spatial(const Call& c, const char* k, int dims, int64_t otherwise, int64_t* to) {
  const Shape s = c.list(k, dims, otherwise);
  for (int d = 0; d < 3; ++d) to[d] = d < 3 - dims ? otherwise : s[d - (3 - dims)];
}
static Window window_of(const Call& c, const Shape& x) {
  Window v = {};
  v.dims = (int)x.size() - 2;
  if (v.dims < 1 || v.dims > 3) refuse("shape", "one to three spatial axes");
  v.b = x[0];
  v.c = x[1];
  for (int d = 0; d < 3; ++d) v.s[d] = d < 3 - v.dims ? 1 : x[2 + d - (3 - v.dims)];
  spatial(c, "stride", v.dims, 1, v.stride);
  spatial(c, "padding", v.dims, 0, v.padding);
  spatial(c, "dilation", v.dims, 1, v.dilation);
  spatial(c, "output_padding", v.dims, 0, v.extra);
  for (int d = 0; d < 3 - v.dims; ++d) { v.padding[d] = v.extra[d] = 0; v.stride[d] = v.dilation[d] = 1; }
  return v;
}
static void kernel_of(Window* v, const Shape& k) { for (int d = 0; d < 3; ++d) v->w[d] = d < 3 - v->dims ? 1 : k[2 + d - (3 - v->dims)]; }
static void pool_kernel(const Call& c, Window* v) {
  spatial(c, "kernel", v->dims, 1, v->w);
  for (int d = 0; d < 3 - v->dims; ++d) v->w[d] = 1;
  if (!c.has("stride")) for (int d = 0; d < 3; ++d) v->stride[d] = v->w[d];
}
static int64_t volume(const int64_t* e) { return e[0] * e[1] * e[2]; }
static int64_t floordiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
static void extents(Window* v) { for (int d = 0; d < 3; ++d) { v->o[d] = floordiv(v->s[d] + 2 * v->padding[d] - v->dilation[d] * (v->w[d] - 1) - 1, v->stride[d]) + 1; if (v->o[d] < 0) refuse("shape", "an extent below 0"); } }
static Shape result_shape(const Window& v, int64_t channels) {
  Shape s = {v.b, channels};
  for (int d = 3 - v.dims; d < 3; ++d) s.push_back(v.o[d]);
  return s;
}
// Per cell of the result and tap of the kernel: the cell of the operand, or -1 outside.
typedef std::vector<int64_t> Taps;
static const Taps& taps_of(const Window& v) {
  static std::map<std::vector<int64_t>, Taps> kept;
  std::vector<int64_t> key;
  for (int d = 0; d < 3; ++d) for (int64_t e : {v.s[d], v.w[d], v.o[d], v.stride[d], defect("taps-kept-without-padding") ? 0 : v.padding[d], defect("taps-kept-without-dilation") ? 1 : v.dilation[d]}) key.push_back(e);
  auto f = kept.find(key);
  if (f != kept.end()) return f->second;
  if (kept.size() > 64) kept.clear();
  int64_t padding[3] = {v.padding[0], v.padding[1], v.padding[2]};
  if (defect("paddings-from-the-last-axis")) std::reverse(padding + (3 - v.dims), padding + 3);
  Taps t;
  t.reserve((size_t)(volume(v.o) * volume(v.w)));
  for (int64_t a = 0; a < v.o[0]; ++a) for (int64_t b = 0; b < v.o[1]; ++b) for (int64_t c = 0; c < v.o[2]; ++c)
    for (int64_t p = 0; p < v.w[0]; ++p) for (int64_t q = 0; q < v.w[1]; ++q) for (int64_t r = 0; r < v.w[2]; ++r) {
      const int64_t x = a * v.stride[0] + p * v.dilation[0] - padding[0], y = b * v.stride[1] + q * v.dilation[1] - padding[1], z = c * v.stride[2] + r * v.dilation[2] - padding[2];
      const bool in = x >= 0 && x < v.s[0] && y >= 0 && y < v.s[1] && z >= 0 && z < v.s[2];
      t.push_back(in ? (x * v.s[1] + y) * v.s[2] + z : -1);
    }
  return kept[key] = t;
}

template <class S, class F> static void conv_terms(const Ctx<S>& c, const Window& v, F f) {
  const int64_t groups = c.call->integer("groups", 1), o = c.in[1].shape[0], e = c.in[1].shape[1];
  const int64_t cells = volume(v.o), taps = volume(v.w), places = volume(v.s), per = o / groups;
  const Taps& t = taps_of(v);
  for (int64_t n = 0; n < v.b; ++n)
    for (int64_t k = 0; k < o; ++k)
      for (int64_t d = 0; d < e; ++d) {
        const int64_t from = (n * v.c + (defect("depthwise-channel-by-remainder") && e == 1 ? k % v.c : k / per * e + d)) * places;
        for (int64_t i = 0; i < cells; ++i)
          for (int64_t u = 0; u < taps; ++u) {
            const int64_t q = t[i * taps + u];
            if (q >= 0) f((n * o + k) * cells + i, from + q, (k * e + d) * taps + u);
          }
      }
}
template <class S> static void run_conv(Ctx<S>& c) {
  Window v = window_of(*c.call, c.in[0].shape);
  kernel_of(&v, c.in[1].shape);
  extents(&v);
  const int64_t o = c.in[1].shape[0], cells = volume(v.o);
  Arr<S>& y = c.result(c.in[0].dt, result_shape(v, o));
  if (c.has(2)) for (int64_t e = 0; e < y.n(); ++e) y.a[e] = c.in[2].a[e / cells % o];
  conv_terms(c, v, [&](int64_t to, int64_t from, int64_t k) { y.a[to] += c.in[0].a[from] * c.in[1].a[k]; });
}
template <class S> static void bias_back(Ctx<S>& c, int64_t channels, int64_t cells) {
  if (c.wants(2)) for (int64_t e = 0; e < c.g[0].n(); ++e) c.gin[2].a[e / cells % channels] += c.g[0].a[e];
}
template <class S> static void conv_back(Ctx<S>& c) {
  Window v = window_of(*c.call, c.in[0].shape);
  kernel_of(&v, c.in[1].shape);
  extents(&v);
  conv_terms(c, v, [&](int64_t to, int64_t from, int64_t k) {
    if (c.wants(0)) c.gin[0].a[from] += c.g[0].a[to] * c.in[1].a[k];
    if (c.wants(1)) c.gin[1].a[k] += c.g[0].a[to] * c.in[0].a[from];
  });
  bias_back(c, c.in[1].shape[0], volume(v.o));
}

// The transpose scatters: its operand's cells are the result's of a conv over its result.
template <class S> static Window transposed(const Ctx<S>& c) {
  Window v = window_of(*c.call, c.in[0].shape);
  kernel_of(&v, c.in[1].shape);
  for (int d = 0; d < 3; ++d) {
    v.o[d] = (v.s[d] - 1) * v.stride[d] - 2 * v.padding[d] + v.dilation[d] * (v.w[d] - 1) + v.extra[d] + 1;
    if (v.o[d] < 0) refuse("shape", "an extent below 0");
  }
  return v;
}
template <class S, class F> static void transposed_terms(const Ctx<S>& c, const Window& v, F f) {
  Window w = v;
  for (int d = 0; d < 3; ++d) { w.s[d] = v.o[d]; w.o[d] = v.s[d]; if (defect("conv-transpose-taps-undilated")) w.dilation[d] = 1; }
  const Taps& t = taps_of(w);
  const int64_t groups = c.call->integer("groups", 1), e = c.in[1].shape[1], part = v.c / groups;
  const int64_t cells = volume(v.o), taps = volume(v.w), places = volume(v.s);
  for (int64_t n = 0; n < v.b; ++n)
    for (int64_t d = 0; d < v.c; ++d)
      for (int64_t k = 0; k < e; ++k) {
        const int64_t to = (n * e * groups + d / part * e + k) * cells;
        for (int64_t i = 0; i < places; ++i)
          for (int64_t u = 0; u < taps; ++u) {
            const int64_t q = t[i * taps + u];
            if (q >= 0) f(to + q, (n * v.c + d) * places + i, (d * e + k) * taps + u);
          }
      }
}
template <class S> static void run_conv_transpose(Ctx<S>& c) {
  const Window v = transposed(c);
  const int64_t o = c.in[1].shape[1] * c.call->integer("groups", 1), cells = volume(v.o);
  Arr<S>& y = c.result(c.in[0].dt, result_shape(v, o));
  if (c.has(2)) for (int64_t e = 0; e < y.n(); ++e) y.a[e] = c.in[2].a[e / cells % o];
  transposed_terms(c, v, [&](int64_t to, int64_t from, int64_t k) { y.a[to] += c.in[0].a[from] * c.in[1].a[k]; });
}
template <class S> static void conv_transpose_back(Ctx<S>& c) {
  const Window v = transposed(c);
  transposed_terms(c, v, [&](int64_t to, int64_t from, int64_t k) {
    if (c.wants(0)) c.gin[0].a[from] += c.g[0].a[to] * c.in[1].a[k];
    const int64_t group = c.in[1].shape[1] * volume(v.o), image = c.call->integer("groups", 1) * group;
    if (c.wants(1)) c.gin[1].a[k] += c.g[0].a[defect("conv-transpose-kernel-cotangent-of-first-group") ? to / image * image + to % group : to] * c.in[0].a[from];
  });
  bias_back(c, c.in[1].shape[1] * c.call->integer("groups", 1), volume(v.o));
}

// ---- pools ------------------------------------------------------------------------------------------------------
template <class S> static Window pool_of(const Ctx<S>& c) {
  Window v = window_of(*c.call, c.in[0].shape);
  pool_kernel(*c.call, &v);
  extents(&v);
  return v;
}
template <class S> static int64_t best_of(const S* x, const int64_t* t, int64_t taps) {
  int64_t best = -1;
  for (int64_t u = 0; u < taps; ++u) {
    if (t[u] < 0) continue;
    if (best < 0) { best = t[u]; continue; }
    const W a = val(x[t[u]]), b = val(x[best]);
    if (b == b && ((a != a && !defect("max-pool-passes-over-nan")) || a > b)) best = t[u];
  }
  return best;
}
template <class S> static void run_max_pool(Ctx<S>& c) {
  const Window v = pool_of(c);
  const int64_t cells = volume(v.o), taps = volume(v.w), places = volume(v.s);
  const Taps& t = taps_of(v);
  Arr<S>& y = c.result(c.in[0].dt, result_shape(v, v.c));
  for (int64_t e = 0; e < y.n(); ++e) {
    const S* x = c.in[0].a.data() + e / cells * places;
    const int64_t p = best_of(x, t.data() + e % cells * taps, taps);
    y.a[e] = p < 0 ? S(0) : x[p];
  }
}
template <class S> static void max_pool_back(Ctx<S>& c) {
  const Window v = pool_of(c);
  const int64_t cells = volume(v.o), taps = volume(v.w), places = volume(v.s);
  const Taps& t = taps_of(v);
  for (int64_t e = 0; e < c.g[0].n(); ++e) {
    const int64_t base = e / cells * places;
    int64_t p = best_of(c.in[0].a.data() + base, t.data() + e % cells * taps, taps);
    if (defect("max-pool-cotangent-by-undilated-offset")) {  // the place within the window, without its dilation
      int64_t u = 0;
      while (u < taps && t[e % cells * taps + u] != p) ++u;
      const int64_t near = p + u % v.w[2] - u % v.w[2] * v.dilation[2];
      if (near >= 0) p = near;
    }
    if (p >= 0) c.gin[0].a[base + p] += c.g[0].a[e];
  }
}
template <class S> static void run_avg_pool(Ctx<S>& c) {
  const Window v = pool_of(c);
  const bool counted = c.call->flag("count_include_pad", true);
  const int64_t cells = volume(v.o), taps = volume(v.w), places = volume(v.s);
  const Taps& t = taps_of(v);
  Arr<S>& y = c.result(c.in[0].dt, result_shape(v, v.c));
  for (int64_t e = 0; e < y.n(); ++e) {
    const S* x = c.in[0].a.data() + e / cells * places;
    S sum(0);
    int64_t live = 0;
    for (int64_t u = 0; u < taps; ++u) { const int64_t p = t[e % cells * taps + u]; if (p >= 0) { sum += x[p]; ++live; } }
    y.a[e] = sum / S((W)(counted ? taps : live));
  }
}
template <class S> static void avg_pool_back(Ctx<S>& c) {
  const Window v = pool_of(c);
  const bool counted = c.call->flag("count_include_pad", true);
  const int64_t cells = volume(v.o), taps = volume(v.w), places = volume(v.s);
  const Taps& t = taps_of(v);
  for (int64_t e = 0; e < c.g[0].n(); ++e) {
    int64_t live = 0;
    for (int64_t u = 0; u < taps; ++u) live += t[e % cells * taps + u] >= 0;
    const S share = c.g[0].a[e] / S((W)(counted ? taps : live));
    for (int64_t u = 0; u < taps; ++u) { const int64_t p = t[e % cells * taps + u]; if (p >= 0) c.gin[0].a[e / cells * places + p] += share; }
  }
}
template <class S> static void run_smooth_pool(Ctx<S>& c) {
  const Window v = pool_of(c);
  const S heat(c.call->real("temperature", 1));
  const int64_t cells = volume(v.o), taps = volume(v.w), places = volume(v.s);
  const Taps& t = taps_of(v);
  Arr<S>& y = c.result(c.in[0].dt, result_shape(v, v.c));
  for (int64_t e = 0; e < y.n(); ++e) {
    const S* x = c.in[0].a.data() + e / cells * places;
    const int64_t* at = t.data() + e % cells * taps;
    const int64_t best = best_of(x, at, taps);
    W top = best < 0 ? (W)0 : val(x[best]);
    if (isinfq(top)) top = 0;
    S sum(0);
    for (int64_t u = 0; u < taps; ++u) if (at[u] >= 0) sum += Exp((x[at[u]] - S(top)) / heat);
    y.a[e] = S(top) + heat * Log(sum);
  }
}
template <class S> static void smooth_pool_back(Ctx<S>& c) {
  const Window v = pool_of(c);
  const S heat(c.call->real("temperature", 1));
  const int64_t cells = volume(v.o), taps = volume(v.w), places = volume(v.s);
  const Taps& t = taps_of(v);
  for (int64_t e = 0; e < c.g[0].n(); ++e) {
    const int64_t base = e / cells * places;
    const S* x = c.in[0].a.data() + base;
    const int64_t* at = t.data() + e % cells * taps;
    const int64_t best = best_of(x, at, taps);
    W top = best < 0 ? (W)0 : val(x[best]);
    if (isinfq(top)) top = 0;
    S sum(0);
    for (int64_t u = 0; u < taps; ++u) if (at[u] >= 0) sum += Exp((x[at[u]] - S(top)) / heat);
    for (int64_t u = 0; u < taps; ++u) if (at[u] >= 0) c.gin[0].a[base + at[u]] += Exp((x[at[u]] - S(top)) / heat) / sum * c.g[0].a[e];
  }
}
// Adaptive windows go from floor(i*s/o) to ceil((i + 1)*s/o); the global pool is one window.
struct Spans { Window v; bool keep; };
template <class S> static Spans spans_of(const Ctx<S>& c) {
  Spans p = {window_of(*c.call, c.in[0].shape), true};
  if (c.call->op[0] == 'g') { p.keep = c.call->flag("keepdims", true); for (int d = 0; d < 3; ++d) p.v.o[d] = 1; }
  else { spatial(*c.call, "output", p.v.dims, 1, p.v.o); for (int d = 0; d < 3 - p.v.dims; ++d) p.v.o[d] = 1; }
  return p;
}
template <class F> static void span_cells(const Window& v, int64_t e, F f) {
  const int64_t i[3] = {e / v.o[2] / v.o[1], e / v.o[2] % v.o[1], e % v.o[2]};
  int64_t low[3], high[3];
  for (int d = 0; d < 3; ++d) { low[d] = i[d] * v.s[d] / v.o[d]; high[d] = defect("adaptive-windows-end-rounded-down") && (i[d] + 1) * v.s[d] / v.o[d] > low[d] ? (i[d] + 1) * v.s[d] / v.o[d] : ((i[d] + 1) * v.s[d] + v.o[d] - 1) / v.o[d]; }
  const int64_t n = (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]);
  for (int64_t a = low[0]; a < high[0]; ++a) for (int64_t b = low[1]; b < high[1]; ++b) for (int64_t z = low[2]; z < high[2]; ++z) f((a * v.s[1] + b) * v.s[2] + z, n);
}
template <class S> static void run_spans(Ctx<S>& c) {
  const Spans p = spans_of(c);
  const int64_t cells = volume(p.v.o), places = volume(p.v.s);
  Arr<S>& y = c.result(c.in[0].dt, p.keep ? result_shape(p.v, p.v.c) : Shape{p.v.b, p.v.c});
  for (int64_t e = 0; e < y.n(); ++e) {
    S sum(0);
    int64_t count = 1;
    span_cells(p.v, e % cells, [&](int64_t q, int64_t n) { sum += c.in[0].a[e / cells * places + q]; count = n; });
    y.a[e] = sum / S((W)count);
  }
}
template <class S> static void spans_back(Ctx<S>& c) {
  const Spans p = spans_of(c);
  const int64_t cells = volume(p.v.o), places = volume(p.v.s);
  for (int64_t e = 0; e < c.g[0].n(); ++e)
    span_cells(p.v, e % cells, [&](int64_t q, int64_t n) { c.gin[0].a[e / cells * places + q] += defect("global-pool-cotangent-undivided") && c.call->op[0] == 'g' ? c.g[0].a[e] : c.g[0].a[e] / S((W)n); });
}

Table window_ops() {
  Table t;
  static const char* conv[] = {"conv", "conv1d", "conv2d", "conv3d"};
  static const char* convt[] = {"conv_transpose", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"};
  static const char* maxp[] = {"max_pool", "max_pool1d", "max_pool2d", "max_pool3d"};
  static const char* avgp[] = {"avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d"};
  static const char* smooth[] = {"smooth_max_pool", "smooth_max_pool1d", "smooth_max_pool2d", "smooth_max_pool3d"};
  static const char* spans[] = {"adaptive_avg_pool", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "global_avg_pool", "global_avg_pool1d", "global_avg_pool2d", "global_avg_pool3d"};
  for (auto n : conv) t.push_back({n, KERNELS(run_conv, conv_back), NEEDS_INPUTS});
  for (auto n : convt) t.push_back({n, KERNELS(run_conv_transpose, conv_transpose_back), NEEDS_INPUTS});
  for (auto n : maxp) t.push_back({n, KERNELS(run_max_pool, max_pool_back), NEEDS_INPUTS});
  for (auto n : avgp) t.push_back({n, KERNELS(run_avg_pool, avg_pool_back), 0});
  for (auto n : smooth) t.push_back({n, KERNELS(run_smooth_pool, smooth_pool_back), NEEDS_INPUTS});
  for (auto n : spans) t.push_back({n, KERNELS(run_spans, spans_back), 0});
  return t;
}
