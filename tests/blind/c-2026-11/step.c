/* Optimizers, whose state comes and goes with the request, and schedules. */
#include "kernel.h"

typedef struct rates { wide lr, beta1, beta2, eps, decay; int64_t t; } rates;

static rates rates_of(call_state *c, int step_operand) {
  rates r = {attr_real(c, "lr", 0), attr_real(c, "beta1", 0.9), attr_real(c, "beta2", 0.999), attr_real(c, "eps", 1e-8), attr_real(c, "weight_decay", 0), 0};
  if (step_operand > 0) r.t = c->in[step_operand].i[0];
  if (defect("step-in-f32")) r.t = (int64_t)(float)r.t;
  if (defect("step-capped-at-1000") && r.t > 1000) r.t = 1000;
  return r;
}

static wide correction(wide beta, int64_t t) {
  if (defect("bias-correction-one-step-late")) return 1 - powl(beta, (wide)(t + 1));
  if (defect("bias-correction-powf")) return 1 - as_f32(powl(as_f32(beta), (wide)t));
  return 1 - powl(beta, (wide)t);
}

static array *like(call_state *c, int r) { return result(c, r, c->in[0].dtype, c->in[0].rank, c->in[0].shape); }

static void run_sgd(call_state *c) {
  const rates r = rates_of(c, 3);
  const wide momentum = attr_real(c, "momentum", 0), dampening = attr_real(c, "dampening", 0);
  const int nesterov = (int)attr_int(c, "nesterov", 0);
  array *q = like(c, 0), *m1 = like(c, 1);
  for (int64_t e = 0; e < q->n; ++e) {
    const wide p = c->in[0].d[e], d = c->in[1].d[e] + r.decay * p, m = c->in[2].d[e];
    const int first = (r.t == 1 && !defect("sgd-dampens-first-step")) || momentum == 0;
    const wide next = first ? d : momentum * m + (defect("sgd-dampening-ignored") ? 1 : 1 - dampening) * d;
    m1->d[e] = next;
    q->d[e] = p - r.lr * (nesterov ? d + momentum * (defect("sgd-nesterov-of-old-momentum") ? m : next) : next);
  }
}

static void run_adam(call_state *c) {
  const int decoupled = c->call->operation[4] == 'w' && !defect("adamw-decay-through-moments"), hat = (int)attr_int(c, "eps_hat", 0);
  rates r = rates_of(c, 4);
  array *q = like(c, 0), *m1 = like(c, 1), *v1 = like(c, 2);
  const wide c1 = correction(r.beta1, r.t), c2 = correction(r.beta2, r.t);
  for (int64_t e = 0; e < q->n; ++e) {
    const wide p = c->in[0].d[e], d = c->in[1].d[e] + (decoupled ? 0 : r.decay * p);
    const wide m = r.beta1 * c->in[2].d[e] + (1 - r.beta1) * d, v = r.beta2 * c->in[3].d[e] + (1 - r.beta2) * d * d;
    m1->d[e] = m;
    v1->d[e] = v;
    const wide used = defect("adam-divides-by-old-moment") ? c->in[3].d[e] : v;
    wide step = hat ? r.lr * sqrtl(c2) / c1 * (m / (sqrtl(used) + r.eps)) : r.lr * ((m / c1) / (sqrtl(used / c2) + r.eps));
    if (defect("adam-eps-inside-root") && !hat) step = r.lr * ((m / c1) / sqrtl(used / c2 + r.eps));
    if (defect("adam-eps-hat-ignored") && hat) step = r.lr * ((m / c1) / (sqrtl(used / c2) + r.eps));
    q->d[e] = (decoupled ? p * (1 - r.lr * r.decay) : p) - step;
  }
}

static void run_adagrad(call_state *c) {
  const rates r = rates_of(c, 3);
  const wide fall = attr_real(c, "lr_decay", 0);
  array *q = like(c, 0), *s1 = like(c, 1);
  for (int64_t e = 0; e < q->n; ++e) {
    const wide p = c->in[0].d[e], d = c->in[1].d[e] + r.decay * p;
    s1->d[e] = c->in[2].d[e] + d * d;
    q->d[e] = p - r.lr / (1 + (wide)(defect("adagrad-decay-counts-from-one") ? r.t : r.t - 1) * fall) * (d / (sqrtl(s1->d[e]) + r.eps));
  }
}

static void run_rmsprop(call_state *c) {
  const rates r = rates_of(c, 0);
  const wide alpha = attr_real(c, "alpha", 0.99), momentum = attr_real(c, "momentum", 0);
  const int centered = (int)attr_int(c, "centered", 0);
  array *q = like(c, 0), *v1 = like(c, 1), *a1 = like(c, 2), *m1 = like(c, 3);
  for (int64_t e = 0; e < q->n; ++e) {
    const wide p = c->in[0].d[e], d = c->in[1].d[e] + r.decay * p, a = c->in[3].d[e];
    const wide v = alpha * c->in[2].d[e] + (1 - alpha) * d * d, mean = centered ? alpha * a + (1 - alpha) * d : a;
    const wide spread = centered ? v - (defect("rmsprop-centred-by-old-mean") ? a * a : mean * mean) : v;
    const wide n = d / (defect("rmsprop-eps-inside-root") ? sqrtl(spread + r.eps) : sqrtl(spread) + r.eps);
    v1->d[e] = v;
    a1->d[e] = defect("rmsprop-mean-moves-uncentred") ? alpha * a + (1 - alpha) * d : mean;
    m1->d[e] = momentum == 0 ? n : momentum * c->in[4].d[e] + n;
    q->d[e] = p - r.lr * m1->d[e];
  }
}

static void run_adamax(call_state *c) {
  const rates r = rates_of(c, 4);
  array *q = like(c, 0), *m1 = like(c, 1), *u1 = like(c, 2);
  for (int64_t e = 0; e < q->n; ++e) {
    const wide p = c->in[0].d[e], d = c->in[1].d[e] + r.decay * p;
    m1->d[e] = r.beta1 * c->in[2].d[e] + (1 - r.beta1) * d;
    const wide old = r.beta2 * c->in[3].d[e], now = defect("adamax-signed-gradient") ? d + r.eps : fabsl(d) + r.eps;
    u1->d[e] = old != old || now != now ? NAN : old > now ? old : now;
    q->d[e] = p - r.lr / correction(r.beta1, r.t) * (m1->d[e] / u1->d[e]);
  }
}

static void run_lion(call_state *c) {
  const rates r = rates_of(c, 0);
  const wide beta2 = attr_real(c, "beta2", 0.99);
  array *q = like(c, 0), *m1 = like(c, 1);
  for (int64_t e = 0; e < q->n; ++e) {
    const wide p = c->in[0].d[e], g = c->in[1].d[e], m = c->in[2].d[e];
    m1->d[e] = beta2 * m + (1 - beta2) * g;
    const wide mixed = r.beta1 * (defect("lion-sign-of-new-momentum") ? m1->d[e] : m) + (1 - r.beta1) * g;
    q->d[e] = p * (1 - r.lr * r.decay) - r.lr * (mixed != mixed ? mixed : (mixed > 0) - (mixed < 0));
  }
}

static void run_staircase(call_state *c) {
  const int64_t step = c->in[0].i[0], every = attr_int(c, "every", 1), passed = step < 0 ? 0 : step;
  const int32_t dtype = attr_is(c, "dtype", "f64") ? ETALON_F64 : ETALON_F32;
  array *y = result(c, 0, dtype, 0, NULL);
  const wide stairs = defect("staircase-without-floor") ? (wide)passed / (wide)every : (wide)(passed / every);
  y->d[0] = attr_real(c, "initial", 1) * powl(attr_real(c, "gamma", 0.1), stairs);
}

static void run_cosine(call_state *c) {
  const int64_t step = c->in[0].i[0], steps = attr_int(c, "steps", 1);
  const wide first = attr_real(c, "initial", 1), last = attr_real(c, "final", 0), pi = acosl(-1);
  array *y = result(c, 0, attr_is(c, "dtype", "f64") ? ETALON_F64 : ETALON_F32, 0, NULL);
  const int64_t passed = step < 0 ? 0 : step;
  y->d[0] = first + (last - first) * (1 - cosl(pi * (wide)passed / (wide)steps)) / 2;
  if (step >= steps && !defect("cosine-schedule-rises-again")) y->d[0] = last;
}

const kernel_row step_rows[] = {{"sgd", run_sgd, 0}, {"adam", run_adam, 0}, {"adamw", run_adam, 0}, {"adagrad", run_adagrad, 0}, {"rmsprop", run_rmsprop, 0},
                                {"adamax", run_adamax, 0}, {"lion", run_lion, 0}, {"staircase_schedule", run_staircase, 0}, {"cosine_schedule", run_cosine, 0}, {0, 0, 0}};
