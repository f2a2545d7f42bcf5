// Losses.
#include "lower.h"

namespace adze {

namespace {

std::vector<T> one(T t) { return {t}; }

T reduced(const Call& c, T each) {
  const std::string r = c.word("reduction", "mean");
  if (r == "none") return each;
  T s = sum_all(each);
  if (r == "sum") return s;
  if (r == "batchmean") {
    return s / K(each.dim(0));
  }
  return s / K(count(each.shape()));
}

T log_softmax_last(T x) {
  const int last = x.rank() - 1;
  T z = x - detach(reduce(Op::RMax, x, {last}, true));
  return z - log(sum(exp(z), {last}, true));
}

T classes_last(const Call& c, T x) { return move_axis(x, c.axis("axis", x.rank(), -1), x.rank() - 1); }

struct Rows { T ignored, inside, weight, target; };

Rows rows(const Call& c, T t, T w, I classes) {
  Rows r;
  r.target = t;
  r.ignored = bin(Op::Eq, t, K(Real(c.whole("ignore_index", -100)), {}, t.dt()));
  r.inside = bin(Op::And, bin(Op::Ge, t, K(0, {}, t.dt())), bin(Op::Lt, t, K(Real(classes), {}, t.dt())));
  T a = w ? select(r.inside, gather(w, t, 0), K(1)) : K(1, t.shape());
  r.weight = bug("loss_mean_counts_ignored_rows") ? a : select(r.ignored, K(0), a);
  return r;
}

T at_target(T l, const Rows& r) {
  T v = take_along(l, unsqueeze(r.target, r.target.rank()));
  return select(r.ignored, K(0), reshape(v, r.target.shape()));
}

T weighted(const Call& c, T each, const Rows& r) {
  const std::string how = c.word("reduction", "mean");
  if (how == "none") return each;
  if (how == "sum") return sum_all(each);
  return sum_all(each) / sum_all(r.weight);
}

T nll(const Call& c) {
  T x = classes_last(c, c.in(0));
  Rows r = rows(c, c.in(1), c.in(2), x.dim(x.rank() - 1));
  T hit = select(r.inside, -(r.weight * at_target(x, r)), K(nanq("")));
  return weighted(c, select(r.ignored, K(0), hit), r);
}

T cross_entropy(const Call& c) {
  T x = classes_last(c, c.in(0)), w = c.in(2);
  const I classes = x.dim(x.rank() - 1);
  T l = log_softmax_last(x);
  Rows r = rows(c, c.in(1), w, classes);
  T hit = select(r.inside, -(r.weight * at_target(l, r)), K(nanq("")));
  const double smooth = c.fixed("label_smoothing", 0.0);
  T soft = hit;
  if (smooth != 0) {
    T rest = select(unsqueeze(r.ignored, r.ignored.rank()), K(0), l);
    if (w && !bug("label_smoothing_forgets_class_weights")) rest = w * rest;
    T others = sum(rest, {rest.rank() - 1}, false);
    soft = (K(1) - K(smooth)) * hit - K(smooth) / K(classes) * others;
  }
  return weighted(c, select(r.ignored, K(0), soft), r);
}

T soft_cross_entropy(const Call& c) {
  T x = classes_last(c, c.in(0)), p = classes_last(c, c.in(1)), w = c.in(2);
  const I classes = x.dim(x.rank() - 1);
  const double smooth = c.fixed("label_smoothing", 0.0);
  T l = log_softmax_last(x);
  if (smooth != 0) p = (K(1) - K(smooth)) * p + K(smooth) / K(classes);
  T terms = p * l;
  if (w) terms = w * p * l;
  return reduced(c, -sum(terms, {x.rank() - 1}, false));
}

T bce(const Call& c) {
  T x = c.in(0), t = c.in(1), weight = c.in(2), pos = c.in(3);
  T above = bin(Op::Gt, x, K(0)), up = select(above, x, K(0)), down = select(above, K(0), x);
  T tail = select(above, log1p(exp(-up)), log1p(exp(down)));
  T hit = select(above, tail, tail - down), miss = select(above, tail + up, tail);
  T first = pos ? pos * t * hit : t * hit;
  T each = first + (K(1) - t) * miss;
  if (bug("pos_weight_scales_both_terms") && pos) each = pos * (t * hit + (K(1) - t) * miss);
  if (weight) each = weight * each;
  return reduced(c, each);
}

T kl_div(const Call& c) {
  T x = c.in(0), t = c.in(1);
  if (c.flag("log_target", false)) return reduced(c, exp(t) * (t - x));
  T none = bin(Op::Eq, t, K(0)), safe = select(none, K(1), t), sx = select(none, K(0), x);
  return reduced(c, select(none, K(0), safe * (log(safe) - sx)));
}

T huber(const Call& c) {
  T d = c.in(0) - c.in(1), delta = c.num("delta", 1.0), a = abs(d), far = bin(Op::Gt, a, delta);
  T near = select(far, K(0), d);
  if (bug("huber_linear_part_not_scaled")) return reduced(c, select(far, a - delta / K(2), near * near / K(2)));
  return reduced(c, select(far, delta * (a - delta / K(2)), near * near / K(2)));
}

T smooth_l1(const Call& c) {
  T d = c.in(0) - c.in(1), beta = c.num("beta", 1.0), a = abs(d), far = bin(Op::Ge, a, beta);
  T near = select(far, K(0), d);
  return reduced(c, select(far, a - beta / K(2), near * near / (K(2) * beta)));
}

T hinge(const Call& c) {
  T m = K(1) - c.in(1) * c.in(0);
  return reduced(c, select(bin(Op::Le, m, K(0)), K(0), m));
}

T pinball(const Call& c) {
  T d = c.in(1) - c.in(0), q = c.num("quantile", 0.5);
  return reduced(c, select(bin(Op::Gt, d, K(0)), q * d, select(bin(Op::Eq, d, K(0)), K(0), (q - K(1)) * d)));
}

}  // namespace

void lower_loss(Table& t) {
  t["mse"] = [](const Call& c) { T d = c.in(0) - c.in(1); return one(reduced(c, d * d)); };
  t["l1"] = [](const Call& c) { return one(reduced(c, abs(c.in(0) - c.in(1)))); };
  t["huber"] = [](const Call& c) { return one(huber(c)); };
  t["smooth_l1"] = [](const Call& c) { return one(smooth_l1(c)); };
  t["hinge"] = [](const Call& c) { return one(hinge(c)); };
  t["pinball"] = [](const Call& c) { return one(pinball(c)); };
  t["bce_with_logits"] = [](const Call& c) { return one(bce(c)); };
  t["nll"] = [](const Call& c) { return one(nll(c)); };
  t["cross_entropy"] = [](const Call& c) { return one(cross_entropy(c)); };
  t["soft_cross_entropy"] = [](const Call& c) { return one(soft_cross_entropy(c)); };
  t["kl_div"] = [](const Call& c) { return one(kl_div(c)); };
}

}  // namespace adze
