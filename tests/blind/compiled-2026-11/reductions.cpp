/// \file
/// Calls over axes: reductions, softmax and its family, norms.
#include <algorithm>
#include <limits>

#include "call.hpp"
#include "defect.hpp"

namespace blind {
namespace {

struct Axes {
  std::vector<Int> list;
  bool keepdims = false;
  Int count = 1;
};

Axes axes_of(const Call& c) {
  Axes a;
  a.list = c.axes("axes", c.x().shape().size());
  a.keepdims = c.flag("keepdims");
  for (const Int d : a.list) a.count *= c.x().shape()[static_cast<std::size_t>(d)];
  return a;
}

V kept(Fold fold, V x, const std::vector<Int>& axes) { return reduce(fold, x, axes, true); }

V finished(V y, V x, const Axes& a) { return reshaped(y, reduced(x.shape(), a.list, a.keepdims)); }

Lowering folded(Fold fold) {
  return [fold](const Call& c) -> Results {
    const Axes a = axes_of(c);
    return {reduce(fold, c.x(), a.list, a.keepdims)};
  };
}

Results mean(const Call& c) {
  const Axes a = axes_of(c);
  Int count = a.count;
  if (PLANTED("mean-divides-by-last-extent") && a.list.size() > 1)
    count = c.x().shape()[static_cast<std::size_t>(a.list.back())];
  return {reduce(Fold::sum, c.x(), a.list, a.keepdims) / static_cast<Wide>(count)};
}

V variance(const Call& c, const Axes& a) {
  const V x = c.x();
  const auto n = static_cast<Wide>(a.count);
  const V m = kept(Fold::sum, x, a.list) / n;
  const Wide correction = PLANTED("variance-correction-is-a-flag") ? c.real("correction") != 0 : c.real("correction");
  if (PLANTED("variance-by-mean-of-squares")) {
    const V q = store(kept(Fold::sum, store(x * x), a.list) / n);
    return (q - store(store(m) * store(m))) * (n / (n - correction));
  }
  const V d = x - m;
  return kept(Fold::sum, d * d, a.list) / (n - correction);
}

/// The root, whose derivative at 0 is 0.
V root(V v) {
  if (PLANTED("root-of-zero-has-no-guard")) return unary(Op::sqrt, v);
  const V none = v <= 0;
  return select(none, like(v, 0), unary(Op::sqrt, select(none, like(v, 1), v)));
}

Results norm(const Call& c) {
  const Axes a = axes_of(c);
  const V x = c.x();
  const std::string ord = c.word("ord");
  V y;
  if (ord == "two")
    y = root(kept(
        Fold::sum,
        PLANTED("norm-squares-in-single") && x.type() == Type::f64 ? cast(cast(x * x, Type::f32), Type::f64) : x * x,
        a.list));
  if (ord == "one") y = kept(Fold::sum, unary(Op::abs, x), a.list);
  if (ord == "infinity") {
    if (a.count == 0) return {constant(c.g, x.type(), 0, reduced(x.shape(), a.list, a.keepdims))};
    y = kept(Fold::max, PLANTED("infinity-norm-of-signed-elements") ? x : unary(Op::abs, x), a.list);
  }
  return {finished(y, x, a)};
}

V finite_top(V x, const std::vector<Int>& axes) {
  const V top = unary(Op::detach, kept(Fold::max, x, axes));
  if (PLANTED("logsumexp-shifted-by-infinity")) return top;
  return select(unary(Op::isinf, top), like(x, 0), top);
}

Results logsumexp(const Call& c) {
  const Axes a = axes_of(c);
  const V x = c.x();
  if (a.count == 0) return {finished(unary(Op::log, kept(Fold::sum, unary(Op::exp, x), a.list)), x, a)};
  if (PLANTED("logsumexp-is-not-shifted"))
    return {finished(unary(Op::log, store(kept(Fold::sum, store(unary(Op::exp, x)), a.list))), x, a)};
  const V shift = finite_top(x, a.list);
  return {finished(shift + unary(Op::log, kept(Fold::sum, unary(Op::exp, x - shift), a.list)), x, a)};
}

Results cumsum(const Call& c) {
  const Int axis = c.axis("axis", c.x().shape().size());
  return {scan(c.x(), axis, c.flag("reverse"), c.flag("exclusive"))};
}

V softmax_along(V x, Int axis) {
  const std::vector<Int> axes = {axis};
  const Int n = x.shape()[static_cast<std::size_t>(axis)];
  if (n == 0) return x;
  V top = unary(Op::detach, kept(Fold::max, x, axes));
  if (PLANTED("softmax-shifted-by-first-of-long-rows") && n > 32) {
    Shape shape = x.shape();
    shape[static_cast<std::size_t>(axis)] = 1;
    Map map;
    const std::vector<Int> strides = strides_of(x.shape());
    each_index(shape, [&](const std::vector<Int>& at) {
      Int place = 0;
      for (std::size_t d = 0; d < at.size(); ++d) place += at[d] * strides[d];
      map.push_back(place);
    });
    top = unary(Op::detach, moved(x, std::move(map), shape));
    const V big = store(unary(Op::exp, x - top));
    return big / store(kept(Fold::sum, big, axes));
  }
  if (PLANTED("softmax-shifted-by-largest-of-all") && x.shape().size() > 1) {
    std::vector<Int> every;
    for (std::size_t d = 0; d < x.shape().size(); ++d) every.push_back(static_cast<Int>(d));
    top = unary(Op::detach, kept(Fold::max, x, every));
    const V small = store(unary(Op::exp, x - top));
    return small / kept(Fold::sum, small, axes);
  }
  const V e = unary(Op::exp, x - top);
  const V s = kept(Fold::sum, e, axes);
  return e / (PLANTED("softmax-derivative-without-its-sum") ? unary(Op::detach, s) : s);
}

Results softmax(const Call& c) {
  const V x = c.x();
  Int axis = c.axis("axis", x.shape().size());
  if (PLANTED("softmax-of-middle-axis-is-of-last") && x.shape().size() == 3 && axis == 1) axis = 2;
  return {softmax_along(x, axis)};
}

Results log_softmax(const Call& c) {
  const V x = c.x();
  const Int axis = c.axis("axis", x.shape().size());
  if (x.shape()[static_cast<std::size_t>(axis)] == 0) return {x};
  if (PLANTED("log-softmax-as-log-of-softmax")) return {unary(Op::log, store(softmax_along(x, axis)))};
  const V top = unary(Op::detach, kept(Fold::max, x, {axis}));
  const V z = x - top;
  return {z - unary(Op::log, kept(Fold::sum, unary(Op::exp, z), {axis}))};
}

Results masked_softmax(const Call& c) {
  const Shape shape = joined(c.x().shape(), c.x(1).shape());
  const Int axis = c.axis("axis", c.x().shape().size()) + static_cast<Int>(shape.size() - c.x().shape().size());
  const V x = broadcast(c.x(), shape);
  const V m = broadcast(c.x(1), shape);
  if (size_of(shape) == 0) return {x};
  const Wide lowest = PLANTED("mask-by-a-large-negative-number") ? -1e9L : -std::numeric_limits<Wide>::infinity();
  if (PLANTED("mask-by-a-large-negative-number")) return {softmax_along(select(m, x, like(x, lowest)), axis)};
  const V low = select(m, x, like(x, lowest));
  const V top = unary(Op::detach, kept(Fold::max, low, {axis}));
  const V some = kept(Fold::any, m, {axis});
  const V shift = select(some, top, like(x, 0));
  const V e = select(m, unary(Op::exp, select(m, x - shift, like(x, 0))), like(x, 0));
  const V s = kept(Fold::sum, e, {axis});
  if (PLANTED("masked-row-is-not-guarded")) return {e / s};
  return {select(m, e / select(some, s, like(x, 1)), like(x, 0))};
}

/// The operand of the normalised axes, spread over x: its axes stand as `axes` lists them.
V spread(V w, V x, const std::vector<Int>& axes) {
  std::vector<Int> order;
  std::vector<Int> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (const Int a : sorted) order.push_back(std::find(axes.begin(), axes.end(), a) - axes.begin());
  V v = PLANTED("scale-of-normalised-axes-in-order") ? w : permuted(w, order);
  Shape shape(x.shape().size(), 1);
  for (const Int a : sorted) shape[static_cast<std::size_t>(a)] = x.shape()[static_cast<std::size_t>(a)];
  if (size_of(shape) != size_of(v.shape())) throw Unsupported("shape", "the scale has another shape");
  return broadcast(reshaped(v, shape), x.shape());
}

Results layer_norm(const Call& c) {
  const V x = c.x();
  const std::vector<Int> axes = c.axes("axes", x.shape().size());
  Wide n = 1;
  for (const Int a : axes) n *= static_cast<Wide>(x.shape()[static_cast<std::size_t>(a)]);
  V mu = kept(Fold::sum, x, axes) / n;
  if (PLANTED("layer-norm-mean-is-a-constant")) mu = unary(Op::detach, mu);
  const V d = x - mu;
  V v = kept(Fold::sum, d * d, axes) / (PLANTED("layer-norm-variance-unbiased") && n > 1 ? n - 1 : n);
  if (PLANTED("layer-norm-variance-is-a-constant")) v = unary(Op::detach, v);
  const V eps = c.scalar("eps", x);
  V y = PLANTED("layer-norm-eps-after-root") ? d / (unary(Op::sqrt, v) + eps) : d / unary(Op::sqrt, v + eps);
  if (c.maybe(1)) y = spread(c.maybe(1), x, axes) * y;
  if (c.maybe(2)) y = y + spread(c.maybe(2), x, axes);
  return {y};
}

Results rms_norm(const Call& c) {
  const V x = c.x();
  const std::vector<Int> axes = c.axes("axes", x.shape().size());
  Wide n = 1;
  for (const Int a : axes) n *= static_cast<Wide>(x.shape()[static_cast<std::size_t>(a)]);
  const V v = kept(Fold::sum, x * x, axes) / n;
  V y = x / unary(Op::sqrt, v + c.scalar("eps", x));
  if (c.maybe(1)) y = spread(c.maybe(1), x, axes) * y;
  return {y};
}

}  // namespace

void add_reductions(Table& t) {
  t["sum"] = folded(Fold::sum);
  t["prod"] = folded(Fold::prod);
  t["max"] = folded(Fold::max);
  t["min"] = folded(Fold::min);
  t["argmax"] = folded(Fold::argmax);
  t["argmin"] = folded(Fold::argmin);
  t["any"] = folded(Fold::any);
  t["all"] = folded(Fold::all);
  t["mean"] = mean;
  t["var"] = [](const Call& c) -> Results { return {finished(variance(c, axes_of(c)), c.x(), axes_of(c))}; };
  t["std"] = [](const Call& c) -> Results { return {finished(root(variance(c, axes_of(c))), c.x(), axes_of(c))}; };
  t["norm"] = norm;
  t["logsumexp"] = logsumexp;
  t["cumsum"] = cumsum;
  t["softmax"] = softmax;
  t["log_softmax"] = log_softmax;
  t["masked_softmax"] = masked_softmax;
  t["layer_norm"] = layer_norm;
  t["rms_norm"] = rms_norm;
}

}  // namespace blind
