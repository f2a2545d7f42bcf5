/// \file
/// Calls over axes: reductions, softmax and its family, norms.
#include <algorithm>
#include <limits>

#include "call.hpp"
#include "defect.hpp"
#include "normalisation.hpp"

namespace weft {
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
  const Int count = defect("mean-of-nothing-is-zero") ? std::max<Int>(a.count, 1) : a.count;
  return {reduce(Fold::sum, c.x(), a.list, a.keepdims) / static_cast<Wide>(count)};
}

constexpr Int part = 32;  ///< elements whose moments are taken at once

struct Moments {
  Wide count = 0, mean = 0, squares = 0;
};

/// Moments of two sets of elements together (Chan et al.).
Moments merged(const Moments& a, const Moments& b) {
  const Wide count = a.count + b.count;
  const Wide delta = b.mean - a.mean;
  const Wide between = defect("moments-merge-without-their-distance") ? 0 : delta * delta * a.count * b.count / count;
  return {count, a.mean + delta * b.count / count, a.squares + b.squares + between};
}

Moments moments(const Wide* x, Int n) {
  Moments all;
  for (Int first = 0; first < n; first += part) {
    Moments m;
    m.count = static_cast<Wide>(std::min(part, n - first));
    for (Int k = first; k < std::min(n, first + part); ++k) m.mean += x[k];
    m.mean /= m.count;
    for (Int k = first; k < std::min(n, first + part); ++k) m.squares += (x[k] - m.mean) * (x[k] - m.mean);
    all = first == 0 ? m : merged(all, m);
  }
  return all;
}

/// The variance of each row, of small nodes: [rows, 1].
V variance_composed(V rows, Wide n, Wide correction) {
  V m = kept(Fold::sum, rows, {1}) / n;
  // Of first derivatives the mean's part is zero.
  if (defect("mean-of-the-variance-is-detached")) m = unary(Op::detach, m);
  const V d = rows - m;
  return kept(Fold::sum, d * d, {1}) / (n - correction);
}

V variance(const Call& c, const Axes& a) {
  const V rows = as_rows(c.x(), a.list);
  const Int n = a.count;
  const auto count = static_cast<Wide>(n);
  const Wide correction = c.real("correction");
  if (c.g.composed || n == 0) return variance_composed(rows, count, correction);
  const auto run = [n, correction](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    for (std::size_t r = 0; r < y.size(); ++r)
      y[r] = moments(in[0]->data() + r * static_cast<std::size_t>(n), n).squares / (static_cast<Wide>(n) - correction);
  };
  const auto pull = [count, correction](Graph&, const std::vector<V>& in, V, V g) -> std::vector<V> {
    const V d = in[0] - kept(Fold::sum, in[0], {1}) / count;
    const Wide divisor = defect("variance-backward-without-correction") ? count : count - correction;
    return {g * (d * (2 / divisor))};
  };
  const std::string key = "variance;" + std::to_string(n) + ";" + std::to_string(static_cast<double>(correction));
  return custom(key, {rows}, rows.type(), {rows.shape()[0], 1}, run, pull);
}

/// The root, whose derivative at 0 is 0.
V root(V v) {
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
        x * x,
        a.list));
  if (ord == "one") y = kept(Fold::sum, unary(Op::abs, x), a.list);
  if (ord == "infinity") {
    if (a.count == 0) return {constant(c.g, x.type(), 0, reduced(x.shape(), a.list, a.keepdims))};
    y = kept(Fold::max, unary(Op::abs, x), a.list);
    if (defect("largest-magnitude-backward-without-sign")) {
      const V top = y;
      y = by_hand(top, {x}, [=](V g) -> std::vector<V> {
        return {select(unary(Op::abs, x) == top, broadcast(g, x.shape()), like(x, 0))};
      });
    }
  }
  return {finished(y, x, a)};
}

Results cumsum(const Call& c) {
  const Int axis = c.axis("axis", c.x().shape().size());
  return {scan(c.x(), axis, c.flag("reverse"), c.flag("exclusive"))};
}

Results cumprod(const Call& c) {
  const Int axis = c.axis("axis", c.x().shape().size());
  return {scan(c.x(), axis, c.flag("reverse"), c.flag("exclusive"), Fold::prod)};
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
  t["cumsum"] = cumsum;
  t["cumprod"] = cumprod;
}

}  // namespace weft
