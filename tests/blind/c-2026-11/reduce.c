/* Reductions, scans and normalisations over rows: the elements that one result takes, by a cached plan. */
#include "kernel.h"

rows rows_of(const array *x, const int64_t *axes, int axis_count) {
  int order[MAX_RANK], kept = 0, gone[MAX_RANK] = {0};
  rows r = {1, 1, NULL};
  for (int k = 0; k < axis_count; ++k) { gone[axes[k]] = 1; r.length *= x->shape[axes[k]]; }
  for (int axis = 0; axis < x->rank; ++axis)
    if (!gone[axis]) { order[kept++] = axis; r.count *= x->shape[axis]; }
  for (int k = 0; k < axis_count; ++k) order[kept + k] = (int)axes[k];
  char key[KEY_BYTES] = "rows;";
  key_numbers(key, x->shape, x->rank);
  if (!defect("row-plan-forgets-axes")) key_numbers(key, axes, axis_count);
  int64_t strides[MAX_RANK], stride = 1;
  for (int axis = x->rank; axis-- > 0; stride *= x->shape[axis]) strides[axis] = stride;
  int fresh;
  int64_t *at = plan(key, x->n, &fresh);
  r.at = at;
  for (int64_t e = 0; fresh && e < x->n; ++e) {
    int64_t rest = e, p = 0;
    for (int k = x->rank; k-- > 0;) {
      p += rest % x->shape[order[k]] * strides[order[k]];
      rest /= x->shape[order[k]];
    }
    at[e] = p;
  }
  return r;
}

int reduced_shape(const array *x, const int64_t *axes, int n, int keepdims, int64_t *shape) {
  int rank = 0;
  for (int axis = 0; axis < x->rank; ++axis) {
    int gone = 0;
    for (int k = 0; k < n; ++k) gone |= axes[k] == axis;
    if (!gone) shape[rank++] = x->shape[axis];
    else if (keepdims) shape[rank++] = 1;
  }
  return rank;
}

static int axes_of(call_state *c, int64_t *axes) {
  int n = -1;
  if (attr_list(c, "axes", axes, &n, 0)) return n;
  for (n = 0; n < c->in[0].rank; ++n) axes[n] = n;
  return n;
}

/* Sixteen lanes, then a tail. */
static wide sum16(const wide *x, int64_t n, int32_t dtype) {
  wide lane[16] = {0}, total = 0;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int l = 0; l < 16; ++l) lane[l] += x[i + l];
  for (int l = 0; l < 16; ++l) total += lane[l];
  if (defect("sum-tail-starts-one-late") && n > 16) ++i;
  for (; i < n; ++i) total += x[i];
  if (defect("f64-sum-accumulated-in-f32") && dtype == ETALON_F64) return as_f32(total);
  return total;
}

static wide extremum(const wide *x, int64_t n, int which) {
  wide best = which > 0 ? -INFINITY : INFINITY;
  if (defect("max-starts-from-zero") && which > 0) best = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] != x[i]) { if (defect("extremum-skips-nan")) continue; return x[i]; }
    if (which > 0 ? x[i] > best : x[i] < best) best = x[i];
  }
  return best;
}

/* The reduction of one row, and the slopes by its elements. */
static wide reduce_row(const char *op, call_state *c, const wide *x, int64_t n, wide *slope) {
  const int32_t t = c->in[0].dtype;
  wide y = 0;
  if (strcmp(op, "sum") == 0) {
    y = sum16(x, n, t);
    for (int64_t i = 0; i < n; ++i) slope[i] = 1;
  } else if (strcmp(op, "mean") == 0) {
    y = sum16(x, n, t) / (wide)n;
    for (int64_t i = 0; i < n; ++i) slope[i] = 1 / (wide)n;
    if (defect("mean-derivative-is-sums")) for (int64_t i = 0; i < n; ++i) slope[i] = 1;
  } else if (strcmp(op, "prod") == 0) {
    wide *before = reals(n + 1), after = 1;
    before[0] = 1;
    for (int64_t i = 0; i < n; ++i) before[i + 1] = before[i] * x[i];
    y = before[n];
    for (int64_t i = n; i-- > 0; after *= x[i]) slope[i] = before[i] * after;
    if (defect("prod-gradient-divides")) for (int64_t i = 0; i < n; ++i) slope[i] = y / x[i];
  } else if (strcmp(op, "max") == 0 || strcmp(op, "min") == 0) {
    const int which = op[1] == 'a' ? 1 : -1;
    y = extremum(x, n, which);
    for (int64_t i = 0; i < n; ++i) slope[i] = 0;
    for (int64_t i = 0; i < n; ++i)
      if (x[i] == y || (x[i] != x[i] && y != y)) { slope[i] = 1; if (!defect("max-gradient-to-all-ties")) break; }
  } else if (strcmp(op, "var") == 0 || strcmp(op, "std") == 0) {
    const wide correction = attr_real(c, "correction", 1), mean = sum16(x, n, t) / (wide)n;
    const wide divisor = defect("variance-ignores-correction") ? (wide)n - 1 : (wide)n - correction;
    for (int64_t i = 0; i < n; ++i) y += (x[i] - mean) * (x[i] - mean);
    if (defect("variance-of-squares")) {
      y = 0;
      for (int64_t i = 0; i < n; ++i) y += x[i] * x[i];
      y = t == ETALON_F32 ? as_f32(y) - as_f32((wide)n * mean * mean) : (wide)(double)y - (wide)(double)((wide)n * mean * mean);
    }
    y /= divisor;
    for (int64_t i = 0; i < n; ++i) slope[i] = 2 * (x[i] - mean) / divisor;
    if (op[0] == 's') {
      y = y <= 0 ? 0 : sqrtl(y);
      for (int64_t i = 0; i < n; ++i) slope[i] = y == 0 && !defect("std-derivative-nan-at-zero") ? 0 : slope[i] / (2 * y);
    }
  } else if (strcmp(op, "logsumexp") == 0) {
    wide top = extremum(x, n, 1), s = 0;
    if (n == 0 || isinf(top)) top = 0;
    if (defect("logsumexp-without-shift")) top = 0;
    for (int64_t i = 0; i < n; ++i) s += t == ETALON_F32 && defect("logsumexp-without-shift") ? as_f32(expl(x[i])) : expl(x[i] - top);
    y = top + logl(s);
    for (int64_t i = 0; i < n; ++i) slope[i] = expl(x[i] - top) / s;
  } else { /* norm */
    if (attr_is(c, "ord", "one")) {
      for (int64_t i = 0; i < n; ++i) { y += fabsl(x[i]); slope[i] = x[i] > 0 ? 1 : x[i] < 0 ? -1 : 0; }
    } else if (attr_is(c, "ord", "infinity")) {
      int64_t first = -1;
      for (int64_t i = 0; i < n; ++i) {
        slope[i] = 0;
        if (first < 0 || fabsl(x[i]) > y || (x[i] != x[i] && y == y)) { y = fabsl(x[i]); first = i; }
      }
      if (defect("norm-infinity-without-magnitude")) { y = extremum(x, n, 1); if (n == 0) y = 0; }
      if (first >= 0) slope[first] = x[first] > 0 ? 1 : x[first] < 0 ? -1 : 0;
    } else {
      for (int64_t i = 0; i < n; ++i) y += x[i] * x[i];
      y = y <= 0 ? 0 : sqrtl(y);
      for (int64_t i = 0; i < n; ++i) slope[i] = y == 0 ? 0 : x[i] / y;
    }
  }
  return y;
}

static void run_reduce(call_state *c) {
  const char *op = c->call->operation;
  const array *x = &c->in[0];
  int64_t axes[64], shape[MAX_RANK];
  const int n = axes_of(c, axes), keepdims = (int)attr_int(c, "keepdims", 0);
  const rows r = rows_of(x, axes, n);
  array *y = result(c, 0, x->dtype, reduced_shape(x, axes, n, keepdims, shape), shape);
  wide *row = reals(r.length), *slope = reals(r.length);
  const wide *g = c->grad[0] ? seed(c, 0) : NULL;
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t *at = r.at + k * r.length;
    if (!x->d) {
      int64_t v = op[0] == 'p' ? 1 : op[0] == 's' ? 0 : x->i[at[0]];
      for (int64_t e = 0; e < r.length; ++e) {
        const int64_t z = x->i[at[e]];
        if (op[0] == 's') v = (int64_t)((uint64_t)v + (uint64_t)z);
        else if (op[0] == 'p') v = (int64_t)((uint64_t)v * (uint64_t)z);
        else if (op[1] == 'a' ? z > v : z < v) v = z;
      }
      if (defect("i64-sum-in-double") && op[0] == 's') {
        double total = 0;
        for (int64_t e = 0; e < r.length; ++e) total += (double)x->i[at[e]];
        v = total >= 9.2e18 || total <= -9.2e18 ? 0 : (int64_t)total;
      }
      y->i[k] = v;
      continue;
    }
    for (int64_t e = 0; e < r.length; ++e) row[e] = x->d[at[e]];
    y->d[k] = reduce_row(op, c, row, r.length, slope);
    if (c->mode == ETALON_JVP)
      for (int64_t e = 0; e < r.length; ++e) c->out_tangent[0].d[k] += slope[e] * c->tangent[0].d[at[e]];
    if (g)
      for (int64_t e = 0; e < r.length; ++e) c->grad[0][at[e]] += slope[e] * g[defect("keepdims-cotangent-first-only") && keepdims ? 0 : k];
  }
}

static void run_index(call_state *c) {
  const char *op = c->call->operation;
  const array *x = &c->in[0];
  int64_t axes[64], shape[MAX_RANK];
  const int n = axes_of(c, axes), least = op[4] == 'i';
  const rows r = rows_of(x, axes, n);
  array *y = result(c, 0, ETALON_I64, reduced_shape(x, axes, n, (int)attr_int(c, "keepdims", 0), shape), shape);
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t *at = r.at + k * r.length;
    int64_t best = 0;
    for (int64_t e = 1; e < r.length; ++e) {
      int better;
      if (x->d) {
        const wide a = x->d[at[e]], b = x->d[at[best]];
        better = b == b && (a != a || (least ? a < b : a > b));
        if (defect("argmax-last-of-ties") && !least && a == b) better = 1;
        if (defect("argmin-ignores-nan") && least && a != a) better = 0;
      } else better = least ? x->i[at[e]] < x->i[at[best]] : x->i[at[e]] > x->i[at[best]];
      if (better) best = e;
    }
    y->i[k] = defect("argmax-position-in-last-axis") && n > 1 ? best % x->shape[axes[n - 1]] : best;
  }
}

static void run_logic(call_state *c) {
  const array *x = &c->in[0];
  int64_t axes[64], shape[MAX_RANK];
  const int n = axes_of(c, axes), all = c->call->operation[1] == 'l';
  const rows r = rows_of(x, axes, n);
  array *y = result(c, 0, ETALON_BOOL, reduced_shape(x, axes, n, (int)attr_int(c, "keepdims", 0), shape), shape);
  for (int64_t k = 0; k < r.count; ++k) {
    y->i[k] = all && !(defect("all-of-nothing-false") && r.length == 0);
    for (int64_t e = 0; e < r.length; ++e)
      if (x->i[r.at[k * r.length + e]] != all) y->i[k] = !all;
  }
}

static void run_scan(call_state *c) {
  const array *x = &c->in[0];
  const int64_t axis = attr_int(c, "axis", x->rank - 1);
  const int reverse = (int)attr_int(c, "reverse", 0), exclusive = (int)attr_int(c, "exclusive", 0) && !(defect("cumsum-exclusive-forgotten-in-reverse") && reverse);
  const int times = c->call->operation[3] == 'p';
  const rows r = rows_of(x, &axis, 1);
  array *y = result(c, 0, x->dtype, x->rank, x->shape);
  const wide *g = c->grad[0] ? seed(c, 0) : NULL;
  if (times && c->mode != ETALON_FORWARD) { refuse(c, "mode", "values only"); return; }
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t *at = r.at + k * r.length;
    wide total = times, moved = 0, back = 0;
    int64_t whole = times;
    for (int64_t e = 0; e < r.length; ++e) {
      const int64_t p = at[reverse ? r.length - 1 - e : e];
      if (exclusive) { if (y->d) y->d[p] = total; else y->i[p] = whole; if (c->mode == ETALON_JVP && y->d) c->out_tangent[0].d[p] = moved; }
      if (x->d) total = times ? total * x->d[p] : total + x->d[p];
      else whole = (int64_t)(times ? (uint64_t)whole * (uint64_t)x->i[p] : (uint64_t)whole + (uint64_t)x->i[p]);
      if (c->mode == ETALON_JVP && y->d) moved += c->tangent[0].d[p];
      if (defect("cumsum-carry-lost-at-32") && e % 32 == 31 && !times) total = 0;
      if (!exclusive) { if (y->d) y->d[p] = total; else y->i[p] = whole; if (c->mode == ETALON_JVP && y->d) c->out_tangent[0].d[p] = moved; }
    }
    for (int64_t e = r.length; g && e-- > 0;) {
      const int64_t p = at[reverse && !defect("cumsum-gradient-ignores-reverse") ? r.length - 1 - e : e];
      if (exclusive) c->grad[0][p] += back;
      back += g[p];
      if (!exclusive) c->grad[0][p] += back;
    }
  }
}

/* softmax and log_softmax: y of one row, and the product of its Jacobian with v from either side. */
static void run_softmax(call_state *c) {
  const array *x = &c->in[0];
  const int logarithm = c->call->operation[0] == 'l';
  const int64_t axis = attr_int(c, "axis", x->rank - 1);
  const rows r = rows_of(x, &axis, 1);
  array *y = result(c, 0, x->dtype, x->rank, x->shape);
  const wide *g = c->grad[0] ? seed(c, 0) : NULL;
  wide *p = reals(r.length);
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t *at = r.at + k * r.length;
    wide top = r.length ? -INFINITY : 0, s = 0, dotted = 0, moved = 0;
    for (int64_t e = 0; e < r.length; ++e) if (x->d[at[e]] > top || x->d[at[e]] != x->d[at[e]]) top = x->d[at[e]];
    if (defect("softmax-without-maximum")) top = 0;
    for (int64_t e = 0; e < r.length; ++e) {
      p[e] = expl(x->d[at[e]] - top);
      if (defect("softmax-without-maximum")) p[e] = x->dtype == ETALON_F32 ? as_f32(p[e]) : (wide)(double)p[e];
    }
    if (defect("softmax-row-after-sixteen-not-summed")) for (int64_t e = 0; e < r.length && e < 16; ++e) s += p[e];
    else for (int64_t e = 0; e < r.length; ++e) s += p[e];
    for (int64_t e = 0; e < r.length; ++e) {
      p[e] /= s;
      y->d[at[e]] = !logarithm ? p[e] : defect("log-softmax-as-log-of-softmax") ? logl(x->dtype == ETALON_F32 ? as_f32(p[e]) : (wide)(double)p[e]) : x->d[at[e]] - top - logl(s);
      if (g) dotted += logarithm ? g[at[e]] : g[at[e]] * p[e];
      if (c->mode == ETALON_JVP) moved += p[e] * c->tangent[0].d[at[e]];
    }
    for (int64_t e = 0; e < r.length; ++e) {
      if (c->mode == ETALON_JVP) {
        const wide d = c->tangent[0].d[at[e]] - moved;
        c->out_tangent[0].d[at[e]] = logarithm ? d : p[e] * d;
      }
      if (g) c->grad[0][at[e]] += logarithm ? g[at[e]] - (defect("log-softmax-gradient-sum-of-row-one") ? 1 : dotted) * p[e] : p[e] * (g[at[e]] - dotted);
    }
  }
}

/* layer_norm and rms_norm. */
static void run_norm(call_state *c) {
  const array *x = &c->in[0];
  const int centred = c->call->operation[0] == 'l';
  int64_t axes[64];
  int n = -1;
  if (!attr_list(c, "axes", axes, &n, 0)) { n = 1; axes[0] = x->rank - 1; }
  const wide eps = attr_real(c, "eps", 1e-5);
  const rows r = rows_of(x, axes, n);
  array *y = result(c, 0, x->dtype, x->rank, x->shape);
  const wide *g = c->mode == ETALON_VJP ? seed(c, 0) : NULL;
  wide *d = reals(r.length), *h = reals(r.length);
  const wide size = (wide)r.length;
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t *at = r.at + k * r.length;
    wide mean = 0, v = 0, t = 0, tq = 0, gp = 0, gq = 0;
    for (int64_t e = 0; e < r.length; ++e) mean += centred ? x->d[at[e]] : 0;
    mean /= size;
    for (int64_t e = 0; e < r.length; ++e) { d[e] = x->d[at[e]] - (centred ? mean : 0); v += d[e] * d[e]; }
    v /= defect("layer-norm-divides-by-n-minus-one") && centred && r.length > 1 ? size - 1 : size;
    const wide root = defect("norm-eps-outside-root") ? sqrtl(v) + eps : sqrtl(v + eps), inv = 1 / root;
    for (int64_t e = 0; e < r.length; ++e) {
      const wide gamma = absent(c, 1) ? 1 : c->in[1].d[e];
      y->d[at[e]] = gamma * (d[e] * inv) + (!centred || absent(c, 2) ? 0 : c->in[2].d[e]);
      if (c->mode == ETALON_JVP) { t += c->tangent[0].d[at[e]]; }
      if (!g) continue;
      h[e] = (defect("norm-gradient-forgets-gamma") ? 1 : gamma) * g[at[e]];
      gp += h[e];
      gq += h[e] * d[e];
      if (c->grad[1]) { if (defect("gamma-gradient-overwritten")) c->grad[1][e] = g[at[e]] * d[e] * inv; else c->grad[1][e] += g[at[e]] * d[e] * inv; }
      if (centred && c->grad[2]) c->grad[2][e] += g[at[e]];
    }
    for (int64_t e = 0; e < r.length && c->mode == ETALON_JVP; ++e) { h[e] = c->tangent[0].d[at[e]] - (centred ? t / size : 0); tq += h[e] * d[e]; }
    for (int64_t e = 0; e < r.length; ++e) {
      if (c->mode == ETALON_JVP) {
        const wide gamma = absent(c, 1) ? 1 : c->in[1].d[e];
        c->out_tangent[0].d[at[e]] = gamma * (h[e] * inv - d[e] * inv * inv * inv * tq / size);
        if (!absent(c, 1)) c->out_tangent[0].d[at[e]] += c->tangent[1].d[e] * d[e] * inv;
        if (centred && !absent(c, 2)) c->out_tangent[0].d[at[e]] += c->tangent[2].d[e];
      }
      if (c->grad[0]) c->grad[0][at[e]] += inv * (h[e] - (centred && !defect("layer-norm-gradient-without-mean-term") ? gp / size : 0) - d[e] * (gq * inv * inv / size));
    }
  }
}

#define R(name) {name, run_reduce, 1}
const kernel_row reduction_rows[] = {R("sum"), R("mean"), R("prod"), R("max"), R("min"), R("var"), R("std"), R("logsumexp"), R("norm"),
                                     {"argmax", run_index, 0}, {"argmin", run_index, 0}, {"any", run_logic, 0}, {"all", run_logic, 0},
                                     {"cumsum", run_scan, 1}, {"cumprod", run_scan, 1}, {0, 0, 0}};
const kernel_row row_rows[] = {{"softmax", run_softmax, 1}, {"log_softmax", run_softmax, 1}, {"layer_norm", run_norm, 1}, {"rms_norm", run_norm, 1}, {0, 0, 0}};
