// Reductions, softmax and the normalisations.
#include <algorithm>

#include "lower.h"

V max_or_zero(V x, const Dims& axes) {
  Int n = 1;
  for (Int a : axes) n *= x.dim(a);
  Dims k = x.shape();
  for (Int a : axes) k[a] = 1;
  if (n == 0) return broadcast_to(scalar(0, x.dt()), k);
  return detach(reduce(Red::max, x, axes, true));
}
Int count_of(V x, const Dims& axes) {
  Int n = 1;
  for (Int a : axes) n *= x.dim(a);
  return n;
}

namespace {

using R = std::vector<V>;

Dims axes_of(const Call& c) { return c.a.axes("axes", c.x[0].rank()); }
bool keep_of(const Call& c) { return c.a.flag("keepdims"); }
V dropped(V y, const Call& c) { return keep_of(c) ? y : reshape(y, without(c.x[0].shape(), axes_of(c))); }

template <Red r> R plain(const Call& c) {
  return {reduce(r, c.x[0], axes_of(c), keep_of(c))};
}
R mean(const Call& c) {
  V s = sum(c.x[0], axes_of(c), keep_of(c));
  Int n = count_of(c.x[0], axes_of(c));
  return {(n == 0 ? detach(s) : s) / Real(n)};
}

V variance(const Call& c) {
  V x = c.x[0];
  Dims axes = axes_of(c);
  Int n = count_of(x, axes), correction = c.a.integer("correction", 1);
  if (BUG(var_correction_per_axis) && axes.size() > 1) correction *= Int(axes.size());
  V d = x - sum(x, axes, true) / Real(n);
  return sum(d * d, axes, true) / Real(n - correction);
}
R var(const Call& c) { return {dropped(variance(c), c)}; }
R standard(const Call& c) { return {dropped(un(Fn::sqrt0, variance(c)), c)}; }
R norm(const Call& c) {
  V x = c.x[0];
  Dims axes = axes_of(c);
  std::string ord = c.a.sym("ord", "two");
  V y;
  if (ord == "one") y = sum(un(Fn::abs, x), axes, true);
  else if (ord == "two") y = un(Fn::sqrt0, sum(x * x, axes, true));
  else if (count_of(x, axes) == 0) y = max_or_zero(x, axes);
  else y = reduce(Red::max, un(Fn::abs, x), axes, true);
  return {dropped(y, c)};
}
R logsumexp(const Call& c) {
  V x = c.x[0];
  Dims axes = axes_of(c);
  V top = max_or_zero(x, axes);
  if (count_of(x, axes) == 0) return {dropped(top - HUGE_VALQ, c)};
  V shift = select(ew(Fn::isinf, DT::boolean, {top}), lit(0, top), top);
  return {dropped(shift + un(Fn::log, sum(un(Fn::exp, x - shift), axes, true)), c)};
}
template <bool product> R running(const Call& c) {
  V x = c.x[0];
  Int axis = c.a.axis("axis", x.rank(), -1);
  bool reverse = c.a.flag("reverse"), exclusive = c.a.flag("exclusive");
  if (BUG(cumsum_exclusive_reverse_shift) && !product && reverse && exclusive) {
    Dims low(x.rank(), 0), high(x.rank(), 0);
    low[axis] = 1;
    high[axis] = -1;
    return {pad(cum(product, x, axis, reverse, false), low, high, lit(0, x))};
  }
  return {cum(product, x, axis, reverse, exclusive)};
}

R softmax(const Call& c) {
  V x = c.x[0];
  Dims axis = {c.a.axis("axis", x.rank(), -1)};
  V e = un(Fn::exp, x - max_or_zero(x, axis));
  return {e / sum(e, axis, true)};
}
R log_softmax(const Call& c) {
  V x = c.x[0];
  Dims axis = {c.a.axis("axis", x.rank(), -1)};
  V z = x - max_or_zero(x, axis);
  V l = un(Fn::log, sum(un(Fn::exp, z), axis, true));
  if (BUG(log_softmax_derivative_inner_axis) && axis[0] != x.rank() - 1) l = detach(l);
  return {z - l};
}
R masked_softmax(const Call& c) {
  Dims s = joined(c.x[0].shape(), c.x[1].shape());
  V x = broadcast_to(c.x[0], s), m = broadcast_to(c.x[1], s);
  Dims axis = {c.a.axis("axis", x.rank(), -1)};
  V low = select(m, x, broadcast_to(lit(-HUGE_VALQ, x), s));
  Dims k = s;
  k[axis[0]] = 1;
  V any = reduce(Red::any, m, axis, true);
  V top = s[axis[0]] == 0 ? broadcast_to(lit(0, x), k) : detach(select(any, max_or_zero(low, axis), lit(0, x)));
  V e = select(m, un(Fn::exp, select(m, x - top, lit(0, x))), lit(0, x));
  V total = sum(e, axis, true);
  if (BUG(masked_softmax_empty_row)) return {e / total};
  return {select(m, e / select(any, total, lit(1, x)), lit(0, x))};
}

R layer_norm(const Call& c) {
  V x = c.x[0];
  Dims axes = c.a.has("axes") ? c.a.axes("axes", x.rank()) : Dims{x.rank() - 1};
  Real n = Real(count_of(x, axes));
  V d = x - sum(x, axes, true) / n;
  V v = sum(d * d, axes, true) / n;
  if (BUG(layer_norm_variance_constant_over_axes) && axes.size() > 1) v = detach(v);
  V y = d / un(Fn::sqrt, v + c.a.num("eps", 1e-5));
  if (c.opt(1)) y = along_axes(c.x[1], axes, x.rank()) * y;
  return {c.opt(2) ? y + along_axes(c.x[2], axes, x.rank()) : y + 0};
}
R rms_norm(const Call& c) {
  V x = c.x[0];
  Dims axes = c.a.has("axes") ? c.a.axes("axes", x.rank()) : Dims{x.rank() - 1};
  V v = sum(x * x, axes, true) / Real(count_of(x, axes));
  V root = un(Fn::sqrt, v + c.a.num("eps", 1e-5));
  if (BUG(rms_norm_eps_outside_root)) root = un(Fn::sqrt, v) + c.a.num("eps", 1e-5);
  V y = x / root;
  return {c.opt(1) ? along_axes(c.x[1], axes, x.rank()) * y : y};
}
R batch_norm(const Call& c) {
  V x = c.x[0];
  Int axis = c.a.axis("axis", x.rank(), 1), f = x.dim(axis);
  bool training = c.a.flag("training", true);
  Dims rest;
  for (Int i = 0; i < x.rank(); ++i) if (i != axis) rest.push_back(i);
  Real n = Real(count_of(x, rest)), momentum = c.a.num("momentum", 0.1Q), eps = c.a.num("eps", 1e-5);
  V old_mean = c.opt(3) ? c.x[3] : broadcast_to(lit(0, x), {f});
  V old_variance = c.opt(4) ? c.x[4] : broadcast_to(lit(1, x), {f});
  V mu = training ? sum(x, rest) / n : old_mean;
  V d = x - along_axes(mu, {axis}, x.rank());
  V s = sum(d * d, rest);
  V v = training ? s / n : old_variance;
  V y = d / along_axes(un(Fn::sqrt, v + eps), {axis}, x.rank());
  if (c.opt(1)) y = along_axes(c.x[1], {axis}, x.rank()) * y;
  y = c.opt(2) ? y + along_axes(c.x[2], {axis}, x.rank()) : y + 0;
  if (!training) return {y, old_mean, old_variance};
  Real keep = 1 - momentum;
  Real less = BUG(batch_norm_running_variance_biased) ? n : n - 1;
  V mean1 = keep * old_mean + momentum * detach(mu);
  return {y, mean1, keep * old_variance + momentum * (detach(s) / less)};
}
V grouped_norm(V x, V gamma, V beta, Int groups, Real eps) {
  Dims s = {x.dim(0), groups, x.dim(1) / groups};
  s.insert(s.end(), x.shape().begin() + 2, x.shape().end());
  V z = reshape(x, s);
  Dims axes;
  for (Int i = 2; i < z.rank(); ++i) axes.push_back(i);
  Real n = Real(count_of(z, axes));
  V d = z - sum(z, axes, true) / n;
  V v = sum(d * d, axes, true) / n;
  V y = reshape(d / un(Fn::sqrt, v + eps), x.shape());
  if (gamma && BUG(group_norm_scale_by_place_in_group) && groups > 1) {
    Int e = x.dim(1) / groups;
    V first = slice_axis(gamma, 0, 0, e);
    std::vector<V> all(groups, first);
    gamma = concat(all, 0);
  }
  if (gamma) y = along_axes(gamma, {1}, x.rank()) * y;
  return beta ? y + along_axes(beta, {1}, x.rank()) : y + 0;
}
R group_norm(const Call& c) {
  return {grouped_norm(c.x[0], c.opt(1), c.opt(2), c.a.integer("groups"), c.a.num("eps", 1e-5))};
}
R instance_norm(const Call& c) {
  V x = c.x[0];
  if (x.dim(1) == 0) return {x};
  return {grouped_norm(x, c.opt(1), c.opt(2), x.dim(1), c.a.num("eps", 1e-5))};
}

const Register rows{
    {"sum", plain<Red::sum>}, {"mean", mean}, {"prod", plain<Red::prod>}, {"max", plain<Red::max>},
    {"min", plain<Red::min>}, {"argmax", plain<Red::argmax>}, {"argmin", plain<Red::argmin>}, {"any", plain<Red::any>},
    {"all", plain<Red::all>}, {"var", var}, {"std", standard}, {"norm", norm}, {"logsumexp", logsumexp},
    {"cumsum", running<false>}, {"cumprod", running<true>}, {"softmax", softmax}, {"log_softmax", log_softmax},
    {"masked_softmax", masked_softmax}, {"layer_norm", layer_norm}, {"rms_norm", rms_norm},
    {"batch_norm", batch_norm}, {"group_norm", group_norm}, {"instance_norm", instance_norm}};

}  // namespace

// A tensor with one axis per listed axis, stretched to stand at those axes of a tensor of that rank.
V along_axes(V w, const Dims& axes, Int rank) {
  Dims order = axes, perm, shape(rank, 1);
  std::sort(order.begin(), order.end());
  for (Int a : order) perm.push_back(std::find(axes.begin(), axes.end(), a) - axes.begin());
  V t = transpose(w, perm);
  for (std::size_t i = 0; i < order.size(); ++i) shape[order[i]] = t.dim(Int(i));
  return reshape(t, shape);
}
