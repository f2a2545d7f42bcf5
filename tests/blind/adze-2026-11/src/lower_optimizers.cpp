// Optimizer steps, gradients before them, and schedules.
#include "lower.h"

namespace adze {

namespace {

using R = std::vector<T>;

T power(T base, T t) { return bin(Op::Pow, base, real(t)); }
T decayed(const Call& c) { return c.in(1) + c.num("weight_decay", 0.0) * c.in(0); }
T is_zero(T x) { return bin(Op::Eq, x, K(0)); }

R sgd(const Call& c) {
  T p = c.in(0), t = c.in(3), d = decayed(c), momentum = c.num("momentum", 0.0);
  T first = bin(Op::Or, bin(Op::Eq, t, K(1, {}, t.dt())), is_zero(momentum));
  T m = select(first, d, momentum * select(first, K(0), c.in(2)) + (K(1) - c.num("dampening", 0.0)) * d);
  T step = c.flag("nesterov", false) ? (bug("sgd_nesterov_uses_old_momentum") ? d + momentum * c.in(2) : d + momentum * m) : m;
  return {p - c.num("lr", 0) * step, m};
}

struct Moments { T d, m, v, c1, c2, eps, lr; bool hat; };

Moments moments(const Call& c, T d, std::size_t t) {
  T b1 = c.num("beta1", 0.9), b2 = c.num("beta2", 0.999);
  Moments r{d, b1 * c.in(2) + (K(1) - b1) * d, b2 * c.in(3) + (K(1) - b2) * d * d, {}, {}, c.num("eps", 1e-8), c.num("lr", 0),
            c.flag("eps_hat", false)};
  T step = c.in(t);
  r.c1 = K(1) - power(b1, step);
  r.c2 = K(1) - power(b2, step);
  return r;
}

T adam_step(const Moments& a, T v) {
  if (a.hat) return a.lr * sqrt(a.c2) / a.c1 * (a.m / (sqrt(v) + a.eps));
  return a.lr * ((a.m / a.c1) / (sqrt(v / a.c2) + a.eps));
}

R adam(const Call& c) {
  Moments a = moments(c, decayed(c), 4);
  return {c.in(0) - adam_step(a, a.v), a.m, a.v};
}

R adamw(const Call& c) {
  T p = c.in(0), g = c.in(1), wd = c.num("weight_decay", 0.01);
  Moments a = moments(c, bug("adamw_decay_through_moments") ? g + wd * p : g, 4);
  T kept = bug("adamw_decay_through_moments") ? p : p * (K(1) - a.lr * wd);
  return {kept - adam_step(a, a.v), a.m, a.v};
}

R amsgrad(const Call& c) {
  Moments a = moments(c, decayed(c), 5);
  T w = bin(Op::Max2, c.in(4), a.v);
  return {c.in(0) - adam_step(a, bug("amsgrad_divides_by_current") ? a.v : w), a.m, a.v, w};
}

R nadam(const Call& c) {
  T p = c.in(0), mu = c.in(4), t = real(c.in(5)), b1 = c.num("beta1", 0.9), psi = c.num("momentum_decay", 4e-3);
  Moments x = moments(c, decayed(c), 5);
  T half = K(0.5Q), base = K(0.96Q);
  T a = b1 * (K(1) - half * bin(Op::Pow, base, t * psi));
  T b = b1 * (K(1) - half * bin(Op::Pow, base, (t + K(1)) * psi));
  T mu1 = mu * a;
  T n = (K(1) - a) / (K(1) - mu1) * x.d + b / (K(1) - (bug("nadam_next_product_without_momentum") ? mu1 : mu1 * b)) * x.m;
  return {p - x.lr * (n / (sqrt(x.v / x.c2) + x.eps)), x.m, x.v, mu1};
}

R radam(const Call& c) {
  Moments x = moments(c, decayed(c), 4);
  T b2 = c.num("beta2", 0.999), t = real(c.in(4));
  T k = un(Op::Expm1, t * log(b2)), top = K(2) / (K(1) - b2) - K(1);
  T rho = top + K(2) * t * ((K(1) + k) / k);
  T on = bin(Op::Gt, rho, K(bug("radam_threshold_four") ? 4 : 5)), safe = select(on, rho, top);
  T r = select(on, sqrt(((safe - K(4)) / (top - K(4))) * ((safe - K(2)) / (top - K(2))) * (top / safe)), K(0));
  T scaled = r * (sqrt(-k) / (sqrt(select(on, x.v, K(1))) + x.eps));
  return {c.in(0) - x.lr * (x.m / x.c1) * select(bin(Op::Gt, r, K(0)), scaled, K(1)), x.m, x.v};
}

R adamax(const Call& c) {
  T d = decayed(c), b1 = c.num("beta1", 0.9), b2 = c.num("beta2", 0.999), t = c.in(4);
  T m = b1 * c.in(2) + (K(1) - b1) * d;
  T old = b2 * c.in(3);
  T u = bin(Op::Max2, old, abs(d) + c.num("eps", 1e-8));
  return {c.in(0) - c.num("lr", 0) / (K(1) - power(b1, t)) * (m / u), m, u};
}

R lion(const Call& c) {
  T p = c.in(0), g = c.in(1), m = c.in(2), b1 = c.num("beta1", 0.9), b2 = c.num("beta2", 0.99), lr = c.num("lr", 0);
  T next = b2 * m + (K(1) - b2) * g;
  T blend = bug("lion_sign_of_updated_momentum") ? next : b1 * m + (K(1) - b1) * g;
  return {p * (K(1) - lr * c.num("weight_decay", 0.0)) - lr * un(Op::Sign, blend), next};
}

R adagrad(const Call& c) {
  T d = decayed(c), s = c.in(2) + d * d, t = real(c.in(3));
  T past = bug("adagrad_rate_decay_counts_from_one") ? t : t - K(1);
  return {c.in(0) - c.num("lr", 0) / (K(1) + past * c.num("lr_decay", 0.0)) * (d / (sqrt(s) + c.num("eps", 1e-10))), s};
}

R rmsprop(const Call& c) {
  T d = decayed(c), alpha = c.num("alpha", 0.99), momentum = c.num("momentum", 0.0);
  T v = alpha * c.in(2) + (K(1) - alpha) * d * d, a = c.in(3), scale = v;
  if (c.flag("centered", false)) {
    a = alpha * c.in(3) + (K(1) - alpha) * d;
    scale = v - (bug("rmsprop_centered_by_old_average") ? c.in(3) * c.in(3) : a * a);
  }
  T n = d / (sqrt(scale) + c.num("eps", 1e-8));
  T none = is_zero(momentum);
  T m = select(none, n, momentum * select(none, K(0), c.in(4)) + n);
  return {c.in(0) - c.num("lr", 0) * m, v, a, m};
}

R adadelta(const Call& c) {
  T d = decayed(c), rho = c.num("rho", 0.9), eps = c.num("eps", 1e-6);
  T v = rho * c.in(2) + (K(1) - rho) * d * d;
  T n = sqrt(c.in(3) + eps) / sqrt(v + eps) * d;
  T u = rho * c.in(3) + (K(1) - rho) * (n * n);
  return {c.in(0) - c.num("lr", 1.0) * n, v, u};
}

T safe_norm(T s) {
  T low = bin(Op::Le, s, K(0));
  return select(low, K(0), sqrt(select(low, K(1), s)));
}

R clip_by_norm(const Call& c) {
  T s, limit = c.num("max_norm", 1);
  for (T g : c.x) {
    T q = sum_all(g * g);
    s = s ? s + q : q;
  }
  if (bug("clip_by_norm_each_alone")) {
    R r;
    for (T g : c.x) {
      T n = safe_norm(sum_all(g * g)) + c.num("eps", 0.0), in = bin(Op::Le, n, limit);
      r.push_back(select(in, K(1), limit / select(in, K(1), n)) * g);
    }
    return r;
  }
  if (!s) return {};
  T n = safe_norm(s) + c.num("eps", 0.0), in = bin(Op::Le, n, limit);
  T f = select(in, K(1), limit / select(in, K(1), n));
  R r;
  for (T g : c.x) r.push_back(f * g);
  return r;
}

// The share of `steps` that is done, and whether all are.
struct Progress { T share, over; };
Progress progress(const Call& c) {
  T step = c.in(0), steps = K(Real(c.whole("steps", 1)), {}, step.dt());
  T from = bin(Op::Max2, step, K(0, {}, step.dt()));
  return {real(from) / real(steps), bin(Op::Ge, step, steps)};
}

T linear_schedule(const Call& c) {
  Progress p = progress(c);
  T a = c.num("initial", 0), b = c.num("final", 0.0);
  return store(select(p.over, b, a + (b - a) * p.share), c.dtype(DT::F32));
}

T cosine_schedule(const Call& c) {
  Progress p = progress(c);
  T a = c.num("initial", 0), b = c.num("final", 0.0);
  T w = (K(1) + un(Op::Cos, K(M_PIq) * p.share)) / K(2);
  return store(select(p.over, b, b + (a - b) * w), c.dtype(DT::F32));
}

T counted(const Call& c, T n) { return store(c.num("initial", 0) * bin(Op::Pow, c.num("gamma", 0.1), n), c.dtype(DT::F32)); }

}  // namespace

void lower_optimizers(Table& t) {
  t["sgd"] = sgd; t["adam"] = adam; t["adamw"] = adamw; t["amsgrad"] = amsgrad; t["nadam"] = nadam; t["radam"] = radam;
  t["adamax"] = adamax; t["lion"] = lion; t["adagrad"] = adagrad; t["rmsprop"] = rmsprop; t["adadelta"] = adadelta;
  t["clip_by_norm"] = clip_by_norm;
  t["normalize_gradient"] = [](const Call& c) {
    T g = c.in(0);
    return R{g / (safe_norm(sum_all(g * g)) + c.num("eps", 1e-8))};
  };
  t["constant_schedule"] = [](const Call& c) { return R{store(c.num("value", 0), c.dtype(DT::F32))}; };
  t["linear_schedule"] = [](const Call& c) { return R{linear_schedule(c)}; };
  t["cosine_schedule"] = [](const Call& c) { return R{cosine_schedule(c)}; };
  t["warmup_schedule"] = [](const Call& c) {
    Progress p = progress(c);
    T a = c.num("initial", 0.0), peak = c.num("peak", 0);
    return R{select(p.over, c.in(1), a + (peak - a) * p.share)};
  };
  t["staircase_schedule"] = [](const Call& c) {
    T s = bin(Op::Max2, c.in(0), K(0, {}, c.in(0).dt()));
    return R{counted(c, real(bin(Op::FloorDiv, s, K(Real(c.whole("every", 1)), {}, s.dt()))))};
  };
  t["multistep_schedule"] = [](const Call& c) {
    T step = c.in(0), hit = bin(bug("multistep_milestone_exclusive") ? Op::Lt : Op::Le, real(c.in(1)), real(step));
    return R{counted(c, sum_all(real(hit)))};
  };
  t["exponential_schedule"] = [](const Call& c) {
    return R{counted(c, real(bin(Op::Max2, c.in(0), K(0, {}, c.in(0).dt()))))};
  };
}

}  // namespace adze
