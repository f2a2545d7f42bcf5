/// \file
/// Steps of optimizers.
#include "call.hpp"
#include "defect.hpp"

namespace blind {
namespace {

V as_real(V t, V x) { return cast(t, x.type() == Type::f32 ? Type::f64 : x.type()); }

V decayed(const Call& c) { return c.x(1) + c.scalar("weight_decay", c.x()) * c.x(); }

Results sgd(const Call& c) {
  const V p = c.x();
  const V d = decayed(c);
  const V momentum = c.scalar("momentum", p);
  const V damping = PLANTED("sgd-dampening-ignored") ? like(p, 1) : 1 - c.scalar("dampening", p);
  const V first = PLANTED("sgd-first-step-is-dampened") ? momentum == 0 : binary(Op::lor, c.x(3) == 1, momentum == 0);
  const V m1 = select(first, d, momentum * c.x(2) + damping * d);
  const V step =
      c.flag("nesterov") ? (PLANTED("nesterov-from-old-momentum") ? d + momentum * c.x(2) : d + momentum * m1) : m1;
  return {p - c.scalar("lr", p) * step, m1};
}

struct Moments {
  V m, v, c1, c2;
};

Moments moments(const Call& c, V d, V t) {
  const V p = c.x();
  const V beta1 = c.scalar("beta1", p);
  const V beta2 = c.scalar("beta2", p);
  Moments m;
  m.m = beta1 * c.x(2) + (1 - beta1) * d;
  m.v = beta2 * c.x(3) + (1 - beta2) * d * d;
  V steps = as_real(t, p);
  if (PLANTED("bias-correction-counts-from-zero")) steps = binary(Op::maximum, steps - 1, like(steps, 1));
  if (PLANTED("step-count-saturates-at-255")) steps = binary(Op::minimum, steps, like(steps, 255));
  m.c1 = 1 - binary(Op::pow, beta1, steps);
  m.c2 = 1 - binary(Op::pow, PLANTED("both-corrections-by-first-beta") ? beta1 : beta2, steps);
  return m;
}

V adam_step(const Call& c, const Moments& m, V v) {
  const V p = c.x();
  const V lr = c.scalar("lr", p);
  const V eps = c.scalar("eps", p);
  if (c.flag("eps_hat") != PLANTED("eps-hat-inverted"))
    return lr * unary(Op::sqrt, m.c2) / m.c1 * (m.m / (unary(Op::sqrt, v) + eps));
  if (PLANTED("adam-eps-under-the-root")) return lr * ((m.m / m.c1) / unary(Op::sqrt, v / m.c2 + eps));
  return lr * ((m.m / m.c1) / (unary(Op::sqrt, v / m.c2) + eps));
}

Results adam(const Call& c) {
  const Moments m = moments(c, decayed(c), c.x(4));
  return {c.x() - adam_step(c, m, m.v), m.m, m.v};
}

Results adamw(const Call& c) {
  const V p = c.x();
  const Moments m = moments(c, c.x(1), c.x(4));
  if (PLANTED("adamw-decay-without-rate"))
    return {p * (1 - c.scalar("weight_decay", p)) - adam_step(c, m, m.v), m.m, m.v};
  if (PLANTED("adamw-decays-after-the-step"))
    return {(p - adam_step(c, m, m.v)) * (1 - c.scalar("lr", p) * c.scalar("weight_decay", p)), m.m, m.v};
  return {p * (1 - c.scalar("lr", p) * c.scalar("weight_decay", p)) - adam_step(c, m, m.v), m.m, m.v};
}

Results amsgrad(const Call& c) {
  const Moments m = moments(c, decayed(c), c.x(5));
  const V w1 = binary(Op::maximum, c.x(4), m.v);
  return {c.x() - adam_step(c, m, PLANTED("amsgrad-divides-by-old-maximum") ? c.x(4) : w1), m.m, m.v, w1};
}

Results adamax(const Call& c) {
  const V p = c.x();
  const V d = decayed(c);
  const V beta1 = c.scalar("beta1", p);
  const V m1 = beta1 * c.x(2) + (1 - beta1) * d;
  const V size = unary(Op::abs, d) + c.scalar("eps", p);
  const V u1 = binary(Op::maximum, c.scalar("beta2", p) * c.x(3), size);
  return {p - c.scalar("lr", p) / (1 - binary(Op::pow, beta1, as_real(c.x(4), p))) * (m1 / u1), m1, u1};
}

Results lion(const Call& c) {
  const V p = c.x();
  const V g = c.x(1);
  const V m = c.x(2);
  const V beta1 = c.scalar("beta1", p);
  const V beta2 = c.scalar("beta2", p);
  const V lr = c.scalar("lr", p);
  const V m1 = beta2 * m + (1 - beta2) * g;
  const V direction = PLANTED("lion-direction-from-new-average") ? m1 : beta1 * m + (1 - beta1) * g;
  return {p * (1 - lr * c.scalar("weight_decay", p)) - lr * unary(Op::sign, direction), m1};
}

Results adagrad(const Call& c) {
  const V p = c.x();
  const V d = decayed(c);
  const V s1 = c.x(2) + d * d;
  const V before = as_real(c.x(3), p) - (PLANTED("adagrad-rate-decays-at-once") ? 0 : 1);
  return {
      p - c.scalar("lr", p) / (1 + before * c.scalar("lr_decay", p)) * (d / (unary(Op::sqrt, s1) + c.scalar("eps", p))),
      s1};
}

Results rmsprop(const Call& c) {
  const V p = c.x();
  const V d = decayed(c);
  const V alpha = c.scalar("alpha", p);
  const bool centered = c.flag("centered");
  const V v1 = alpha * c.x(2) + (1 - alpha) * d * d;
  const V a1 = centered ? alpha * c.x(3) + (1 - alpha) * d : c.x(3);
  const V spread = centered ? v1 - (PLANTED("rmsprop-centers-by-old-average") ? c.x(3) * c.x(3) : a1 * a1) : v1;
  const V n = d / (unary(Op::sqrt, spread) + c.scalar("eps", p));
  const V momentum = c.scalar("momentum", p);
  const V m1 = select(momentum == 0, n, momentum * c.x(4) + n);
  return {p - c.scalar("lr", p) * m1, v1, a1, m1};
}

Results clip_by_norm(const Call& c) {
  V s;
  for (const V g : c.all()) {
    std::vector<Int> axes;
    for (std::size_t d = 0; d < g.shape().size(); ++d) axes.push_back(static_cast<Int>(d));
    const V one = reduce(Fold::sum, g * g, axes, false);
    s = s ? s + one : one;
  }
  const V none = s <= 0;
  const V n = select(none, like(s, 0), unary(Op::sqrt, select(none, like(s, 1), s))) + c.scalar("eps", s);
  const V top = c.scalar("max_norm", s);
  V f = select(n <= top, like(s, 1), top / n);
  if (PLANTED("clipped-norm-is-a-constant")) f = unary(Op::detach, f);
  if (PLANTED("short-gradients-are-stretched")) f = top / n;
  Results found;
  for (const V g : c.all()) found.push_back(f * g);
  return found;
}

Results clip_by_value(const Call& c) {
  const V g = c.x();
  const V limit = c.scalar("limit", g);
  return {select(g > limit, limit, select(g < -limit, -limit, g))};
}

}  // namespace

void add_optimizers(Table& t) {
  t["sgd"] = sgd;
  t["adam"] = adam;
  t["adamw"] = adamw;
  t["amsgrad"] = amsgrad;
  t["adamax"] = adamax;
  t["lion"] = lion;
  t["adagrad"] = adagrad;
  t["rmsprop"] = rmsprop;
  t["clip_by_norm"] = clip_by_norm;
  t["clip_by_value"] = clip_by_value;
}

}  // namespace blind
