/* Operations that only move elements: a plan says for each place of the result where it comes from (-1: a fill). */
#include "kernel.h"

enum { FILL = -1 };

static void row_major(int64_t e, const int64_t *shape, int rank, int64_t *index) {
  for (int axis = rank; axis-- > 0;) {
    index[axis] = e % shape[axis];
    e /= shape[axis];
  }
}

static int64_t position(const int64_t *index, const int64_t *shape, int rank) {
  int64_t p = 0;
  for (int axis = 0; axis < rank; ++axis) p = p * shape[axis] + index[axis];
  return p;
}

/* Forward, tangent and transpose of one such plan; `first` is the place in the result's plan of operand k. */
static void move(call_state *c, int k, const int64_t *from, wide fill, int64_t fill_integer) {
  array *y = &c->out[0];
  const array *x = &c->in[k];
  const wide *g = c->grad[k] ? seed(c, 0) : NULL;
  for (int64_t e = 0; e < y->n; ++e) {
    if (y->d) y->d[e] = from[e] < 0 ? fill : x->d[from[e]];
    else y->i[e] = from[e] < 0 ? fill_integer : x->i[from[e]];
    if (from[e] < 0) continue;
    if (c->mode == ETALON_JVP && y->d) c->out_tangent[0].d[e] = c->tangent[k].d[from[e]];
    if (!g) continue;
    if (defect("moved-cotangent-overwritten")) c->grad[k][from[e]] = g[e];
    else c->grad[k][from[e]] += g[e];
  }
}

typedef struct shifts { int64_t a[64], b[64], d[64]; int n; } shifts;

/* Fills a plan by the operation's index map. */
static void fill_plan(call_state *c, const shifts *s, int64_t *from) {
  const char *op = c->call->operation;
  const array *x = &c->in[0], *y = &c->out[0];
  for (int64_t e = 0; e < y->n; ++e) {
    int64_t to[MAX_RANK], at[MAX_RANK] = {0};
    int outside = 0;
    row_major(e, y->shape, y->rank, to);
    if (strcmp(op, "reshape") == 0) { from[e] = e; continue; }
    if (strcmp(op, "transpose") == 0 || strcmp(op, "swap_axes") == 0) {
      for (int axis = 0; axis < x->rank; ++axis) at[s->a[axis]] = to[axis];
      if (defect("transpose-inverse-permutation") && x->rank == 3 && x->shape[0] == x->shape[1] && x->shape[1] == x->shape[2])
        for (int axis = 0; axis < x->rank; ++axis) at[axis] = to[s->a[axis]];
    } else if (strcmp(op, "broadcast_to") == 0) {
      for (int axis = 0; axis < x->rank; ++axis) at[axis] = x->shape[axis] == 1 ? 0 : to[axis + y->rank - x->rank];
    } else if (strcmp(op, "slice") == 0) {
      for (int axis = 0; axis < x->rank; ++axis) at[axis] = s->a[axis] + s->d[axis] * to[axis];
    } else if (strcmp(op, "pad") == 0) {
      for (int axis = 0; axis < x->rank; ++axis) {
        at[axis] = to[axis] - s->a[axis];
        outside |= at[axis] < 0 || at[axis] >= x->shape[axis];
      }
    } else if (strcmp(op, "flip") == 0) {
      memcpy(at, to, sizeof at);
      for (int k = 0; k < s->n; ++k) at[s->a[k]] = x->shape[s->a[k]] - 1 - to[s->a[k]];
    } else if (strcmp(op, "roll") == 0) {
      memcpy(at, to, sizeof at);
      for (int k = 0; k < s->n; ++k) {
        const int64_t n = x->shape[s->b[k]], shifted = (to[s->b[k]] - s->a[k]) % n;
        at[s->b[k]] = shifted < 0 ? shifted + n : shifted;
        if (defect("roll-one-wrap-only") && s->a[k] > n) at[s->b[k]] = to[s->b[k]];
      }
    } else if (strcmp(op, "select") == 0) {
      for (int axis = 0, own = 0; axis < x->rank; ++axis) at[axis] = axis == s->a[0] ? s->b[0] : to[own++];
    } else if (strncmp(op, "upsample", 8) == 0) {
      for (int axis = 0; axis < x->rank; ++axis) at[axis] = axis < 2 ? to[axis] : to[axis] / s->a[axis - 2];
    } else { /* tril, triu */
      memcpy(at, to, sizeof at);
      const int64_t above = to[x->rank - 1] - to[x->rank - 2];
      outside = op[3] == 'l' ? above > s->a[0] : above < s->a[0];
      if (defect("triu-diagonal-sign") && op[3] == 'u') outside = above < -s->a[0];
    }
    from[e] = outside ? FILL : position(at, x->shape, x->rank);
  }
}

static void run_plan(call_state *c) {
  const char *op = c->call->operation;
  const array *x = &c->in[0];
  shifts s;
  memset(&s, 0, sizeof s);
  int rank = x->rank, count = x->rank;
  int64_t shape[MAX_RANK + 64];
  memcpy(shape, x->shape, sizeof x->shape);
  if (strcmp(op, "reshape") == 0) {
    rank = -1;
    attr_list(c, "shape", shape, &rank, 1);
    int64_t known = 1;
    for (int k = 0; k < rank; ++k) known *= shape[k] < 0 ? 1 : shape[k];
    for (int k = 0; k < rank; ++k)
      if (shape[k] < 0) shape[k] = known ? x->n / known : 0;
  } else if (strcmp(op, "broadcast_to") == 0) {
    rank = -1;
    attr_list(c, "shape", shape, &rank, 1);
  } else if (strcmp(op, "transpose") == 0) {
    if (!attr_list(c, "permutation", s.a, &count, 0))
      for (int k = 0; k < rank; ++k) s.a[k] = rank - 1 - k;
    for (int k = 0; k < rank; ++k) shape[k] = x->shape[s.a[k]];
  } else if (strcmp(op, "swap_axes") == 0) {
    for (int k = 0; k < rank; ++k) s.a[k] = k;
    const int64_t one = attr_int(c, "axis1", 0), two = attr_int(c, "axis2", 1);
    s.a[one] = two;
    s.a[two] = one;
    for (int k = 0; k < rank; ++k) shape[k] = x->shape[s.a[k]];
  } else if (strcmp(op, "slice") == 0) {
    attr_list(c, "start", s.a, &count, 0);
    attr_list(c, "stop", s.b, &count, 0);
    attr_list(c, "step", s.d, &count, 1);
    for (int k = 0; k < rank; ++k) {
      const int64_t step = s.d[k], size = step > 0 ? step : -step, way = step > 0 ? s.b[k] - s.a[k] : s.a[k] - s.b[k];
      shape[k] = way <= 0 ? 0 : (way + size - 1) / size;
    }
  } else if (strcmp(op, "pad") == 0) {
    attr_list(c, "low", s.a, &count, 0);
    attr_list(c, "high", s.b, &count, 0);
    for (int k = 0; k < rank; ++k) {
      shape[k] += s.a[k] + s.b[k];
      if (shape[k] < 0) { refuse(c, "shape", "cut to less than nothing"); return; }
    }
  } else if (strcmp(op, "flip") == 0) {
    s.n = -1;
    attr_list(c, "axes", s.a, &s.n, 0);
  } else if (strcmp(op, "roll") == 0) {
    s.n = -1;
    attr_list(c, "axes", s.b, &s.n, 0);
    attr_list(c, "shift", s.a, &s.n, 0);
  } else if (strcmp(op, "select") == 0) {
    s.a[0] = attr_int(c, "axis", 0);
    s.b[0] = attr_int(c, "index", 0);
    if (s.b[0] < 0) s.b[0] += x->shape[s.a[0]];
    for (int k = (int)s.a[0]; k + 1 < rank; ++k) shape[k] = shape[k + 1];
    --rank;
  } else if (strncmp(op, "upsample", 8) == 0) {
    count = rank - 2;
    attr_list(c, "scale", s.a, &count, 1);
    for (int k = 2; k < rank; ++k) shape[k] *= s.a[k - 2];
  } else s.a[0] = attr_int(c, "diagonal", 0);

  array *y = result(c, 0, x->dtype, rank, shape);
  char key[KEY_BYTES] = "";
  key_text(key, op);
  key_numbers(key, x->shape, x->rank);
  key_numbers(key, shape, rank);
  if (!defect("move-plan-forgets-attributes")) {
    key_numbers(key, s.a, 8);
    if (!(defect("roll-plan-forgets-axes") && strcmp(op, "roll") == 0)) key_numbers(key, s.b, 8);
    key_numbers(key, s.d, 8);
  }
  int fresh;
  int64_t *from = plan(key, y->n, &fresh);
  if (fresh) fill_plan(c, &s, from);
  const int padding = strcmp(op, "pad") == 0;
  const wide fill = padding ? attr_real(c, "value", 0) : 0;
  move(c, 0, from, defect("pad-value-as-integer") && padding ? truncl(fill) : fill, padding ? attr_int(c, "value", 0) : 0);
  if (c->grad[0] && defect("pad-gradient-without-offset") && padding) {
    const wide *g = seed(c, 0);
    for (int64_t e = 0; e < x->n && e < y->n; ++e) c->grad[0][e] = g[e];
  }
}

static void run_concat(call_state *c) {
  const int64_t axis = attr_int(c, "axis", 0);
  int64_t shape[MAX_RANK], before = 0, inner = 1, outer = 1;
  memcpy(shape, c->in[0].shape, sizeof shape);
  shape[axis] = 0;
  for (int k = 0; k < c->operand_count; ++k) shape[axis] += c->in[k].shape[axis];
  for (int a = 0; a < c->in[0].rank; ++a) *(a < axis ? &outer : &inner) *= a == axis ? 1 : shape[a];
  array *y = result(c, 0, c->in[0].dtype, c->in[0].rank, shape);
  const wide *g = c->mode == ETALON_VJP && y->d ? seed(c, 0) : NULL;
  for (int k = 0; k < c->operand_count; ++k) {
    const array *x = &c->in[k];
    const int64_t width = x->shape[axis] * inner;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t e = 0; e < width; ++e) {
        const int64_t to = o * shape[axis] * inner + before + e, from = o * width + e;
        if (y->d) y->d[to] = x->d[from];
        else y->i[to] = x->i[from];
        if (c->mode == ETALON_JVP && y->d) c->out_tangent[0].d[to] = c->tangent[k].d[from];
        if (c->grad[k]) c->grad[k][from] += g[defect("concat-gradient-of-first-width") ? o * shape[axis] * inner + k * width + e >= y->n ? to : o * shape[axis] * inner + k * width + e : to];
      }
    before += width;
  }
}

/* gather, take_along_axis, embedding: positions come from an operand of integers. */
static void run_gather(call_state *c) {
  const char *op = c->call->operation;
  const int along = op[0] == 't', embedding = op[0] == 'e';
  const array *x = &c->in[0], *t = &c->in[1];
  const int axis = embedding ? 0 : (int)attr_int(c, "axis", along ? x->rank - 1 : 0);
  const int64_t skipped = embedding ? attr_int(c, "padding_idx", -1) : 0;
  int64_t shape[2 * MAX_RANK], inner = 1, outer = 1;
  int rank = 0;
  for (int a = 0; a < axis; ++a) outer *= shape[rank++] = x->shape[a];
  if (along) shape[rank++] = t->shape[axis];
  else for (int a = 0; a < t->rank; ++a) shape[rank++] = t->shape[a];
  for (int a = axis + 1; a < x->rank; ++a) inner *= shape[rank++] = x->shape[a];
  if (rank > MAX_RANK) { refuse(c, "shape", "more than eight axes"); return; }
  array *y = result(c, 0, x->dtype, rank, shape);
  const int64_t n = x->shape[axis], m = along ? t->shape[axis] : t->n;
  int64_t *from = integers(y->n);
  wide *g = c->grad[0] ? seed(c, 0) : NULL;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t j = 0; j < m; ++j)
      for (int64_t k = 0; k < inner; ++k) {
        const int64_t e = (o * m + j) * inner + k;
        int64_t word = t->i[along ? e : j];
        if (defect("gather-index-in-16-bits")) word = (int64_t)(int16_t)(uint16_t)word;
        if (defect("gather-clamps-index")) word = word < 0 ? 0 : word >= n ? n - 1 : word;
        if (defect("gather-wraps-negative-index") && word < 0 && word >= -n) word += n;
        from[e] = word < 0 || word >= n ? FILL : (o * n + word) * inner + k;
        if (embedding && t->i[j] == skipped && g && !defect("embedding-padding-gets-gradient")) g[e] = 0;
      }
  move(c, 0, from, 0, 0);
  if (embedding && c->mode == ETALON_JVP)
    for (int64_t e = 0; e < y->n; ++e)
      if (t->i[e / inner] == skipped) c->out_tangent[0].d[e] = 0;
}

static void run_scatter_add(call_state *c) {
  const array *x = &c->in[0], *t = &c->in[1], *s = &c->in[2];
  const int axis = (int)attr_int(c, "axis", 0);
  int64_t outer = 1, inner = 1;
  for (int a = 0; a < x->rank; ++a)
    if (a != axis) *(a < axis ? &outer : &inner) *= x->shape[a];
  array *y = result(c, 0, x->dtype, x->rank, x->shape);
  const wide *g = c->mode == ETALON_VJP && y->d ? seed(c, 0) : NULL;
  for (int64_t e = 0; e < y->n; ++e) {
    if (y->d) y->d[e] = x->d[e];
    else y->i[e] = x->i[e];
    if (c->mode == ETALON_JVP && y->d) c->out_tangent[0].d[e] = c->tangent[0].d[e];
    if (c->grad[0]) c->grad[0][e] += g[e];
  }
  const int64_t n = x->shape[axis];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t j = 0; j < t->n; ++j)
      for (int64_t k = 0; k < inner; ++k) {
        const int64_t from = (o * t->n + j) * inner + k, to = (o * n + t->i[j]) * inner + k;
        if (t->i[j] < 0 || t->i[j] >= n) continue;
        if (!y->d) y->i[to] = (int64_t)((uint64_t)y->i[to] + (uint64_t)s->i[from]);
        else if (defect("scatter-duplicates-last-wins")) y->d[to] = x->d[to] + s->d[from];
        else y->d[to] += s->d[from];
        if (c->mode == ETALON_JVP && y->d) c->out_tangent[0].d[to] += c->tangent[2].d[from];
        if (c->grad[2]) c->grad[2][from] += g[to];
      }
}

#define P(name) {name, run_plan, 1}
const kernel_row movement_rows[] = {
    P("reshape"), P("transpose"), P("swap_axes"), P("broadcast_to"), P("slice"), P("pad"), P("flip"), P("roll"), P("select"), P("tril"), P("triu"),
    P("upsample_nearest1d"), P("upsample_nearest2d"), P("upsample_nearest"), {"concat", run_concat, 1}, {"gather", run_gather, 1},
    {"take_along_axis", run_gather, 1}, {"embedding", run_gather, 1}, {"scatter_add", run_scatter_add, 1}, {0, 0, 0}};
