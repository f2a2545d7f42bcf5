// Losses.
#include "lower.h"

V reduced(V each, const std::string& how) {
  if (how == "none") return each;
  V s = sum(each, iota_dims(each.rank()));
  if (size_of(each.shape()) == 0) s = detach(s);  // the mean of nothing is NaN and does not move
  return how == "sum" ? s : s / Real(size_of(each.shape()));
}

namespace {

using R = std::vector<V>;

std::string how(const Call& c) { return c.a.sym("reduction", "mean"); }
R finished(const Call& c, V each) { return {reduced(each, how(c))}; }

R mse(const Call& c) {
  V d = c.x[0] - c.x[1];
  return finished(c, d * d);
}
R l1(const Call& c) { return finished(c, un(Fn::abs, c.x[0] - c.x[1])); }
R huber(const Call& c) {
  V d = c.x[0] - c.x[1], m = un(Fn::abs, d);
  Real delta = c.a.num("delta", 1);
  V far = cmp(Fn::gt, m, lit(delta, m));
  V inner = select(far, lit(0, d), d), near = inner * inner / 2;
  return finished(c, select(far, delta * (m - delta / 2), near));
}
R smooth_l1(const Call& c) {
  V d = c.x[0] - c.x[1], m = un(Fn::abs, d);
  Real beta = c.a.num("beta", 1);
  V far = cmp(Fn::ge, m, lit(beta, m));
  if (beta == 0) return finished(c, m);
  V inner = select(far, lit(0, d), d);
  return finished(c, select(far, m - beta / 2, inner * inner / (2 * beta)));
}
R hinge(const Call& c) {
  V m = 1 - c.x[1] * c.x[0];
  return finished(c, select(cmp(Fn::le, m, lit(0, m)), lit(0, m), m));
}
R pinball(const Call& c) {
  V d = c.x[1] - c.x[0], zero = lit(0, d);
  Real q = c.a.num("quantile", 0.5);
  return finished(c, select(cmp(Fn::gt, d, zero), q * d, select(cmp(Fn::eq, d, zero), zero, (q - 1) * d)));
}
R bce(const Call& c) {
  V x = c.x[0], t = c.x[1];
  V one = un(Fn::softplus, -x), zero = un(Fn::softplus, x);
  V p = c.opt(3) ? c.x[3] * t * one : t * one;
  V each = p + (1 - t) * zero;
  return finished(c, c.opt(2) ? c.x[2] * each : each);
}

struct Rows {  // logits with the classes last, targets, the weight of each row
  V x, t, w, ignored, weight, valid, index;
  Int classes;
  explicit Rows(const Call& c) {
    x = move_axis_last(c.x[0], c.a.axis("axis", c.x[0].rank(), -1));
    t = convert(c.x[1], DT::i64);
    classes = x.dim(-1);
    ignored = cmp(Fn::eq, t, lit(Real(c.a.integer("ignore_index", -100)), t));
    valid = ew(Fn::land, DT::boolean, {cmp(Fn::ge, t, lit(0, t)), cmp(Fn::lt, t, lit(Real(classes), t))});
    w = c.opt(2);
    V one = broadcast_to(lit(1, x), t.shape());
    weight = select(ignored, lit(0, x), w ? select(valid, gather(w, t, 0), one) : one);
    Dims s = t.shape();
    s.push_back(1);
    index = reshape(t, s);
  }
  V picked(V l) const {  // minus the weighted element of the target; NaN where it is no class
    V at = reshape(take_along(l, index, l.rank() - 1), t.shape());
    V at0 = select(ignored, lit(0, l), at);
    return select(valid, -(weight * at0), lit(nanq(""), l));
  }
};
R by_rows(const Call& c, const Rows& r, V each) {
  each = select(r.ignored, lit(0, each), each);
  if (how(c) != "mean") return finished(c, each);
  Dims all = iota_dims(each.rank());
  if (BUG(nll_mean_counts_ignored) && !r.w) return {sum(each, all) / Real(size_of(each.shape()))};
  return {sum(each, all) / sum(r.weight, all)};
}
R nll(const Call& c) {
  Rows r(c);
  return by_rows(c, r, r.picked(r.x));
}
V log_probabilities(V x) {
  Dims last = {x.rank() - 1};
  V z = x - max_or_zero(x, last);
  return z - un(Fn::log, sum(un(Fn::exp, z), last, true));
}
R cross_entropy(const Call& c) {
  Rows r(c);
  V l = log_probabilities(r.x), each = r.picked(l);
  Real s = c.a.num("label_smoothing", 0);
  if (s != 0) {
    V lw = r.w && !BUG(cross_entropy_smoothing_unweighted) ? l * r.w : l;
    Dims one = r.t.shape();
    one.push_back(1);
    V guarded = select(broadcast_to(reshape(r.ignored, one), lw.shape()), lit(0, lw), lw);
    each = (1 - s) * each - s / Real(r.classes) * sum(guarded, {l.rank() - 1});
  }
  return by_rows(c, r, each);
}
R soft_cross_entropy(const Call& c) {
  Int axis = c.a.axis("axis", c.x[0].rank(), -1);
  V x = move_axis_last(c.x[0], axis), p = move_axis_last(c.x[1], axis);
  Real s = c.a.num("label_smoothing", 0);
  if (s != 0) p = (1 - s) * p + s / Real(x.dim(-1));
  V l = log_probabilities(x);
  V each = c.opt(2) ? c.x[2] * p * l : p * l;
  return finished(c, -sum(each, {x.rank() - 1}));
}
R kl_div(const Call& c) {
  V x = c.x[0], t = c.x[1], each;
  if (c.a.flag("log_target", false)) {
    each = un(Fn::exp, t) * (t - x);
  } else {
    V none = cmp(Fn::eq, t, lit(0, t));
    V safe = select(none, lit(1, t), t), there = select(none, lit(0, x), x);
    each = select(none, lit(0, t), t * (un(Fn::log, safe) - there));
  }
  if (how(c) != "batchmean") return finished(c, each);
  Real b = Real(x.dim(0));
  return {sum(each, iota_dims(each.rank())) / b};
}

const Register rows{{"mse", mse}, {"l1", l1}, {"huber", huber}, {"smooth_l1", smooth_l1}, {"hinge", hinge},
                    {"pinball", pinball}, {"bce_with_logits", bce}, {"nll", nll}, {"cross_entropy", cross_entropy},
                    {"soft_cross_entropy", soft_cross_entropy}, {"kl_div", kl_div}};

}  // namespace
