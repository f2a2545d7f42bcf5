// Optimizers, whose state comes and goes with the request, what is done to gradients before a step, and schedules.
#include <algorithm>
#include <cmath>

#include "strata.h"

struct Rates { W lr, beta1, beta2, eps, decay; W t; };
template <class S> static Rates rates_of(const Ctx<S>& c, int step) {
  const Call& k = *c.call;
  return {k.real("lr", 0), k.real("beta1", 0.9), k.real("beta2", k.is("lion") ? 0.99 : 0.999), k.real("eps", 1e-8), k.real("weight_decay", 0), step > 0 ? (W)c.in[step].i[0] : (W)0};
}
template <class S> static std::vector<Arr<S>> states(const Ctx<S>& c, int n) { return std::vector<Arr<S>>((size_t)n, make<S>(c.in[0].dt, c.in[0].shape)); }
template <class S> static void give(Ctx<S>& c, std::vector<Arr<S>>& y) { for (auto& a : y) c.out.push_back(a); }

template <class S> static void run_sgd(Ctx<S>& c) {
  const Rates r = rates_of(c, 3);
  const W momentum = c.call->real("momentum", 0), dampening = c.call->real("dampening", 0);
  const bool nesterov = c.call->flag("nesterov");
  auto y = states(c, 2);
  for (int64_t e = 0; e < c.in[0].n(); ++e) {
    const S p = c.in[0].a[e], d = c.in[1].a[e] + S(r.decay) * p;
    const S m = r.t == 1 || momentum == 0 ? d : S(momentum) * c.in[2].a[e] + S(1 - dampening) * d;
    y[1].a[e] = m;
    const S g = defect("sgd-nesterov-looks-from-the-bare-gradient") ? c.in[1].a[e] : d;
    y[0].a[e] = p - S(r.lr) * (nesterov ? g + S(momentum) * m : m);
  }
  give(c, y);
}
template <class S> static void run_adam(Ctx<S>& c) {  // adam, adamw, amsgrad
  const bool decoupled = c.call->is("adamw"), ams = c.call->is("amsgrad"), hat = c.call->flag("eps_hat");
  const Rates r = rates_of(c, ams ? 5 : 4);
  const W c1 = 1 - Pow(r.beta1, r.t), c2 = 1 - Pow(r.beta2, r.t);
  auto y = states(c, ams ? 4 : 3);
  for (int64_t e = 0; e < c.in[0].n(); ++e) {
    const S p = c.in[0].a[e], d = decoupled ? c.in[1].a[e] : c.in[1].a[e] + S(r.decay) * p;
    const S m = S(r.beta1) * c.in[2].a[e] + S(1 - r.beta1) * d, v = S(r.beta2) * c.in[3].a[e] + S(1 - r.beta2) * d * d;
    y[1].a[e] = m;
    y[2].a[e] = v;
    S u = v;
    if (ams) {
      u = Maximum(c.in[4].a[e], defect("amsgrad-maximum-of-old-average") ? c.in[3].a[e] : v);
      y[3].a[e] = u;
    }
    const S step = hat ? S(r.lr * (defect("eps-hat-corrects-without-root") ? c2 : sqrtq(c2)) / c1) * (m / (Sqrt(u) + S(r.eps))) : S(r.lr) * ((m / S(c1)) / (Sqrt(u / S(c2)) + S(r.eps)));
    const int64_t n = c.in[0].n();
    const bool tail = defect("adamw-tail-without-decay") && e >= n / 8 * 8;
    y[0].a[e] = (decoupled && !tail ? p * S(1 - r.lr * r.decay) : p) - step;
  }
  give(c, y);
}
template <class S> static void run_nadam(Ctx<S>& c) {
  const Rates r = rates_of(c, 5);
  const W fall = c.call->real("momentum_decay", 4e-3);
  const W a = r.beta1 * (1 - 0.5Q * Pow((W)0.96, r.t * fall)), b = r.beta1 * (1 - 0.5Q * Pow((W)0.96, (r.t + 1) * fall));
  const S mu1 = c.in[4].a[0] * S(a);
  auto y = states(c, 3);
  for (int64_t e = 0; e < c.in[0].n(); ++e) {
    const S p = c.in[0].a[e], d = c.in[1].a[e] + S(r.decay) * p;
    const S m = S(r.beta1) * c.in[2].a[e] + S(1 - r.beta1) * d, v = S(r.beta2) * c.in[3].a[e] + S(1 - r.beta2) * d * d;
    const S n = S(1 - a) / (S(1) - mu1) * d + S(b) / (S(1) - (defect("nadam-counts-a-momentum-twice") ? mu1 * S(a) : mu1) * S(b)) * m;
    y[1].a[e] = m;
    y[2].a[e] = v;
    y[0].a[e] = p - S(r.lr) * (n / (Sqrt(v / S(1 - Pow(r.beta2, r.t))) + S(r.eps)));
  }
  give(c, y);
  Arr<S> mu = make<S>(c.in[4].dt, {});
  mu.a[0] = mu1;
  c.out.push_back(mu);
}
template <class S> static void run_radam(Ctx<S>& c) {
  const Rates r = rates_of(c, 4);
  const W c1 = 1 - Pow(r.beta1, r.t), k = expm1q(r.t * logq(r.beta2)), top = 2 / (1 - r.beta2) - 1;
  const W rho = top + 2 * r.t * ((1 + k) / k);
  const W s = rho > (defect("radam-rectifies-from-four") ? 4 : 5) ? sqrtq(((rho - 4) / (top - 4)) * ((rho - 2) / (top - 2)) * (top / rho)) : (W)0;
  auto y = states(c, 3);
  for (int64_t e = 0; e < c.in[0].n(); ++e) {
    const S p = c.in[0].a[e], d = c.in[1].a[e] + S(r.decay) * p;
    const S m = S(r.beta1) * c.in[2].a[e] + S(1 - r.beta1) * d, v = S(r.beta2) * c.in[3].a[e] + S(1 - r.beta2) * d * d;
    y[1].a[e] = m;
    y[2].a[e] = v;
    const S q = S(r.lr) * (m / S(c1));
    y[0].a[e] = p - (s > 0 ? q * (S(s) * (S(sqrtq(-k)) / (Sqrt(v) + S(r.eps)))) : q);
  }
  give(c, y);
}
template <class S> static void run_adamax(Ctx<S>& c) {
  const Rates r = rates_of(c, 4);
  auto y = states(c, 3);
  for (int64_t e = 0; e < c.in[0].n(); ++e) {
    const S p = c.in[0].a[e], d = c.in[1].a[e] + S(r.decay) * p;
    y[1].a[e] = S(r.beta1) * c.in[2].a[e] + S(1 - r.beta1) * d;
    y[2].a[e] = Maximum(S(r.beta2) * c.in[3].a[e], Abs(d) + S(r.eps));
    y[0].a[e] = p - S(r.lr / (1 - Pow(r.beta1, r.t))) * (y[1].a[e] / y[2].a[e]);
  }
  give(c, y);
}
template <class S> static void run_lion(Ctx<S>& c) {
  const Rates r = rates_of(c, 0);
  auto y = states(c, 2);
  for (int64_t e = 0; e < c.in[0].n(); ++e) {
    const S p = c.in[0].a[e], g = c.in[1].a[e], m = c.in[2].a[e];
    y[1].a[e] = S(r.beta2) * m + S(1 - r.beta2) * g;
    const W way = sign_of(val(S(r.beta1) * m + S(1 - r.beta1) * g));
    y[0].a[e] = p * S(1 - (defect("lion-decay-without-rate") ? r.decay : r.lr * r.decay)) - S(r.lr * way);
  }
  give(c, y);
}
template <class S> static void run_adagrad(Ctx<S>& c) {
  Rates r = rates_of(c, 3);
  r.eps = c.call->real("eps", 1e-10);
  const W rate = r.lr / (1 + (r.t - 1) * c.call->real("lr_decay", 0));
  auto y = states(c, 2);
  for (int64_t e = 0; e < c.in[0].n(); ++e) {
    const S p = c.in[0].a[e], d = c.in[1].a[e] + S(r.decay) * p;
    const S s = c.in[2].a[e] + d * d;
    y[1].a[e] = s;
    y[0].a[e] = p - S(rate) * (d / (Sqrt(s) + S(r.eps)));
  }
  give(c, y);
}
template <class S> static void run_rmsprop(Ctx<S>& c) {
  const Rates r = rates_of(c, 0);
  const W alpha = c.call->real("alpha", 0.99), momentum = c.call->real("momentum", 0);
  const bool centered = c.call->flag("centered");
  auto y = states(c, 4);
  for (int64_t e = 0; e < c.in[0].n(); ++e) {
    const S p = c.in[0].a[e], d = c.in[1].a[e] + S(r.decay) * p;
    const S v = S(alpha) * c.in[2].a[e] + S(1 - alpha) * d * d;
    const S a = centered ? S(alpha) * c.in[3].a[e] + S(1 - alpha) * d : c.in[3].a[e];
    const S n = d / (Sqrt(centered ? v - a * a : v) + S(r.eps));
    const S m = momentum == 0 ? n : S(momentum) * c.in[4].a[e] + (defect("rmsprop-dampens-momentum") ? S(1 - momentum) * n : n);
    y[1].a[e] = v;
    y[2].a[e] = a;
    y[3].a[e] = m;
    y[0].a[e] = p - S(r.lr) * m;
  }
  give(c, y);
}
template <class S> static void run_adadelta(Ctx<S>& c) {
  const W lr = c.call->real("lr", 1), rho = c.call->real("rho", 0.9), eps = c.call->real("eps", 1e-6), decay = c.call->real("weight_decay", 0);
  auto y = states(c, 3);
  for (int64_t e = 0; e < c.in[0].n(); ++e) {
    const S p = c.in[0].a[e], d = c.in[1].a[e] + S(decay) * p;
    const S v = S(rho) * c.in[2].a[e] + S(1 - rho) * d * d;
    S n = Sqrt(c.in[3].a[e] + S(eps)) / Sqrt(v + S(eps)) * d;
    if (defect("adadelta-reads-moved-steps")) { const S u = S(rho) * c.in[3].a[e] + S(1 - rho) * n * n; n = Sqrt(u + S(eps)) / Sqrt(v + S(eps)) * d; }
    y[1].a[e] = v;
    y[2].a[e] = S(rho) * c.in[3].a[e] + S(1 - rho) * n * n;
    y[0].a[e] = p - S(lr) * n;
  }
  give(c, y);
}

// ---- gradients before a step ------------------------------------------------------------------------------------
template <class S> static void run_clip_by_norm(Ctx<S>& c) {
  const W limit = c.call->real("max_norm"), eps = c.call->real("eps", 0);
  S s(0);
  for (const auto& x : c.in) { for (const S& e : x.a) s += e * e; if (defect("clip-by-norm-of-the-first")) break; }
  const S n = (val(s) <= 0 ? S(0) : Sqrt(s)) + S(eps);
  const S f = val(n) <= limit ? S(1) : S(limit) / n;
  for (const auto& x : c.in) { Arr<S> y = x; for (S& e : y.a) e = f * e; c.out.push_back(y); }
}
template <class S> static void run_clip_by_value(Ctx<S>& c) {
  const W limit = c.call->real("limit");
  Arr<S> y = c.in[0];
  for (S& e : y.a) e = val(e) > limit ? S(limit) : val(e) < -limit ? S(-limit) : e;
  c.out.push_back(y);
}
template <class S> static void run_normalize(Ctx<S>& c) {
  S s(0);
  for (const S& e : c.in[0].a) s += e * e;
  const S n = (val(s) <= 0 && !defect("normalize-slope-of-root-at-zero") ? S(0) : Sqrt(s)) + S(c.call->real("eps", 1e-8));
  Arr<S> y = c.in[0];
  for (S& e : y.a) e = e / n;
  c.out.push_back(y);
}

// ---- schedules --------------------------------------------------------------------------------------------------
template <class S> static void run_schedule(Ctx<S>& c) {
  const Call& k = *c.call;
  const int64_t step = c.in[0].i[0], passed = step < 0 ? 0 : step, steps = k.integer("steps", 1);
  const W initial = k.real("initial", 0), final = k.real("final", 0), gamma = k.real("gamma", 0.1);
  Arr<S>& y = c.result(k.is("warmup_schedule") ? c.in[1].dt : k.dtype(F32), {});
  if (k.is("constant_schedule")) y.a[0] = S(k.real("value"));
  else if (k.is("linear_schedule")) y.a[0] = S(step >= steps && !defect("linear-schedule-goes-on") ? final : initial + (final - initial) * ((W)passed / (W)steps));
  else if (k.is("cosine_schedule")) y.a[0] = S(step >= steps ? final : final + (initial - final) * ((1 + cosq(PI_W * ((W)passed / (W)steps))) / 2));
  else if (k.is("warmup_schedule")) y.a[0] = step >= steps ? c.in[1].a[0] : S(initial + (k.real("peak") - initial) * ((W)passed / (W)steps));
  else if (k.is("staircase_schedule")) y.a[0] = S(initial * Pow(gamma, (W)(passed / k.integer("every", 1))));
  else if (k.is("multistep_schedule")) {
    int64_t reached = 0;
    for (int64_t m : c.in[1].i) reached += m <= step;
    if (defect("milestones-by-bisection")) reached = std::upper_bound(c.in[1].i.begin(), c.in[1].i.end(), step) - c.in[1].i.begin();
    y.a[0] = S(initial * Pow(gamma, (W)reached));
  } else y.a[0] = S(initial * Pow(gamma, (W)passed));
}

Table step_ops() {
  Table t = {{"sgd", TAPED(run_sgd), 0}, {"adam", TAPED(run_adam), 0}, {"adamw", TAPED(run_adam), 0}, {"amsgrad", TAPED(run_adam), 0}, {"nadam", TAPED(run_nadam), 0},
             {"radam", TAPED(run_radam), 0}, {"adamax", TAPED(run_adamax), 0}, {"lion", TAPED(run_lion), 0}, {"adagrad", TAPED(run_adagrad), 0}, {"rmsprop", TAPED(run_rmsprop), 0},
             {"adadelta", TAPED(run_adadelta), 0}, {"clip_by_norm", TAPED(run_clip_by_norm), 0}, {"clip_by_value", TAPED(run_clip_by_value), 0}, {"normalize_gradient", TAPED(run_normalize), 0},
             {"warmup_schedule", TAPED(run_schedule), 0}};
  for (const char* n : {"constant_schedule", "linear_schedule", "cosine_schedule", "staircase_schedule", "multistep_schedule", "exponential_schedule"}) t.push_back({n, FLAT(run_schedule), 0});
  return t;
}
