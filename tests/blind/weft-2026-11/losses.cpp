/// \file
/// Losses.
#include <cmath>
#include <limits>

#include "call.hpp"
#include "defect.hpp"

namespace weft {
namespace {

std::vector<Int> every(const Shape& shape) {
  std::vector<Int> axes;
  for (std::size_t d = 0; d < shape.size(); ++d) axes.push_back(static_cast<Int>(d));
  return axes;
}

V total(V x) { return reduce(Fold::sum, x, every(x.shape()), false); }

V reduced_by(const Call& c, V each) {
  const std::string how = c.word("reduction");
  if (how == "none") return each;
  if (how == "sum") return total(each);
  if (how == "batchmean") return total(each) / static_cast<Wide>(each.shape()[0]);
  return total(each) / static_cast<Wide>(size_of(each.shape()));
}

Results mse(const Call& c) {
  const V d = c.x() - c.x(1);
  return {reduced_by(c, d * d)};
}

Results huber(const Call& c) {
  const V d = c.x() - c.x(1);
  const V m = unary(Op::abs, d);
  const V delta = c.scalar("delta", d);
  // The line meets the square with one slope, and either may hold there.
  const bool early = defect("huber-is-a-line-at-its-corner");
  if (early) {
    const V near = select(m >= delta, like(d, 0), d);
    return {reduced_by(c, select(m >= delta, delta * (m - delta / 2), near * near / 2))};
  }
  const V near = select(m > delta, like(d, 0), d);
  return {reduced_by(c, select(m > delta, delta * (m - delta / 2), near * near / 2))};
}

Results smooth_l1(const Call& c) {
  const V d = c.x() - c.x(1);
  const V m = unary(Op::abs, d);
  const V beta = c.scalar("beta", d);
  const V far = defect("square-where-beta-is-zero") ? m > beta : m >= beta;
  const V near = select(far, like(d, 0), d);
  return {reduced_by(c, select(far, m - beta / 2, near * near / (defect("square-where-beta-is-zero") ? 2 * beta : select(far, like(d, 1), 2 * beta))))};
}

Results hinge(const Call& c) {
  const V m = 1 - c.x(1) * c.x();
  const V none = m <= 0;
  return {reduced_by(c, select(none, like(m, 0), m))};
}

Results pinball(const Call& c) {
  const V d = c.x(1) - c.x();
  const V q = c.scalar("quantile", d);
  return {reduced_by(c, select(d > 0, q * d, select(d == 0, like(d, 0), (q - 1) * d)))};
}

Results kl_div(const Call& c) {
  const V x = c.x();
  const V t = c.x(1);
  if (c.flag("log_target")) {
    const V y = unary(Op::exp, t) * (t - x);
    if (defect("log-target-goes-back-through-the-difference")) {
      return {reduced_by(c, by_hand(y, {x, t}, [=](V g) -> std::vector<V> {
        const V p = g * unary(Op::exp, t);
        return {-p, p};
      }))};
    }
    return {reduced_by(c, y)};
  }
  const V none = t == 0;
  const V safe = select(none, like(t, 1), t);
  const V each = t * (unary(Op::log, safe) - x);
  return {reduced_by(c, select(none, like(t, 0), each))};
}

Results bce_with_logits(const Call& c) {
  const V x = c.x();
  const V t = c.g.reverse && defect("targets-of-logits-are-constants") ? unary(Op::detach, c.x(1)) : c.x(1);
  const V small = unary(Op::log1p, unary(Op::exp, select(x > 0, -x, x)));
  const V one = select(x > 0, small, small - x);
  const V zero = select(x > 0, small + x, small);
  V positive = t * one;
  if (c.maybe(3)) positive = c.maybe(3) * positive;
  V each = positive + (1 - t) * zero;
  if (c.maybe(2)) each = c.maybe(2) * each;
  return {reduced_by(c, each)};
}

/// Elements of x at the class of each target, and whether the target is a class.
struct Hits {
  V at, inside;
};

Hits hits(V x, V t, std::size_t axis) {
  Node n;
  n.op = Op::positions;
  n.type = Type::i64;
  n.shape = t.shape();
  n.in = {t.id};
  n.places.along = true;
  for (std::size_t d = 0; d < x.shape().size(); ++d) {
    if (d < axis) n.places.left *= x.shape()[d];
    if (d > axis) n.places.right *= x.shape()[d];
  }
  n.places.axis = x.shape()[axis];
  const V places = x.g->add(std::move(n));
  return {take(x, places, t.shape()), places >= 0};
}

struct Rows {
  V weight, hit, ignored;
};

Rows rows_of(const Call& c, V l, std::size_t axis) {
  const V t = c.x(1);
  const Hits h = hits(l, t, axis);
  Rows r;
  r.ignored = t == static_cast<Wide>(c.whole("ignore_index"));
  V own = like(l, 1);
  if (c.maybe(2)) {
    const V w = c.maybe(2);
    Node n;
    n.op = Op::positions;
    n.type = Type::i64;
    n.shape = t.shape();
    n.in = {t.id};
    n.places.axis = w.shape()[0];
    const V places = t.g->add(std::move(n));
    own = select(places >= 0, take(w, places, t.shape()), like(l, 1));
  }
  r.weight =
      select(r.ignored,
             like(l, 0), own);
  const Wide none = std::numeric_limits<Wide>::quiet_NaN();
  r.hit = select(h.inside, -(r.weight * h.at), like(l, none));
  return r;
}

V finished(const Call& c, V each, V weight) {
  const std::string how = c.word("reduction");
  if (how == "none") return each;
  if (how == "sum") return total(each);
  return total(each) /
         (total(weight));
}

V log_softmax(V x, Int axis) {
  const V z = x - unary(Op::detach, reduce(Fold::max, x, {axis}, true));
  return z - unary(Op::log, reduce(Fold::sum, unary(Op::exp, z), {axis}, true));
}

Results cross_entropy(const Call& c) {
  const V x = c.x();
  const Int axis = c.axis("axis", x.shape().size());
  const auto d = static_cast<std::size_t>(axis);
  const V l = log_softmax(x, axis);
  const Rows r = rows_of(c, l, d);
  if (c.is_value("label_smoothing")) throw Unsupported("attribute", "label_smoothing is no constant");
  const Wide s = c.real("label_smoothing");
  const auto classes = static_cast<Wide>(x.shape()[d]);
  V each = r.hit;
  if (s != 0) {
    V weighted = l;
    if (c.maybe(2)) {
      Shape shape(x.shape().size(), 1);
      shape[d] = x.shape()[d];
      weighted = reshaped(c.maybe(2), shape) * l;
    }
    const Wide share = s / classes;
    each = (1 - s) * r.hit - share * reduce(Fold::sum, weighted, {axis}, false);
  }
  return {finished(c, select(r.ignored, like(x, 0), each), r.weight)};
}

Results soft_cross_entropy(const Call& c) {
  const V x = c.x();
  const Int axis = c.axis("axis", x.shape().size());
  const auto classes = static_cast<Wide>(x.shape()[static_cast<std::size_t>(axis)]);
  if (c.is_value("label_smoothing")) throw Unsupported("attribute", "label_smoothing is no constant");
  const Wide s = c.real("label_smoothing");
  V p = c.x(1);
  if (s != 0) p = (1 - s) * p + s / classes;
  V weight;
  if (c.maybe(2)) {
    Shape shape(x.shape().size(), 1);
    shape[static_cast<std::size_t>(axis)] = x.shape()[static_cast<std::size_t>(axis)];
    weight = reshaped(c.maybe(2), shape);
    p = weight * p;
  }
  const V each = -reduce(Fold::sum, p * log_softmax(x, axis), {axis}, false);
  return {reduced_by(c, each)};
}

Results nll(const Call& c) {
  const V x = c.x();
  const Rows r = rows_of(c, x, static_cast<std::size_t>(c.axis("axis", x.shape().size())));
  return {finished(c, select(r.ignored, like(x, 0), r.hit), r.weight)};
}

}  // namespace

void add_losses(Table& t) {
  t["mse"] = mse;
  t["l1"] = [](const Call& c) -> Results { return {reduced_by(c, unary(Op::abs, c.x() - c.x(1)))}; };
  t["huber"] = huber;
  t["smooth_l1"] = smooth_l1;
  t["hinge"] = hinge;
  t["pinball"] = pinball;
  t["kl_div"] = kl_div;
  t["bce_with_logits"] = bce_with_logits;
  t["cross_entropy"] = cross_entropy;
  t["nll"] = nll;
  t["soft_cross_entropy"] = soft_cross_entropy;
}

}  // namespace weft
