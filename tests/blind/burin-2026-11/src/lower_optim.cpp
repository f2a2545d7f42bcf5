// Optimizer steps and schedules.
#include "lower.h"

namespace {

using R = std::vector<V>;

V integer_as(V t, V like) { return convert(t, like.dt()); }
V root(V x) { return un(Fn::sqrt, x); }
V decay_power(Real beta, V t) { return ew(Fn::pow, t.dt(), {lit(beta, t), t}); }
V decayed(const Call& c) {
  return c.x[1] + c.a.num("weight_decay", 0) * c.x[0];
}

R sgd(const Call& c) {
  V p = c.x[0], d = decayed(c), m = c.x[2];
  Real lr = c.a.num("lr"), momentum = c.a.num("momentum", 0), dampening = c.a.num("dampening", 0);
  V m1 = d;
  if (momentum != 0) {
    V first = cmp(Fn::eq, c.x[3], lit(1, c.x[3]));
    V start = BUG(sgd_first_step_dampened) ? (1 - dampening) * d : d;
    m1 = select(first, start, momentum * m + (1 - dampening) * d);
  }
  V step = c.a.flag("nesterov") ? d + momentum * m1 : m1;
  return {p - lr * step, m1};
}

struct Moments {
  V p, d, m1, v1, t, c1, c2;
  Real lr, eps;
  Moments(const Call& c, V gradient, std::size_t at) {
    Real b1 = c.a.num("beta1", 0.9), b2 = c.a.num("beta2", 0.999);
    p = c.x[0];
    d = gradient;
    lr = c.a.num("lr");
    eps = c.a.num("eps", 1e-8);
    m1 = b1 * c.x[2] + (1 - b1) * d;
    v1 = b2 * c.x[3] + (1 - b2) * d * d;
    t = integer_as(c.x[at], p);
    c1 = 1 - decay_power(b1, t);
    c2 = 1 - decay_power(b2, t);
  }
  V step(V v, bool eps_hat) const {
    if (BUG(adam_eps_hat_corrected) && eps_hat) return lr * root(c2) / c1 * (m1 / (root(v) + eps * root(c2)));
    if (eps_hat) return lr * root(c2) / c1 * (m1 / (root(v) + eps));
    return lr * ((m1 / c1) / (root(v / c2) + eps));
  }
};
R adam(const Call& c) {
  Moments s(c, decayed(c), 4);
  return {s.p - s.step(s.v1, c.a.flag("eps_hat")), s.m1, s.v1};
}
R adamw(const Call& c) {
  Moments s(c, c.x[1], 4);
  Real w = c.a.num("weight_decay", 0.01);
  V step = s.step(s.v1, c.a.flag("eps_hat"));
  if (BUG(adamw_decay_after_step)) return {(s.p - step) * (1 - s.lr * w), s.m1, s.v1};
  return {s.p * (1 - s.lr * w) - step, s.m1, s.v1};
}
R amsgrad(const Call& c) {
  Moments s(c, decayed(c), 5);
  V w1 = ew(Fn::maximum, s.p.dt(), {c.x[4], s.v1});
  V used = BUG(amsgrad_uses_previous_maximum) ? select(cmp(Fn::gt, c.x[4], lit(0, c.x[4])), c.x[4], w1) : w1;
  return {s.p - s.step(used, c.a.flag("eps_hat")), s.m1, s.v1, w1};
}
R nadam(const Call& c) {
  Moments s(c, decayed(c), 5);
  V mu = c.x[4], t = s.t;
  Real b1 = c.a.num("beta1", 0.9), decay = c.a.num("momentum_decay", 4e-3);
  V base = lit(0.96Q, t);
  V a = b1 * (1 - 0.5Q * ew(Fn::pow, t.dt(), {base, t * decay}));
  V b = b1 * (1 - 0.5Q * ew(Fn::pow, t.dt(), {base, (t + 1) * decay}));
  V mu1 = mu * a;
  V later = BUG(nadam_next_momentum_left_out) ? 1 - mu1 : 1 - mu1 * b;
  V n = (1 - a) / (1 - mu1) * s.d + b / later * s.m1;
  return {s.p - s.lr * (n / (root(s.v1 / s.c2) + s.eps)), s.m1, s.v1, mu1};
}
R radam(const Call& c) {
  Moments s(c, decayed(c), 4);
  Real b2 = c.a.num("beta2", 0.999), top = 2 / (1 - b2) - 1;
  V k = un(Fn::expm1, s.t * logq(b2));
  V rho = top + 2 * s.t * ((1 + k) / k);
  V inner = (rho - 4) / (top - 4) * ((rho - 2) / (top - 2)) * (top / rho);
  V on = cmp(Fn::gt, rho, lit(BUG(radam_threshold_four) ? 4 : 5, rho));
  V r = select(on, root(select(on, inner, lit(1, rho))), lit(0, rho));
  V full = r * (root(-k) / (root(s.v1) + s.eps));
  return {s.p - s.lr * (s.m1 / s.c1) * select(cmp(Fn::gt, r, lit(0, r)), full, lit(1, full)), s.m1, s.v1};
}
R adamax(const Call& c) {
  V p = c.x[0], d = decayed(c), m = c.x[2], u = c.x[3], t = integer_as(c.x[4], p);
  Real b1 = c.a.num("beta1", 0.9), b2 = c.a.num("beta2", 0.999), eps = c.a.num("eps", 1e-8);
  V m1 = b1 * m + (1 - b1) * d, u1 = ew(Fn::maximum, p.dt(), {b2 * u, un(Fn::abs, d) + eps});
  return {p - c.a.num("lr") / (1 - decay_power(b1, t)) * (m1 / u1), m1, u1};
}
R lion(const Call& c) {
  V p = c.x[0], g1 = c.x[1], m = c.x[2];
  Real b1 = c.a.num("beta1", 0.9), b2 = c.a.num("beta2", 0.99), lr = c.a.num("lr"), w = c.a.num("weight_decay", 0);
  V m1 = b2 * m + (1 - b2) * g1;
  V direction = BUG(lion_sign_of_new_momentum) ? m1 : b1 * m + (1 - b1) * g1;
  return {p * (1 - lr * w) - lr * un(Fn::sign, direction), m1};
}
R adagrad(const Call& c) {
  V p = c.x[0], d = decayed(c), s1 = c.x[2] + d * d, t = integer_as(c.x[3], p);
  Real eps = c.a.num("eps", 1e-10), decay = c.a.num("lr_decay", 0);
  return {p - c.a.num("lr") / (1 + (t - 1) * decay) * (d / (root(s1) + eps)), s1};
}
R rmsprop(const Call& c) {
  V p = c.x[0], d = decayed(c), a = c.x[3], m = c.x[4];
  Real alpha = c.a.num("alpha", 0.99), eps = c.a.num("eps", 1e-8), momentum = c.a.num("momentum", 0);
  bool centered = c.a.flag("centered");
  V v1 = alpha * c.x[2] + (1 - alpha) * d * d, a1 = centered ? alpha * a + (1 - alpha) * d : a;
  V v = centered ? v1 - (BUG(rmsprop_centered_by_old_mean) ? a * a : a1 * a1) : v1;
  V n = d / (root(v) + eps);
  V m1 = momentum == 0 ? n : momentum * m + n;
  return {p - c.a.num("lr") * m1, v1, a1, m1};
}
R adadelta(const Call& c) {
  V p = c.x[0], d = decayed(c), u = c.x[3];
  Real rho = c.a.num("rho", 0.9), eps = c.a.num("eps", 1e-6);
  V v1 = rho * c.x[2] + (1 - rho) * d * d;
  V n = root(u + eps) / root(v1 + eps) * d;
  V u1 = rho * u + (1 - rho) * n * n;
  return {p - c.a.num("lr", 1) * n, v1, u1};
}
R clip_by_norm(const Call& c) {
  Real eps = c.a.num("eps", 0), limit = c.a.num("max_norm");
  V s;
  R r;
  for (V x : c.x) {
    V part = sum(x * x, iota_dims(x.rank()));
    s = s ? s + part : part;
  }
  for (V x : c.x) {
    V n = un(Fn::sqrt0, s) + eps;
    V inside = cmp(Fn::le, n, lit(limit, n));
    r.push_back(select(inside, lit(1, n), limit / select(inside, lit(1, n), n)) * x);
  }
  return r;
}
R normalize_gradient(const Call& c) {
  V x = c.x[0];
  return {x / (un(Fn::sqrt0, sum(x * x, iota_dims(x.rank()))) + c.a.num("eps", 1e-8))};
}

struct Schedule {
  V step, past, share;
  Real initial, final;
  Schedule(const Call& c, DT dt) {
    step = c.x[0];
    Int steps = c.a.integer("steps", 1);
    past = cmp(Fn::ge, step, lit(Real(steps), step));
    V at = ew(Fn::maximum, step.dt(), {step, lit(0, step)});
    share = convert(at, dt) / Real(steps);
    initial = c.a.num("initial", 0);
    final = c.a.num("final", 0);
  }
};
DT kind(const Call& c) { return c.a.dtype("dtype", DT::f32); }
V from_zero(V step) {
  return ew(Fn::maximum, step.dt(), {step, lit(0, step)});
}
R constant_schedule(const Call& c) { return {scalar(c.a.num("value"), kind(c))}; }
R linear_schedule(const Call& c) {
  Schedule s(c, kind(c));
  return {select(s.past, lit(s.final, s.share), s.initial + (s.final - s.initial) * s.share)};
}
R cosine_schedule(const Call& c) {
  Schedule s(c, kind(c));
  V wave = s.final + (s.initial - s.final) * ((1 + un(Fn::cos, M_PIq * s.share)) / 2);
  return {BUG(cosine_schedule_rises_again) ? wave : select(s.past, lit(s.final, wave), wave)};
}
R warmup_schedule(const Call& c) {
  Schedule s(c, c.x[1].dt());
  V line = s.initial + (c.a.num("peak") - s.initial) * s.share;
  return {select(s.past, c.x[1], line)};
}
V geometric(const Call& c, V count) {
  V n = convert(count, kind(c));
  return c.a.num("initial") * ew(Fn::pow, n.dt(), {lit(c.a.num("gamma", 0.1), n), n});
}
R staircase_schedule(const Call& c) {
  V at = from_zero(c.x[0]);
  return {geometric(c, ew(Fn::fdiv, at.dt(), {at, lit(Real(c.a.integer("every", 1)), at)}))};
}
R multistep_schedule(const Call& c) {
  V m = convert(c.x[1], DT::i64), step = convert(c.x[0], DT::i64);
  V reached = cmp(BUG(multistep_milestone_not_reached) ? Fn::lt : Fn::le, m, step);
  return {geometric(c, sum(convert(reached, DT::i64), {0}))};
}
R exponential_schedule(const Call& c) { return {geometric(c, from_zero(c.x[0]))}; }

const Register rows{
    {"sgd", sgd}, {"adam", adam}, {"adamw", adamw}, {"amsgrad", amsgrad}, {"nadam", nadam}, {"radam", radam},
    {"adamax", adamax}, {"lion", lion}, {"adagrad", adagrad}, {"rmsprop", rmsprop}, {"adadelta", adadelta},
    {"clip_by_norm", clip_by_norm}, {"normalize_gradient", normalize_gradient},
    {"constant_schedule", constant_schedule}, {"linear_schedule", linear_schedule},
    {"cosine_schedule", cosine_schedule}, {"warmup_schedule", warmup_schedule},
    {"staircase_schedule", staircase_schedule}, {"multistep_schedule", multistep_schedule},
    {"exponential_schedule", exponential_schedule}};

}  // namespace
