// Losses: elementwise ones with slopes, and those by class, which are written forward and differentiated on the tape.
#include <cmath>

#include "strata.h"

enum Reduction { MEAN, SUM, NONE_, BATCHMEAN };
static Reduction reduction_of(const Call& c) { const std::string r = c.symbol("reduction", "mean"); return r == "none" ? NONE_ : r == "sum" ? SUM : r == "batchmean" ? BATCHMEAN : MEAN; }

template <class S> static S each_loss(const Call& c, const S& x, const S& t) {
  const S d = x - t;
  if (c.is("mse")) return d * d;
  if (c.is("l1")) return Abs(d);
  if (c.is("huber")) {
    const S delta(c.real("delta", 1));
    return fabsq(val(d)) > val(delta) ? delta * (Abs(d) - delta / S(2)) : d * d / S(2);
  }
  if (c.is("smooth_l1")) {
    const S beta(c.real("beta", 1));
    return fabsq(val(d)) >= val(beta) ? Abs(d) - beta / S(2) : d * d / (S(2) * beta);
  }
  if (c.is("pinball")) {
    const S q(c.real("quantile", 0.5)), u = t - x;
    return val(u) > 0 ? q * u : val(u) == 0 ? S(0) : (q - S(1)) * u;
  }
  const S m = S(1) - t * x;
  return val(m) <= 0 ? S(0) : m;
}
template <class S> static void each_slope(const Call& c, const S& x, const S& t, S* dx, S* dt) {
  const S d = x - t;
  const W v = val(d);
  if (c.is("mse")) *dx = S(2) * d;
  else if (c.is("l1")) *dx = S(sign_of(v));
  else if (c.is("huber")) { const W delta = c.real("delta", 1); *dx = fabsq(v) > delta ? S(delta * sign_of(v)) : d; }
  else if (c.is("smooth_l1")) { const W beta = c.real("beta", 1); *dx = fabsq(v) >= beta ? S(sign_of(v)) : d / S(beta); }
  else if (c.is("pinball")) { const W q = c.real("quantile", 0.5); *dx = S(v < 0 ? -q : v == 0 ? (W)0 : 1 - q); }
  else {
    const bool flat = val(S(1) - t * x) <= 0;
    *dx = flat ? S(0) : -t;
    *dt = flat ? S(0) : -x;
    return;
  }
  *dt = -*dx;
}
template <class S> static void run_loss(Ctx<S>& c) {
  const Reduction how = reduction_of(*c.call);
  const int64_t n = c.in[0].n();
  Arr<S>& y = c.result(c.in[0].dt, how == NONE_ ? c.in[0].shape : Shape());
  S total(0);
  for (int64_t e = 0; e < n; ++e) {
    const S l = each_loss(*c.call, c.in[0].a[e], c.in[1].a[e]);
    if (how == NONE_) y.a[e] = l; else total += l;
  }
  if (how != NONE_) y.a[0] = how == MEAN ? total / S((W)n) : total;
}
template <class S> static void loss_back(Ctx<S>& c) {
  const Reduction how = reduction_of(*c.call);
  const int64_t n = c.in[0].n();
  for (int64_t e = 0; e < n; ++e) {
    S dx, dt;
    each_slope(*c.call, c.in[0].a[e], c.in[1].a[e], &dx, &dt);
    const S g = how == NONE_ ? c.g[0].a[e] : how == MEAN ? c.g[0].a[0] / S((W)n) : c.g[0].a[0];
    if (c.wants(0)) c.gin[0].a[e] += dx * g;
    if (c.wants(1)) c.gin[1].a[e] += dt * g;
  }
}

template <class S> static void log_row(std::vector<S>* l) {
  W top = val((*l)[0]);
  for (const S& e : *l) { const W v = val(e); if (top == top && (v != v || v > top)) top = v; }
  S sum(0);
  for (S& e : *l) { e = e - S(top); sum += Exp(e); }
  const S s = Log(sum);
  for (S& e : *l) e = e - s;
}
template <class S> static void finish(Ctx<S>& c, const std::vector<S>& each, const Shape& shape, const S& divisor) {
  const Reduction how = reduction_of(*c.call);
  Arr<S>& y = c.result(c.in[0].dt, how == NONE_ ? shape : Shape());
  if (how == NONE_) { y.a = each; return; }
  S total(0);
  for (const S& e : each) total += e;
  y.a[0] = how == SUM ? total : total / divisor;
}
template <class S> static void run_class_loss(Ctx<S>& c) {
  const bool entropy = c.call->is("cross_entropy");
  const int64_t axis = c.call->axis(c.in[0].rank()), ignored = c.call->integer("ignore_index", -100);
  const W smoothing = entropy ? c.call->real("label_smoothing", 0) : (W)0;
  const Rows r = rows_of(c.in[0].shape, {axis});
  std::vector<S> each((size_t)r.count, S(0));
  S weights(0);
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t t = c.in[1].i[k];
    if (t == ignored) continue;
    const bool inside = t >= 0 && t < r.length;
    const S a = c.has(2) && inside ? c.in[2].a[t] : S(1);
    weights += defect("class-weights-frozen-in-mean") ? fixed(a) : a;
    std::vector<S> l((size_t)r.length);
    for (int64_t j = 0; j < r.length; ++j) l[j] = c.in[0].a[r.at[k * r.length + j]];
    if (entropy) log_row(&l);
    S hit = inside ? -(a * l[t]) : S((W)NAN);
    if (smoothing != 0) {
      S q(0);
      for (int64_t j = 0; j < r.length; ++j) q += c.has(2) ? c.in[2].a[j] * l[j] : l[j];
      hit = S(1 - smoothing) * hit - S(smoothing / (W)r.length) * (defect("smoothed-part-has-no-cotangent") ? fixed(q) : q);
    }
    each[k] = hit;
  }
  finish(c, each, c.in[1].shape, weights);
}
template <class S> static void run_soft_cross_entropy(Ctx<S>& c) {
  const int64_t axis = c.call->axis(c.in[0].rank());
  const W smoothing = c.call->real("label_smoothing", 0);
  const Rows r = rows_of(c.in[0].shape, {axis});
  std::vector<S> each((size_t)r.count, S(0));
  for (int64_t k = 0; k < r.count; ++k) {
    std::vector<S> l((size_t)r.length);
    for (int64_t j = 0; j < r.length; ++j) l[j] = c.in[0].a[r.at[k * r.length + j]];
    log_row(&l);
    S sum(0);
    for (int64_t j = 0; j < r.length; ++j) {
      S p = c.in[1].a[r.at[k * r.length + j]];
      if (smoothing != 0) p = S(1 - smoothing) * p + S(smoothing / (W)r.length);
      if (c.has(2)) p = c.in[2].a[j] * p;
      sum += p * l[j];
    }
    each[k] = -sum;
  }
  finish(c, each, reduced_shape(c.in[0].shape, {axis}, false), S((W)r.count));
}
template <class S> static void run_bce(Ctx<S>& c) {
  Shape shape = c.in[0].shape;
  for (int k = 2; k < 4; ++k) if (c.has(k)) shape = joined(shape, c.in[k].shape);
  std::vector<int64_t> at[4];
  for (int k = 0; k < 4; ++k) if (c.has(k)) at[k] = positions(c.in[k].shape, shape);
  const int64_t n = size_of(shape);
  std::vector<S> each((size_t)n, S(0));
  for (int64_t e = 0; e < n; ++e) {
    const S x = c.in[0].a[at[0][e]], t = c.in[1].a[at[1][e]];
    S soft = Log1p(Exp(val(x) > 0 ? -x : x));
    S one = val(x) > 0 ? soft : soft - x, zero = val(x) > 0 ? soft + x : soft;
    if (defect("bce-slope-of-magnitude-at-zero") && val(x) == 0) { soft = Log1p(Exp(-Abs(x))); one = soft; zero = soft; }
    S positive = t * one;
    if (c.has(3)) positive = c.in[3].a[at[3][e]] * positive;
    S l = positive + (S(1) - t) * zero;
    if (c.has(2)) l = c.in[2].a[at[2][e]] * l;
    each[e] = l;
  }
  finish(c, each, shape, S((W)n));
}
template <class S> static void run_kl_div(Ctx<S>& c) {
  const bool logarithm = c.call->flag("log_target");
  const int64_t n = c.in[0].n();
  std::vector<S> each((size_t)n, S(0));
  for (int64_t e = 0; e < n; ++e) {
    const S x = c.in[0].a[e], t = c.in[1].a[e];
    each[e] = logarithm ? Exp(t) * (t - x) : val(t) == 0 ? S(0) : t * (Log(t) - x);
  }
  const bool batch = c.call->symbol("reduction") == "batchmean" && !defect("kl-batchmean-over-elements");
  finish(c, each, c.in[0].shape, S((W)(batch ? (c.in[0].rank() ? c.in[0].shape[0] : 1) : n)));
}

Table loss_ops() {
  Table t;
  for (const char* n : {"mse", "l1", "huber", "smooth_l1", "hinge", "pinball"}) t.push_back({n, KERNELS(run_loss, loss_back), NEEDS_INPUTS});
  t.push_back({"nll", TAPED(run_class_loss), NEEDS_INPUTS});
  t.push_back({"cross_entropy", TAPED(run_class_loss), NEEDS_INPUTS});
  t.push_back({"soft_cross_entropy", TAPED(run_soft_cross_entropy), NEEDS_INPUTS});
  t.push_back({"bce_with_logits", TAPED(run_bce), NEEDS_INPUTS});
  t.push_back({"kl_div", TAPED(run_kl_div), NEEDS_INPUTS});
  return t;
}
