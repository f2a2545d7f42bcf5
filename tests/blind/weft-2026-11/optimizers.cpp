/// \file
/// Steps of optimizers.
#include "call.hpp"
#include "defect.hpp"

namespace weft {
namespace {

V as_real(V t, V x) { return cast(t, x.type() == Type::f32 ? Type::f64 : x.type()); }

V decayed(const Call& c) { return c.x(1) + c.scalar("weight_decay", c.x()) * c.x(); }

Results sgd(const Call& c) {
  const V p = c.x();
  const V d = decayed(c);
  const V momentum = c.scalar("momentum", p);
  const V damping = 1 - c.scalar("dampening", p);
  const V first = binary(Op::lor, c.x(3) == 1, momentum == 0);
  const V m1 = select(first, d, momentum * c.x(2) + damping * d);
  const V step =
      c.flag("nesterov") ? ((defect("nesterov-adds-the-bare-gradient") ? c.x(1) : d) + momentum * m1) : m1;
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
  m.c1 = 1 - binary(Op::pow, beta1, steps);
  m.c2 = 1 - binary(Op::pow, beta2, steps);
  return m;
}

V adam_step(const Call& c, const Moments& m, V v) {
  const V p = c.x();
  const V lr = c.scalar("lr", p);
  const V eps = c.scalar("eps", p);
  if (c.flag("eps_hat") && defect("eps-hat-leaves-the-second-correction"))
    return lr / m.c1 * (m.m / (unary(Op::sqrt, v) + eps));
  if (c.flag("eps_hat"))
    return lr * unary(Op::sqrt, m.c2) / m.c1 * (m.m / (unary(Op::sqrt, v) + eps));
  return lr * ((m.m / m.c1) / (unary(Op::sqrt, v / m.c2) + eps));
}

Results adam(const Call& c) {
  const Moments m = moments(c, decayed(c), c.x(4));
  return {c.x() - adam_step(c, m, m.v), m.m, m.v};
}

Results adamw(const Call& c) {
  const V p = c.x();
  const Moments m = moments(c, c.x(1), c.x(4));
  return {p * (1 - c.scalar("lr", p) * c.scalar("weight_decay", p)) - adam_step(c, m, m.v), m.m, m.v};
}

Results amsgrad(const Call& c) {
  const Moments m = moments(c, decayed(c), c.x(5));
  if (defect("maximum-of-corrected-moments")) {
    const V top = binary(Op::maximum, c.x(4), m.v / m.c2);
    Moments kept = m;
    kept.c2 = like(c.x(), 1);
    return {c.x() - adam_step(c, kept, top), m.m, m.v, top};
  }
  const V w1 = binary(Op::maximum, c.x(4), m.v);
  return {c.x() - adam_step(c, m, w1), m.m, m.v, w1};
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
  const V direction = beta1 * m + (1 - beta1) * g;
  return {p * (1 - lr * c.scalar("weight_decay", p)) - lr * unary(Op::sign, direction), m1};
}

Results adagrad(const Call& c) {
  const V p = c.x();
  const V d = decayed(c);
  const V s1 = c.x(2) + d * d;
  const V before = as_real(c.x(3), p) - 1;
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
  const V a1 = centered || defect("average-moves-where-nothing-is-centred") ? alpha * c.x(3) + (1 - alpha) * d : c.x(3);
  const V spread = centered ? v1 - (a1 * a1) : v1;
  const bool inside = centered && defect("centred-eps-is-under-the-root");
  const V n = inside ? d / unary(Op::sqrt, spread + c.scalar("eps", p)) : d / (unary(Op::sqrt, spread) + c.scalar("eps", p));
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
  Results found;
  for (const V g : c.all()) {
    if (defect("each-gradient-by-its-own-norm")) {
      std::vector<Int> axes;
      for (std::size_t d = 0; d < g.shape().size(); ++d) axes.push_back(static_cast<Int>(d));
      const V own = unary(Op::sqrt, reduce(Fold::sum, g * g, axes, false)) + c.scalar("eps", s);
      f = select(own <= top, like(s, 1), top / own);
    }
    found.push_back(f * g);
  }
  return found;
}

/// Moments of Adam's kind with decay in the gradient.
Results nadam(const Call& c) {
  const V p = c.x();
  const V d = decayed(c);
  const V t = as_real(c.x(5), p);
  const Moments m = moments(c, d, c.x(5));
  const V beta1 = c.scalar("beta1", p);
  const V decay = c.scalar("momentum_decay", p);
  const auto momentum_at = [&](V step) { return beta1 * (1 - 0.5L * binary(Op::pow, like(p, 0.96L), step * decay)); };
  const V a = momentum_at(t);
  const V b = momentum_at(defect("next-momentum-is-that-of-this-step") ? t : t + 1);
  const V mu1 = c.x(4) * a;
  // The product of momenta is updated in place.
  const V ahead = defect("product-of-momenta-read-after-writing") ? mu1 * a * b : mu1 * b;
  const V n = (1 - a) / (1 - mu1) * d + b / (1 - ahead) * m.m;
  return {p - c.scalar("lr", p) * (n / (unary(Op::sqrt, m.v / m.c2) + c.scalar("eps", p))), m.m, m.v, mu1};
}

Results radam(const Call& c) {
  const V p = c.x();
  const Moments m = moments(c, decayed(c), c.x(4));
  const V t = as_real(c.x(4), p);
  const V beta2 = c.scalar("beta2", p);
  const V k = unary(Op::expm1, t * unary(Op::log, beta2));
  const V top = 2 / (1 - beta2) - 1;
  const V rho = top + 2 * t * ((1 + k) / k);
  const V rectified = rho > (defect("rectified-from-a-length-of-four") ? 4.0L : 5.0L);
  const V safe = select(rectified, rho, like(rho, 6));
  const V upper = select(rectified, top, like(top, 8));
  const V r = select(rectified, unary(Op::sqrt, (safe - 4) / (upper - 4) * ((safe - 2) / (upper - 2)) * (upper / safe)), like(p, 0));
  const V eps = c.scalar("eps", p);
  const V root = unary(Op::sqrt, -k);
  const V rate = r * (root / (unary(Op::sqrt, m.v) + eps));
  return {p - c.scalar("lr", p) * (m.m / m.c1) * select(r > 0, rate, like(p, 1)), m.m, m.v};
}

Results adadelta(const Call& c) {
  const V p = c.x();
  const V d = decayed(c);
  const V rho = c.scalar("rho", p);
  const V eps = c.scalar("eps", p);
  const V lr = c.scalar("lr", p);
  const V v1 = rho * c.x(2) + (1 - rho) * d * d;
  const V n = unary(Op::sqrt, c.x(3) + eps) / unary(Op::sqrt, v1 + eps) * d;
  const V own = defect("steps-are-averaged-with-their-rate") ? lr * n : n;
  return {p - lr * n, v1, rho * c.x(3) + (1 - rho) * own * own};
}

Results normalize_gradient(const Call& c) {
  const V g = c.x();
  std::vector<Int> axes;
  for (std::size_t d = 0; d < g.shape().size(); ++d) axes.push_back(static_cast<Int>(d));
  const V s = reduce(Fold::sum, g * g, axes, false);
  const V none = s <= 0;
  const V n = select(none, like(s, 0), unary(Op::sqrt, select(none, like(s, 1), s)));
  const V eps = c.scalar("eps", g);
  return {g / (n + eps)};
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
  t["nadam"] = nadam;
  t["radam"] = radam;
  t["adadelta"] = adadelta;
  t["normalize_gradient"] = normalize_gradient;
  t["rmsprop"] = rmsprop;
  t["clip_by_norm"] = clip_by_norm;
  t["clip_by_value"] = clip_by_value;
}

}  // namespace weft
