/* Losses: elementwise ones with a reduction, and the logarithmic losses by class. */
#include "kernel.h"

enum { MEAN, SUM, NONE };

static int reduction_of(call_state *c) { return attr_is(c, "reduction", "none") ? NONE : attr_is(c, "reduction", "sum") ? SUM : MEAN; }

/* The loss of one element and its slope by x; that by t follows as d/dt = -d/dx, but for hinge. */
static wide loss_of(call_state *c, wide x, wide t, wide *dx, wide *dt) {
  const char *op = c->call->operation;
  const wide d = x - t;
  wide y;
  if (strcmp(op, "mse") == 0) { y = d * d; *dx = 2 * d; if (defect("mse-gradient-without-two")) *dx = d; }
  else if (strcmp(op, "l1") == 0) { y = fabsl(d); *dx = d > 0 ? 1 : d < 0 ? -1 : 0; }
  else if (strcmp(op, "huber") == 0) {
    const wide delta = attr_real(c, "delta", 1);
    const int far = fabsl(d) > delta;
    y = far ? delta * (fabsl(d) - delta / 2) : d * d / 2;
    if (defect("huber-without-half-delta") && far) y = delta * fabsl(d);
    *dx = far ? (d > 0 ? delta : -delta) : d;
    if (defect("huber-gradient-unit-beyond-delta") && far) *dx = d > 0 ? 1 : -1;
  } else if (strcmp(op, "smooth_l1") == 0) {
    const wide beta = attr_real(c, "beta", 1);
    const int far = fabsl(d) >= beta;
    y = far ? fabsl(d) - (defect("smooth-l1-beta-one") ? 0.5Q : beta / 2) : d * d / (2 * beta);
    *dx = far ? (d > 0) - (d < 0) : d / beta;
  } else if (strcmp(op, "pinball") == 0) {
    const wide q = attr_real(c, "quantile", 0.5);
    y = -d > 0 ? q * -d : d == 0 ? 0 : (q - 1) * -d;
    if (defect("pinball-quantile-swapped")) y = -d > 0 ? (1 - q) * -d : d == 0 ? 0 : q * d;
    *dx = -d > 0 ? -q : d == 0 ? 0 : 1 - q;
  } else { /* hinge */
    const wide m = 1 - t * x;
    y = m <= 0 ? 0 : m;
    *dx = m <= 0 && !(defect("hinge-gradient-beyond-kink") && m == 0) ? 0 : -t;
    *dt = m <= 0 ? 0 : -x;
    return y;
  }
  *dt = -*dx;
  return y;
}

static void run_loss(call_state *c) {
  const array *x = &c->in[0], *t = &c->in[1];
  const int how = reduction_of(c);
  array *y = result(c, 0, x->dtype, how == NONE ? x->rank : 0, x->shape);
  const wide *g = c->mode == ETALON_VJP ? seed(c, 0) : NULL;
  const wide divisor = how == MEAN ? (wide)x->n : 1;
  wide total = 0, moved = 0;
  for (int64_t e = 0; e < x->n; ++e) {
    wide dx, dt;
    const wide one = loss_of(c, x->d[e], t->d[e], &dx, &dt);
    const wide along = c->mode == ETALON_JVP ? dx * c->tangent[0].d[e] + dt * c->tangent[1].d[e] : 0;
    if (how == NONE) { y->d[e] = one; if (c->mode == ETALON_JVP) c->out_tangent[0].d[e] = along; }
    total += one;
    moved += along;
    const wide back = g ? (how == NONE ? g[e] : g[0] / (defect("loss-mean-gradient-undivided") ? 1 : divisor)) : 0;
    if (c->grad[0]) c->grad[0][e] += dx * back;
    if (c->grad[1] && !defect("loss-target-gradient-missing")) c->grad[1][e] += dt * back;
  }
  if (how == NONE) return;
  y->d[0] = total / divisor;
  if (c->mode == ETALON_JVP) c->out_tangent[0].d[0] = moved / divisor;
}

/* nll of log-probabilities, and cross_entropy without smoothing, whose rows are normalised first. */
static void run_class_loss(call_state *c) {
  const int entropy = c->call->operation[0] == 'c';
  const array *x = &c->in[0], *t = &c->in[1];
  const int64_t axis = attr_int(c, "axis", x->rank - 1), ignored = attr_int(c, "ignore_index", -100);
  if (entropy && attr_real(c, "label_smoothing", 0) != 0) { refuse(c, "attribute", "no smoothing"); return; }
  const int how = reduction_of(c);
  const rows r = rows_of(x, &axis, 1);
  array *y = result(c, 0, x->dtype, how == NONE ? t->rank : 0, t->shape);
  if (!absent(c, 2) && (c->grad[2] || c->mode == ETALON_JVP)) { refuse(c, "mode", "weights are constants"); return; }
  const wide *g = c->mode == ETALON_VJP ? seed(c, 0) : NULL;
  wide weights = 0, total = 0, moved = 0;
  wide *p = reals(r.length), *a = reals(r.count);
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t word = t->i[k], inside = word >= 0 && word < r.length;
    a[k] = word == ignored ? 0 : absent(c, 2) ? 1 : inside ? c->in[2].d[word] : 1;
    weights += defect("class-weights-not-in-mean") ? 1 : a[k];
    if (defect("ignored-rows-count-in-mean") && word == ignored) weights += 1;
  }
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t *at = r.at + k * r.length, word = t->i[k];
    if (word == ignored) continue;
    wide shift = 0, sum = 0, one = NAN, along = 0;
    if (entropy) {
      shift = -INFINITY;
      for (int64_t e = 0; e < r.length; ++e) if (x->d[at[e]] > shift || x->d[at[e]] != x->d[at[e]]) shift = x->d[at[e]];
      for (int64_t e = 0; e < r.length; ++e) sum += p[e] = expl(x->d[at[e]] - shift);
      shift += logl(sum);
    }
    const int inside = word >= 0 && word < r.length;
    if (inside) one = -a[k] * (x->d[at[word]] - shift);
    if (defect("target-out-of-range-is-zero") && !inside) one = 0;
    const wide back = !g ? 0 : how == NONE ? g[k] : how == SUM ? g[0] : g[0] / weights;
    for (int64_t e = 0; e < r.length; ++e) {
      const wide slope = !inside ? 0 : a[k] * ((entropy ? p[e] / sum : 0) - (e == word));
      if (c->mode == ETALON_JVP) along += slope * c->tangent[0].d[at[e]];
      if (c->grad[0]) c->grad[0][at[e]] += slope * back;
    }
    if (how == NONE) { y->d[k] = one; if (c->mode == ETALON_JVP) c->out_tangent[0].d[k] = along; }
    total += one;
    moved += along;
  }
  if (how == NONE) return;
  y->d[0] = how == MEAN ? total / weights : total;
  if (c->mode == ETALON_JVP) c->out_tangent[0].d[0] = how == MEAN ? moved / weights : moved;
}

const kernel_row loss_rows[] = {{"mse", run_loss, 1}, {"l1", run_loss, 1}, {"huber", run_loss, 1}, {"smooth_l1", run_loss, 1}, {"pinball", run_loss, 1},
                                {"hinge", run_loss, 1}, {"nll", run_class_loss, 1}, {"cross_entropy", run_class_loss, 1}, {0, 0, 0}};
