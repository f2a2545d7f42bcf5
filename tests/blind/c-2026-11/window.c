/* Convolutions and pooling over up to three spatial axes; fewer are filled up with axes of extent 1. */
#include "kernel.h"

typedef struct window {
  int dims;
  int64_t b, c, s[3], w[3], o[3], stride[3], padding[3], dilation[3], extra[3];
} window;

static void spatial(call_state *c, const char *name, int dims, int64_t otherwise, int64_t *three) {
  int64_t own[64];
  int count = dims;
  attr_list(c, name, own, &count, otherwise);
  for (int d = 0; d < 3; ++d) three[d] = d < 3 - dims ? otherwise : own[d - (3 - dims)];
}

static int measure(call_state *c, window *v) {
  const array *x = &c->in[0];
  v->dims = x->rank - 2;
  if (v->dims < 1 || v->dims > 3) { refuse(c, "shape", "one to three spatial axes"); return 0; }
  v->b = x->shape[0];
  v->c = x->shape[1];
  for (int d = 0; d < 3; ++d) v->s[d] = d < 3 - v->dims ? 1 : x->shape[2 + d - (3 - v->dims)];
  spatial(c, "stride", v->dims, 1, v->stride);
  spatial(c, "padding", v->dims, 0, v->padding);
  spatial(c, "dilation", v->dims, 1, v->dilation);
  return 1;
}

static int64_t strides_in(int64_t span, int64_t stride) { return span < 0 ? -((-span + stride - 1) / stride) : span / stride; }

static array *window_result(call_state *c, const window *v, int64_t channels) {
  int64_t shape[5] = {v->b, channels, 0, 0, 0};
  for (int d = 0; d < v->dims; ++d) shape[2 + d] = v->o[3 - v->dims + d];
  for (int d = 0; d < 3; ++d)
    if (v->o[d] < 0) { refuse(c, "shape", "an extent below 0"); return NULL; }
  return result(c, 0, c->in[0].dtype, 2 + v->dims, shape);
}

static int64_t cell(const int64_t *shape, const int64_t *at) { return (at[0] * shape[1] + at[1]) * shape[2] + at[2]; }
static int64_t volume(const int64_t *shape) { return shape[0] * shape[1] * shape[2]; }
static void split_cell(int64_t e, const int64_t *shape, int64_t *at) {
  at[2] = e % shape[2];
  at[1] = e / shape[2] % shape[1];
  at[0] = e / shape[2] / shape[1];
}

/* The input cell of output cell i under kernel cell u, or -1 outside. */
static int64_t under(const window *v, const int64_t *i, const int64_t *u, int dilated) {
  int64_t at[3];
  for (int d = 0; d < 3; ++d) {
    at[d] = i[d] * v->stride[d] + u[d] * (dilated ? v->dilation[d] : 1) - v->padding[d];
    if (at[d] < 0 || at[d] >= v->s[d]) return -1;
  }
  return cell(v->s, at);
}

/* One term y[y_at] += x[x_at] k[k_at], with its derivatives; grad may differ in where it looks. */
static void term(call_state *c, const wide *g, int64_t y_at, int64_t x_at, int64_t k_at) {
  c->out[0].d[y_at] += c->in[0].d[x_at] * c->in[1].d[k_at];
  if (c->mode == ETALON_JVP) c->out_tangent[0].d[y_at] += c->tangent[0].d[x_at] * c->in[1].d[k_at] + c->in[0].d[x_at] * c->tangent[1].d[k_at];
  if (c->grad[0]) c->grad[0][x_at] += g[y_at] * c->in[1].d[k_at];
  if (c->grad[1]) c->grad[1][k_at] += g[y_at] * c->in[0].d[x_at];
}

static void add_bias(call_state *c, const wide *g, int64_t channels, int64_t cells) {
  if (absent(c, 2)) return;
  for (int64_t e = 0; e < c->out[0].n; ++e) {
    const int64_t f = e / cells % channels;
    c->out[0].d[e] += c->in[2].d[f];
    if (c->mode == ETALON_JVP) c->out_tangent[0].d[e] += c->tangent[2].d[f];
    if (c->grad[2] && !(defect("conv-bias-gradient-first-image") && e >= channels * cells)) c->grad[2][f] += g[e];
  }
}

static void run_conv(call_state *c) {
  window v;
  if (!measure(c, &v)) return;
  const array *k = &c->in[1];
  const int64_t groups = attr_int(c, "groups", 1), o = k->shape[0], e = k->shape[1];
  for (int d = 0; d < 3; ++d) {
    v.w[d] = d < 3 - v.dims ? 1 : k->shape[2 + d - (3 - v.dims)];
    v.o[d] = strides_in(v.s[d] + 2 * v.padding[d] - v.dilation[d] * (v.w[d] - 1) - 1, v.stride[d]) + 1;
  }
  if (!window_result(c, &v, o)) return;
  wide *g = c->mode == ETALON_VJP ? seed(c, 0) : NULL;
  const int64_t cells = volume(v.o), taps = volume(v.w), places = volume(v.s);
  for (int64_t n = 0; n < v.b; ++n)
    for (int64_t f = 0; f < o; ++f)
      for (int64_t i = 0; i < cells; ++i)
        for (int64_t d = 0; d < e; ++d)
          for (int64_t u = 0; u < taps; ++u) {
            int64_t at[3], tap[3];
            split_cell(i, v.o, at);
            split_cell(u, v.w, tap);
            int64_t group = f / (o / groups);
            if (defect("conv-groups-by-remainder")) group = f % groups;
            const int64_t from = under(&v, at, tap, 1), y_at = (n * o + f) * cells + i, k_at = (f * e + d) * taps + u;
            if (c->grad[0] && defect("conv-gradient-ignores-dilation")) {
              const int64_t near = under(&v, at, tap, 0);
              if (near >= 0) c->grad[0][(n * v.c + group * e + d) * places + near] += g[y_at] * k->d[k_at];
              if (from >= 0) c->out[0].d[y_at] += c->in[0].d[(n * v.c + group * e + d) * places + from] * k->d[k_at];
              continue;
            }
            if (from < 0) continue;
            if (defect("conv-padding-row-dropped") && v.padding[2] > 1 && at[2] == 0) continue;
            const int64_t x_at = (n * v.c + group * e + d) * places + from;
            term(c, g, y_at, x_at, k_at);
            if (defect("conv-weight-gradient-of-group-zero") && c->grad[1] && groups > 1 && group > 0)
              c->grad[1][k_at] += g[y_at] * (c->in[0].d[(n * v.c + d) * places + from] - c->in[0].d[x_at]);
          }
  add_bias(c, g, o, cells);
}

static void run_conv_transpose(call_state *c) {
  window v;
  if (!measure(c, &v)) return;
  const array *k = &c->in[1];
  const int64_t groups = attr_int(c, "groups", 1), e = k->shape[1], o = e * groups, part = v.c / groups;
  spatial(c, "output_padding", v.dims, 0, v.extra);
  for (int d = 0; d < 3; ++d) {
    v.w[d] = d < 3 - v.dims ? 1 : k->shape[2 + d - (3 - v.dims)];
    v.o[d] = (v.s[d] - 1) * v.stride[d] - 2 * v.padding[d] + v.dilation[d] * (v.w[d] - 1) + v.extra[d] + 1;
  }
  if (!window_result(c, &v, o)) return;
  wide *g = c->mode == ETALON_VJP ? seed(c, 0) : NULL;
  const int64_t cells = volume(v.o), taps = volume(v.w), places = volume(v.s);
  for (int64_t n = 0; n < v.b; ++n)
    for (int64_t f = 0; f < o; ++f)
      for (int64_t d = 0; d < part; ++d)
        for (int64_t i = 0; i < places; ++i)
          for (int64_t u = 0; u < taps; ++u) {
            int64_t at[3], tap[3], to[3];
            int inside = 1;
            split_cell(i, v.s, at);
            split_cell(u, v.w, tap);
            for (int q = 0; q < 3; ++q) {
              to[q] = at[q] * v.stride[q] + tap[q] * v.dilation[q] - v.padding[q];
              const int64_t end = defect("conv-transpose-output-padding-empty") ? v.o[q] - v.extra[q] : v.o[q];
              inside &= to[q] >= 0 && to[q] < end;
            }
            if (!inside) continue;
            const int64_t from = f / e * part + d;
            const int64_t kernel = defect("conv-transpose-kernel-flipped") && v.w[2] == 3 ? taps - 1 - u : u;
            term(c, g, (n * o + f) * cells + cell(v.o, to), (n * v.c + from) * places + i, ((defect("conv-transpose-groups-share-kernel") ? d : from) * e + f % e) * taps + kernel);
          }
  add_bias(c, g, o, cells);
}

static void run_pool(call_state *c) {
  window v;
  if (!measure(c, &v)) return;
  const int largest = c->call->operation[0] == 'm', counted = (int)attr_int(c, "count_include_pad", 1);
  spatial(c, "kernel", v.dims, 1, v.w);
  for (int d = 0; d < 3; ++d) v.o[d] = strides_in(v.s[d] + 2 * v.padding[d] - (largest ? v.dilation[d] * (v.w[d] - 1) + 1 : v.w[d]), v.stride[d]) + 1;
  if (!largest) v.dilation[0] = v.dilation[1] = v.dilation[2] = 1;
  array *y = window_result(c, &v, v.c);
  if (!y) return;
  const wide *g = c->grad[0] ? seed(c, 0) : NULL;
  const int64_t cells = volume(v.o), taps = volume(v.w), places = volume(v.s);
  for (int64_t e = 0; e < y->n; ++e) {
    const int64_t base = e / cells * places;
    int64_t at[3], tap[3], best = -1, live = 0;
    split_cell(e % cells, v.o, at);
    wide total = 0, moved = 0;
    for (int64_t u = 0; u < taps; ++u) {
      split_cell(u, v.w, tap);
      const int64_t p = under(&v, at, tap, 1);
      if (p < 0) continue;
      ++live;
      const wide z = c->in[0].d[base + p];
      if (c->mode == ETALON_JVP) moved += c->tangent[0].d[base + p];
      if (!largest) total += z;
      else if (best < 0 || z > c->in[0].d[base + best] || (z != z && c->in[0].d[base + best] == c->in[0].d[base + best]) || (defect("max-pool-last-of-ties") && z == c->in[0].d[base + best])) best = p;
    }
    if (largest) {
      y->d[e] = c->in[0].d[base + best];
      if (defect("max-pool-padding-is-zero") && live < taps && y->d[e] < 0) y->d[e] = 0;
      if (c->mode == ETALON_JVP) c->out_tangent[0].d[e] = c->tangent[0].d[base + best];
      if (!c->grad[0]) continue;
      if (defect("max-pool-overlap-overwrites")) c->grad[0][base + best] = g[e];
      else c->grad[0][base + best] += g[e];
      continue;
    }
    const int whole = counted && !defect("avg-pool-never-counts-padding");
    const wide divisor = whole ? (wide)taps : (wide)live;
    y->d[e] = total / divisor;
    if (c->mode == ETALON_JVP) c->out_tangent[0].d[e] = moved / divisor;
    for (int64_t u = 0; c->grad[0] && u < taps; ++u) {
      split_cell(u, v.w, tap);
      const int64_t p = under(&v, at, tap, 1);
      if (p >= 0) c->grad[0][base + p] += g[e] / (defect("avg-pool-gradient-by-kernel-size") ? (wide)taps : divisor);
    }
  }
}

#define C(name) {name, run_conv, 1}
#define T(name) {name, run_conv_transpose, 1}
#define L(name) {name, run_pool, 1}
const kernel_row window_rows[] = {C("conv"), C("conv1d"), C("conv2d"), C("conv3d"), T("conv_transpose"), T("conv_transpose1d"), T("conv_transpose2d"),
                                  L("max_pool"), L("max_pool1d"), L("max_pool2d"), L("avg_pool"), L("avg_pool1d"), L("avg_pool2d"), {0, 0, 0}};
