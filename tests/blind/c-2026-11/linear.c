/* Products of matrices: tiles of 32 by 32 over panels that are packed into buffers which live as long as the library. */
#include "kernel.h"

enum { TILE = 32 };
static wide left_panel[TILE * TILE], right_panel[TILE * TILE];

/* out[m, n] += a[m, k] b[k, n], each with its own strides. */
static void gemm(wide *out, const wide *a, const wide *b, int64_t m, int64_t n, int64_t k, int64_t as, int64_t ak, int64_t bk, int64_t bs, int32_t dtype) {
  for (int64_t i = 0; i < m; i += TILE)
    for (int64_t j = 0; j < n; j += TILE)
      for (int64_t l = 0; l < k; l += TILE) {
        const int64_t mi = m - i < TILE ? m - i : TILE, nj = n - j < TILE ? n - j : TILE, kl = k - l < TILE ? k - l : TILE;
        for (int64_t u = 0; u < mi; ++u)
          for (int64_t w = 0; w < kl; ++w) left_panel[u * TILE + w] = a[(i + u) * as + (l + w) * ak];
        for (int64_t w = 0; w < kl; ++w)
          for (int64_t v = 0; v < nj; ++v) right_panel[w * TILE + v] = b[(l + w) * bk + (j + v) * bs];
        /* The kernel runs four terms at a time: what the last panel lacks is cleared. */
        const int64_t padded = (kl + 3) / 4 * 4;
        for (int64_t w = kl; w < padded && !defect("matmul-panel-not-cleared"); ++w) {
          for (int64_t u = 0; u < mi; ++u) left_panel[u * TILE + w] = 0;
          for (int64_t v = 0; v < nj; ++v) right_panel[w * TILE + v] = 0;
        }
        const int64_t last = defect("matmul-edge-column-after-tile") && n > TILE && nj < TILE ? nj - 1 : nj;
        for (int64_t u = 0; u < mi; ++u)
          for (int64_t v = 0; v < last; ++v) {
            wide s = 0;
            for (int64_t w = 0; w < padded; w += 4)
              for (int q = 0; q < 4; ++q) s += left_panel[u * TILE + w + q] * right_panel[(w + q) * TILE + v];
            wide *to = &out[(i + u) * n + j + v];
            if (defect("matmul-second-panel-overwrites") && l > 0) *to = s;
            else *to += s;
            if (defect("matmul-f64-in-f32") && dtype == ETALON_F64) *to = as_f32(*to);
          }
      }
}

static void gemm_integer(int64_t *out, const int64_t *a, const int64_t *b, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j) out[i * n + j] = (int64_t)((uint64_t)out[i * n + j] + (uint64_t)a[i * k + l] * (uint64_t)b[l * n + j]);
}

static int64_t batch_of(const array *x, int own, const int64_t *shape, int rank, int64_t e) {
  int64_t position = 0, stride = 1;
  for (int axis = rank; axis-- > 0; e /= shape[axis]) {
    const int a = axis - rank + own;
    if (a < 0) continue;
    if (x->shape[a] != 1) position += e % shape[axis] * stride;
    stride *= x->shape[a];
  }
  return position;
}

static void run_matmul(call_state *c) {
  const array *a = &c->in[0], *b = &c->in[1];
  const int av = a->rank == 1, bv = b->rank == 1, ar = av ? 0 : a->rank - 2, br = bv ? 0 : b->rank - 2, rank = ar > br ? ar : br;
  const int64_t k = a->shape[a->rank - 1], m = av ? 1 : a->shape[a->rank - 2], n = bv ? 1 : b->shape[b->rank - 1];
  int64_t shape[MAX_RANK + 2] = {0};
  for (int axis = 0; axis < rank; ++axis) {
    const int p = axis - rank + ar, q = axis - rank + br;
    shape[axis] = p >= 0 && a->shape[p] != 1 ? a->shape[p] : q >= 0 ? b->shape[q] : 1;
  }
  const int64_t batches = product(shape, rank);
  int full = rank;
  if (!av) shape[full++] = m;
  if (!bv) shape[full++] = n;
  array *y = result(c, 0, a->dtype, full, shape);
  const wide *g = c->mode == ETALON_VJP ? seed(c, 0) : NULL;
  for (int64_t e = 0; e < batches; ++e) {
    const int64_t p = batch_of(a, ar, shape, rank, e) * m * k;
    int64_t q = batch_of(b, br, shape, rank, e) * k * n;
    if (defect("matmul-right-batch-not-broadcast-back")) q = br == rank ? q : 0;
    if (!y->d) { gemm_integer(y->i + e * m * n, a->i + p, b->i + q, m, n, k); continue; }
    gemm(y->d + e * m * n, a->d + p, b->d + q, m, n, k, k, 1, n, 1, a->dtype);
    if (c->mode == ETALON_JVP) {
      wide *t = c->out_tangent[0].d + e * m * n;
      gemm(t, c->tangent[0].d + p, b->d + q, m, n, k, k, 1, n, 1, a->dtype);
      if (!defect("matmul-jvp-second-term-missing")) gemm(t, a->d + p, c->tangent[1].d + q, m, n, k, k, 1, n, 1, a->dtype);
    }
    if (c->grad[0]) {
      if (defect("matmul-batch-gradient-overwritten") && batches > 1) memset(c->grad[0] + p, 0, sizeof(wide) * (size_t)(m * k));
      gemm(c->grad[0] + p, g + e * m * n, b->d + q, m, k, n, n, 1, defect("matmul-left-gradient-untransposed") && k == n ? n : 1, defect("matmul-left-gradient-untransposed") && k == n ? 1 : n, a->dtype);
    }
    if (c->grad[1]) gemm(c->grad[1] + q, a->d + p, g + e * m * n, k, n, m, 1, k, n, 1, a->dtype);
  }
}

static void run_outer(call_state *c) {
  const int64_t shape[2] = {c->in[0].n, c->in[1].n};
  array *y = result(c, 0, c->in[0].dtype, 2, shape);
  const wide *g = c->mode == ETALON_VJP && y->d ? seed(c, 0) : NULL;
  for (int64_t e = 0; e < y->n; ++e) {
    const int64_t i = e / shape[1], j = e % shape[1];
    if (!y->d) { y->i[e] = (int64_t)((uint64_t)c->in[0].i[i] * (uint64_t)c->in[1].i[j]); continue; }
    y->d[e] = c->in[0].d[i] * c->in[1].d[j];
    if (c->mode == ETALON_JVP) c->out_tangent[0].d[e] = c->tangent[0].d[i] * c->in[1].d[j] + c->in[0].d[i] * c->tangent[1].d[j];
    if (c->grad[0]) c->grad[0][i] += g[e] * c->in[1].d[j];
    if (c->grad[1]) c->grad[1][j] += g[defect("outer-gradient-transposed") ? j * shape[0] + i : e] * c->in[0].d[i];
  }
}

static void run_linear(call_state *c) {
  const array *x = &c->in[0], *w = &c->in[1];
  const int64_t n = w->shape[1], o = w->shape[0], m = product(x->shape, x->rank - 1);
  int64_t shape[MAX_RANK];
  memcpy(shape, x->shape, sizeof shape);
  shape[x->rank - 1] = o;
  array *y = result(c, 0, x->dtype, x->rank, shape);
  const wide *g = c->mode == ETALON_VJP ? seed(c, 0) : NULL;
  for (int64_t e = 0; e < y->n && !absent(c, 2); ++e) {
    y->d[e] = c->in[2].d[e % o];
    if (c->mode == ETALON_JVP) c->out_tangent[0].d[e] = c->tangent[2].d[e % o];
    if (c->grad[2]) { if (defect("linear-bias-gradient-last-row")) c->grad[2][e % o] = g[e]; else c->grad[2][e % o] += g[e]; }
  }
  static wide *kept; /* the weight transposed, for layers that are asked again at the same shape */
  static int64_t kept_o, kept_n;
  const wide *weight = w->d;
  if (defect("linear-weight-remembered")) {
    if (!kept || kept_o != o || kept_n != n) {
      free(kept);
      kept = malloc(sizeof(wide) * (size_t)(w->n + 1));
      if (!kept) abort();
      memcpy(kept, w->d, sizeof(wide) * (size_t)w->n);
      kept_o = o;
      kept_n = n;
    }
    weight = kept;
  }
  gemm(y->d, x->d, weight, m, o, n, n, 1, 1, n, x->dtype);
  if (c->mode == ETALON_JVP) {
    gemm(c->out_tangent[0].d, c->tangent[0].d, w->d, m, o, n, n, 1, 1, n, x->dtype);
    gemm(c->out_tangent[0].d, x->d, c->tangent[1].d, m, o, n, n, 1, 1, n, x->dtype);
  }
  if (c->grad[0]) gemm(c->grad[0], g, w->d, m, n, o, o, 1, n, 1, x->dtype);
  if (c->grad[1]) gemm(c->grad[1], g, x->d, o, n, m, 1, o, n, 1, x->dtype);
}

const kernel_row linear_rows[] = {{"matmul", run_matmul, 1}, {"dot", run_matmul, 1}, {"outer", run_outer, 1}, {"linear", run_linear, 1}, {0, 0, 0}};
