// Softmax and its kin, normalisation.
#include "lower.h"
#include <algorithm>

namespace adze {

namespace {

std::vector<T> one(T t) { return {t}; }

struct Aligned { T x; Shape inverse; int lead; Shape over; I n; };  // the given axes last, in their order

Aligned aligned(T x, const Shape& axes) {
  Shape perm;
  for (int k = 0; k < x.rank(); ++k) if (std::find(axes.begin(), axes.end(), k) == axes.end()) perm.push_back(k);
  const int lead = int(perm.size());
  Shape order = axes;
  if (bug("layer_norm_axes_sorted")) std::sort(order.begin(), order.end());
  perm.insert(perm.end(), order.begin(), order.end());
  Aligned a{transpose(x, perm), Shape(perm.size()), lead, {}, 1};
  for (std::size_t k = 0; k < perm.size(); ++k) a.inverse[perm[k]] = I(k);
  for (int k = lead; k < x.rank(); ++k) { a.over.push_back(k); a.n *= a.x.dim(k); }
  return a;
}

// Over `over`; gamma and beta broadcast.
T normalised(T x, const Shape& over, I n, T eps, T gamma, T beta) {
  T mu = sum(x, over, true) / K(n), d = x - mu;
  T v = sum(d * d, over, true) / K(n);
  T y = d / sqrt(v + eps);
  if (gamma) y = gamma * y;
  return beta ? y + beta : y;
}

T channel(T g, int rank, int axis) {
  if (!g) return g;
  Shape s(rank, 1);
  s[axis] = g.dim(0);
  return reshape(g, s);
}

T softmax(const Call& c, bool logarithm) {
  T x = c.in(0);
  const int last = x.rank() - 1, axis = c.axis("axis", x.rank(), -1);
  T z = move_axis(x, axis, last);
  if (count(z.shape()) == 0) return x;
  z = z - detach(reduce(Op::RMax, z, {last}, true));
  T e = exp(z), s = sum(e, {last}, true);
  return move_axis(logarithm ? z - log(s) : e / s, last, axis);
}

T masked(const Call& c) {
  T x = c.in(0), m = c.in(1);
  const int ax = c.axis("axis", x.rank(), -1), am = c.axis("axis", m.rank(), -1);
  T z = move_axis(x, ax, x.rank() - 1), k = move_axis(m, am, m.rank() - 1);
  T y = softmax_last(z, k);
  return move_axis(y, y.rank() - 1, c.axis("axis", y.rank(), -1));
}

T layer_norm(const Call& c, bool centred) {
  T x = c.in(0), gamma = c.in(1), beta = centred ? c.in(2) : T{}, eps = c.num("eps", 1e-5);
  Shape axes = c.has("axes") ? c.axes(x.rank()) : Shape{x.rank() - 1};
  if (count(x.shape()) == 0) return x;
  Aligned a = aligned(x, axes);
  T y;
  if (centred) {
    y = normalised(a.x, a.over, a.n, eps, gamma, beta);
  } else {
    T v = sum(a.x * a.x, a.over, true) / K(a.n);
    y = a.x / sqrt(v + eps);
    if (gamma) y = gamma * y;
  }
  return transpose(y, a.inverse);
}

std::vector<T> batch_norm(const Call& c) {
  T x = c.in(0), gamma = c.in(1), beta = c.in(2), eps = c.num("eps", 1e-5), momentum = c.num("momentum", 0.1);
  const int r = x.rank(), axis = c.axis("axis", r, 1);
  const I ch = x.dim(axis), n = ch == 0 ? 1 : count(x.shape()) / ch;
  const bool training = c.flag("training", true);
  T old_mean = c.in(3) ? c.in(3) : K(0, {ch}), old_var = c.in(4) ? c.in(4) : K(1, {ch});
  Shape over;
  for (int k = 0; k < r; ++k) if (k != axis) over.push_back(k);
  if (training && n <= 1) throw Rejected("size > 1");
  T mu = training ? sum(x, over, true) / K(n) : channel(old_mean, r, axis);
  T d = x - mu;
  T s = sum(d * d, over, true);
  T v = training ? s / K(n) : channel(old_var, r, axis);
  T y = d / sqrt(v + eps);
  if (gamma) y = channel(gamma, r, axis) * y;
  if (beta) y = y + channel(beta, r, axis);
  if (!training) return {y, old_mean, old_var};
  T m = reshape(detach(mu), {ch}), u = reshape(detach(s), {ch}) / K(n - 1);
  T rest = K(1) - momentum;
  if (bug("batch_norm_running_mean_momentum_swapped")) return {y, momentum * old_mean + rest * m, rest * old_var + momentum * u};
  return {y, rest * old_mean + momentum * m, rest * old_var + momentum * u};
}

T group_norm(const Call& c, I groups) {
  T x = c.in(0), eps = c.num("eps", 1e-5);
  const I b = x.dim(0), ch = x.dim(1);
  if (groups <= 0 || ch % groups) throw Rejected("c % groups == 0");
  const I size = b * ch == 0 ? 0 : count(x.shape()) / (b * ch);
  const I e = ch / groups;
  T v = reshape(x, {b, groups, e, size});
  auto by_channel = [&](T g) { return g ? reshape(g, {groups, e, 1}) : g; };
  return reshape(normalised(v, {2, 3}, e * size, eps, by_channel(c.in(1)), by_channel(c.in(2))), x.shape());
}

}  // namespace

T softmax_last(T x, T mask) {
  const Shape o = joined(x.shape(), mask.shape());
  T z = expand(x, o), m = expand(mask, o);
  const int last = int(o.size()) - 1;
  T top = detach(reduce(Op::RMax, z, {last}, true, m));
  T w = select(m, exp(select(m, z, top) - top), K(0));
  T total = sum(w, {last}, true);
  if (bug("fully_masked_row_is_uniform")) {
    T none = un(Op::Not, reduce(Op::RAny, m, {last}, true));
    w = select(none, K(1), w);
    return w / sum(w, {last}, true);
  }
  T some = reduce(Op::RAny, m, {last}, true);
  return select(m, w / select(some, total, K(1)), K(0));
}

void lower_norm(Table& t) {
  t["softmax"] = [](const Call& c) { return one(softmax(c, false)); };
  t["log_softmax"] = [](const Call& c) { return one(softmax(c, true)); };
  t["masked_softmax"] = [](const Call& c) { return one(masked(c)); };
  t["layer_norm"] = [](const Call& c) { return one(layer_norm(c, true)); };
  t["rms_norm"] = [](const Call& c) { return one(layer_norm(c, false)); };
  t["batch_norm"] = batch_norm;
  t["group_norm"] = [](const Call& c) { return one(group_norm(c, c.whole("groups", 1))); };
  t["instance_norm"] = [](const Call& c) { return one(group_norm(c, c.in(0).dim(1))); };
}

}  // namespace adze
