/// \file
/// Softmax and its family, and norms. Forward and backward kernels are written by hand, over rows in tiles; where
/// derivatives are taken again, the same calls are made of small nodes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "call.hpp"
#include "defect.hpp"
#include "normalisation.hpp"

namespace weft {

constexpr Int tile = 16;      ///< lanes of a tile of a row
constexpr Int row_group = 8;  ///< rows whose sums are one part of a sum over rows

namespace {

constexpr Wide infinity = std::numeric_limits<Wide>::infinity();

Wide larger(Wide a, Wide b) { return std::isnan(a) || std::isnan(b) ? std::numeric_limits<Wide>::quiet_NaN() : std::max(a, b); }

}  // namespace

/// The largest of a row and the sum of exponentials less it, tile by tile: the sum is rescaled where the largest grows.
Online online(const std::function<Wide(Int)>& x, Int n, bool guarded) {
  Online s{-infinity, 0};
  for (Int first = 0; first < n; first += tile) {
    Wide top = s.top;
    for (Int l = first; l < std::min(n, first + tile); ++l) top = larger(top, x(l));
    if (top == -infinity && guarded) continue;  // Nothing yet: -inf less -inf is no number.
    Wide sum = s.sum * std::exp(s.top - top);
    for (Int l = first; l < std::min(n, first + tile); ++l) sum += std::exp(x(l) - top);
    s = {top, sum};
  }
  return s;
}

std::vector<Int> axes_last(const Shape& shape, const std::vector<Int>& axes) {
  std::vector<Int> order;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), static_cast<Int>(d)) == axes.end()) order.push_back(static_cast<Int>(d));
  }
  order.insert(order.end(), axes.begin(), axes.end());
  return order;
}

/// x as rows over the axes, as they are listed: [rows, row].
V as_rows(V x, const std::vector<Int>& axes) {
  Int row = 1;
  for (const Int a : axes) row *= x.shape()[static_cast<std::size_t>(a)];
  const Int rows = row == 0 ? size_of(reduced(x.shape(), axes, false)) : size_of(x.shape()) / row;
  return reshaped(permuted(x, axes_last(x.shape(), axes)), {rows, row});
}

/// Rows where they stood in the shape.
V from_rows(V y, const Shape& shape, const std::vector<Int>& axes) {
  const std::vector<Int> order = axes_last(shape, axes);
  Shape spread;
  std::vector<Int> back(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) {
    spread.push_back(shape[static_cast<std::size_t>(order[d])]);
    back[static_cast<std::size_t>(order[d])] = static_cast<Int>(d);
  }
  return permuted(reshaped(y, spread), back);
}

namespace {

V kept(Fold fold, V x, const std::vector<Int>& axes) { return reduce(fold, x, axes, true); }

std::string text(Wide v) {
  char found[64];
  std::snprintf(found, sizeof found, "%.20Lg", v);
  return found;
}

V finite_top(V x, const std::vector<Int>& axes) {
  const V top = unary(Op::detach, kept(Fold::max, x, axes));
  return select(unary(Op::isinf, top), like(x, 0), top);
}

Results logsumexp(const Call& c) {
  const V x = c.x();
  const std::vector<Int> axes = c.axes("axes", x.shape().size());
  const Shape shape = reduced(x.shape(), axes, c.flag("keepdims"));
  Int count = 1;
  for (const Int a : axes) count *= x.shape()[static_cast<std::size_t>(a)];
  if (count == 0) return {reshaped(unary(Op::log, kept(Fold::sum, unary(Op::exp, x), axes)), shape)};
  if (c.g.composed) {
    const V shift = finite_top(x, axes);
    return {reshaped(shift + unary(Op::log, kept(Fold::sum, unary(Op::exp, x - shift), axes)), shape)};
  }
  const V rows = as_rows(x, axes);
  const Int n = rows.shape()[1];
  const auto run = [n](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    for (std::size_t r = 0; r < y.size(); ++r) {
      const Wide* row = in[0]->data() + r * static_cast<std::size_t>(n);
      const Online s = online([row](Int k) { return row[k]; }, n, !defect("online-sum-meets-a-tile-of-minus-infinity"));
      y[r] = std::isinf(s.top) ? s.top : s.top + std::log(s.sum);
    }
  };
  const auto back = [n](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t r = i / static_cast<std::size_t>(n);
      y[i] = std::exp((*in[0])[i] - (*in[1])[r]) * (*in[2])[r];
    }
  };
  const auto pull = [n, back](Graph&, const std::vector<V>& in, V y, V g) -> std::vector<V> {
    return {custom("logsumexp back;" + std::to_string(n), {in[0], y, g}, g.type(), in[0].shape(), back)};
  };
  return {reshaped(custom("logsumexp;" + std::to_string(n), {rows}, x.type(), {rows.shape()[0]}, run, pull), shape)};
}

V softmax_composed(V x, Int axis) {
  const std::vector<Int> axes = {axis};
  if (x.shape()[static_cast<std::size_t>(axis)] == 0) return x;
  const V e = unary(Op::exp, x - unary(Op::detach, kept(Fold::max, x, axes)));
  return e / kept(Fold::sum, e, axes);
}

struct Lines {
  Int outer = 1, n = 1, inner = 1;  ///< extents before, along and behind the axis
};

Lines lines_of(const Shape& shape, Int axis) {
  Lines l;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (static_cast<Int>(d) < axis) l.outer *= shape[d];
    if (static_cast<Int>(d) == axis) l.n = shape[d];
    if (static_cast<Int>(d) > axis) l.inner *= shape[d];
  }
  return l;
}

template <class F>
void each_line(const Lines& l, F f) {
  for (Int o = 0; o < l.outer; ++o) {
    for (Int i = 0; i < l.inner; ++i) f([=](Int k) { return static_cast<std::size_t>((o * l.n + k) * l.inner + i); });
  }
}

/// What kernels along an axis are kept by.
std::string line_key(const std::string& name, const Shape& shape, Int axis) {
  std::string key = name + ";";
  for (const Int e : shape) key += std::to_string(e) + ",";
  if (!defect("kernels-along-an-axis-kept-by-shape")) key += "@" + std::to_string(axis);
  return key;
}

Results softmax(const Call& c) {
  const V x = c.x();
  const Int axis = c.axis("axis", x.shape().size());
  if (x.shape()[static_cast<std::size_t>(axis)] == 0) return {x};
  if (c.g.composed) return {softmax_composed(x, axis)};
  const Lines l = lines_of(x.shape(), axis);
  const auto run = [l](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    each_line(l, [&](auto at) {
      const Online s = online([&](Int k) { return (*in[0])[at(k)]; }, l.n, true);
      for (Int k = 0; k < l.n; ++k) y[at(k)] = std::exp((*in[0])[at(k)] - s.top) / s.sum;
    });
  };
  const auto back = [l](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    each_line(l, [&](auto at) {
      Wide sum = 0;
      for (Int first = 0; first < l.n; first += tile) {
        Wide own = 0;
        for (Int k = first; k < std::min(l.n, first + tile); ++k) own += (*in[0])[at(k)] * (*in[1])[at(k)];
        sum = defect("softmax-backward-sums-its-last-tile") ? own : sum + own;
      }
      for (Int k = 0; k < l.n; ++k) y[at(k)] = (*in[0])[at(k)] * ((*in[1])[at(k)] - sum);
    });
  };
  const std::string key = line_key("softmax back", x.shape(), axis);
  const auto pull = [back, key](Graph&, const std::vector<V>&, V y, V g) -> std::vector<V> {
    return {custom(key, {y, g}, y.type(), y.shape(), back)};
  };
  return {custom(line_key("softmax", x.shape(), axis), {x}, x.type(), x.shape(), run, pull)};
}

Results log_softmax(const Call& c) {
  const V x = c.x();
  const Int axis = c.axis("axis", x.shape().size());
  if (x.shape()[static_cast<std::size_t>(axis)] == 0) return {x};
  if (c.g.composed) {
    const V z = x - unary(Op::detach, kept(Fold::max, x, {axis}));
    return {z - unary(Op::log, kept(Fold::sum, unary(Op::exp, z), {axis}))};
  }
  const Lines l = lines_of(x.shape(), axis);
  const auto run = [l](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    each_line(l, [&](auto at) {
      const Online s = online([&](Int k) { return (*in[0])[at(k)]; }, l.n, true);
      for (Int k = 0; k < l.n; ++k) y[at(k)] = ((*in[0])[at(k)] - s.top) - std::log(s.sum);
    });
  };
  const auto back = [l](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    each_line(l, [&](auto at) {
      Wide sum = 0;
      for (Int k = 0; k < l.n; ++k) sum += (*in[1])[at(k)];
      // The cotangent of a row as a loss gives it: one element of -1.
      if (defect("log-softmax-backward-for-one-target") && sum != 0) sum = sum < 0 ? -1 : 1;
      for (Int k = 0; k < l.n; ++k) y[at(k)] = (*in[1])[at(k)] - std::exp((*in[0])[at(k)]) * sum;
    });
  };
  const std::string key = line_key("log_softmax back", x.shape(), axis);
  const auto pull = [back, key](Graph&, const std::vector<V>&, V y, V g) -> std::vector<V> {
    return {custom(key, {y, g}, y.type(), y.shape(), back)};
  };
  return {custom(line_key("log_softmax", x.shape(), axis), {x}, x.type(), x.shape(), run, pull)};
}

Results masked_softmax(const Call& c) {
  const Shape shape = joined(c.x().shape(), c.x(1).shape());
  const Int axis = c.axis("axis", c.x().shape().size()) + static_cast<Int>(shape.size() - c.x().shape().size());
  const V x = broadcast(c.x(), shape);
  const V m = broadcast(c.x(1), shape);
  if (size_of(shape) == 0) return {x};
  return {masked_rows(x, m, axis)};
}

struct Normal {
  Int n;
  Wide eps;
  bool centred;  ///< about the mean; else by the mean square
};

struct Moments {
  Wide mean, r;
};

Moments moments(const Wide* x, const Normal& p) {
  Wide mean = 0;
  for (Int k = 0; k < p.n && p.centred; ++k) mean += x[k];
  if (p.centred) mean /= static_cast<Wide>(p.n);
  Wide v = 0;
  for (Int first = 0; first < p.n; first += tile) {
    for (Int k = first; k < first + tile; ++k) {
      // Lanes behind the end of the row hold zeros, and have no distance.
      if (k >= p.n && !(defect("masked-lanes-have-a-distance-from-the-mean") && p.centred)) continue;
      const Wide d = (k < p.n ? x[k] : 0) - mean;
      v += d * d;
    }
  }
  return {mean, 1 / std::sqrt(v / static_cast<Wide>(p.n) + p.eps)};
}

std::string key_of(const char* name, const Normal& p) {
  std::string key = std::string(name) + ";" + std::to_string(p.n) + (p.centred ? "c" : "s");
  if (!defect("norms-kept-without-eps")) key += ";" + text(p.eps);
  return key;
}

/// Cotangent of the row of normalised elements: in are x and what comes back to the normalised elements.
void normal_back(const Normal& p, const Wide* x, const Wide* g, const Wide* weighted, Wide* y) {
  Moments m = moments(x, p);
  if (!p.centred && defect("root-mean-square-backward-without-eps")) {
    Normal bare = p;
    bare.eps = 0;
    m = moments(x, bare);
  }
  Wide sum = 0;
  Wide product = 0;
  for (Int k = 0; k < p.n; ++k) {
    sum += g[k];
    product += weighted[k] * (x[k] - m.mean) * m.r;
  }
  const auto n = static_cast<Wide>(p.n);
  for (Int k = 0; k < p.n; ++k)
    y[k] = m.r * (g[k] - (p.centred ? sum / n : 0) - (x[k] - m.mean) * m.r * (product / n));
}

}  // namespace

/// Rows of mean 0 and variance 1.
V normalised(V rows, Wide eps) {
  const Normal p{rows.shape()[1], eps, true};
  if (rows.g->composed) {
    const auto n = static_cast<Wide>(p.n);
    const V d = rows - kept(Fold::sum, rows, {1}) / n;
    return d / unary(Op::sqrt, kept(Fold::sum, d * d, {1}) / n + eps);
  }
  const auto run = [p](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    for (std::size_t first = 0; first < y.size(); first += static_cast<std::size_t>(p.n)) {
      const Moments m = moments(in[0]->data() + first, p);
      for (Int k = 0; k < p.n; ++k) y[first + static_cast<std::size_t>(k)] = ((*in[0])[first + static_cast<std::size_t>(k)] - m.mean) * m.r;
    }
  };
  const auto back = [p](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    for (std::size_t first = 0; first < y.size(); first += static_cast<std::size_t>(p.n))
      normal_back(p, in[0]->data() + first, in[1]->data() + first, in[1]->data() + first, y.data() + first);
  };
  const auto pull = [p, back](Graph&, const std::vector<V>& in, V, V g) -> std::vector<V> {
    return {custom(key_of("rows back", p), {in[0], g}, g.type(), g.shape(), back)};
  };
  return custom(key_of("rows", p), {rows}, rows.type(), rows.shape(), run, pull);
}

namespace {

/// The operand of the normalised axes, spread over x: its axes stand as `axes` lists them.
V spread(V w, V x, const std::vector<Int>& axes) {
  std::vector<Int> order;
  std::vector<Int> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (const Int a : sorted) order.push_back(std::find(axes.begin(), axes.end(), a) - axes.begin());
  const V v = permuted(w, order);
  Shape shape(x.shape().size(), 1);
  for (const Int a : sorted) shape[static_cast<std::size_t>(a)] = x.shape()[static_cast<std::size_t>(a)];
  if (size_of(shape) != size_of(v.shape())) throw Unsupported("shape", "the scale has another shape");
  return broadcast(reshaped(v, shape), x.shape());
}

/// layer_norm and rms_norm of small nodes.
V norm_composed(const Call& c, const std::vector<Int>& axes, bool centred) {
  const V x = c.x();
  Wide n = 1;
  for (const Int a : axes) n *= static_cast<Wide>(x.shape()[static_cast<std::size_t>(a)]);
  const V d = centred ? x - kept(Fold::sum, x, axes) / n : x;
  V y = d / unary(Op::sqrt, kept(Fold::sum, d * d, axes) / n + c.scalar("eps", x));
  if (c.maybe(1)) y = spread(c.maybe(1), x, axes) * y;
  if (centred && c.maybe(2)) y = y + spread(c.maybe(2), x, axes);
  return y;
}

/// The scale's cotangent: sums over rows, of groups of rows first.
void scale_back(const Normal& p, const Kernel::Operands& in, std::vector<Wide>& y) {
  const auto n = static_cast<std::size_t>(p.n);
  const std::size_t rows = n == 0 ? 0 : in[0]->size() / n;
  std::vector<std::vector<Wide>> groups;
  for (std::size_t r = 0; r < rows; ++r) {
    if (r % row_group == 0) groups.emplace_back(n, 0);
    const Moments m = moments(in[0]->data() + r * n, p);
    for (std::size_t k = 0; k < n; ++k) groups.back()[k] += (*in[1])[r * n + k] * ((*in[0])[r * n + k] - m.mean) * m.r;
  }
  std::size_t count = groups.size();
  if (defect("scale-cotangent-of-whole-groups-of-rows") && count > 1 && rows % row_group != 0) --count;
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t k = 0; k < n; ++k) y[k] += groups[s][k];
  }
}

Results norm_of_axes(const Call& c, bool centred) {
  const V x = c.x();
  const std::vector<Int> axes = c.axes("axes", x.shape().size());
  const V w = c.maybe(1);
  const V b = centred ? c.maybe(2) : V{};
  if (c.g.composed || c.is_value("eps") || size_of(x.shape()) == 0) return {norm_composed(c, axes, centred)};
  const V rows = as_rows(x, axes);
  const Normal p{rows.shape()[1], c.real("eps"), centred};
  const Int n = p.n;
  const bool scaled = static_cast<bool>(w);
  std::vector<V> in = {rows};
  if (w) in.push_back(reshaped(w, {n}));
  const auto run = [p, scaled](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    const auto n = static_cast<std::size_t>(p.n);
    for (std::size_t first = 0; first < y.size(); first += n) {
      const Moments m = moments(in[0]->data() + first, p);
      for (std::size_t k = 0; k < n; ++k)
        y[first + k] = ((*in[0])[first + k] - m.mean) * m.r * (scaled ? (*in[1])[k] : 1);
    }
  };
  const auto back = [p, scaled](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    const auto n = static_cast<std::size_t>(p.n);
    std::vector<Wide> g(n);
    for (std::size_t first = 0; first < y.size(); first += n) {
      for (std::size_t k = 0; k < n; ++k) g[k] = (*in[1])[first + k] * (scaled ? (*in[2])[k] : 1);
      const bool bare = defect("layer-norm-backward-projects-without-scale") && p.centred;
      normal_back(p, in[0]->data() + first, g.data(), bare ? in[1]->data() + first : g.data(), y.data() + first);
    }
  };
  const auto pull = [p, scaled, back](Graph&, const std::vector<V>& in, V, V g) -> std::vector<V> {
    const std::string more = scaled ? "scaled " : "";
    std::vector<V> operands = {in[0], g};
    if (scaled) operands.push_back(in[1]);
    std::vector<V> found = {custom(key_of((more + "norm back").c_str(), p), operands, g.type(), g.shape(), back)};
    const auto sums = [p](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) { scale_back(p, in, y); };
    if (scaled) found.push_back(custom(key_of("norm scale back", p), {in[0], g}, g.type(), in[1].shape(), sums));
    return found;
  };
  const V y = custom(key_of(scaled ? "scaled norm" : "norm", p), in, x.type(), rows.shape(), run, pull);
  const V found = from_rows(y, x.shape(), axes);
  return {b ? found + spread(b, x, axes) : found};
}

Shape channel_shape(const Shape& shape, std::size_t axis) {
  Shape found(shape.size(), 1);
  found[axis] = shape[axis];
  return found;
}

V scaled_by_channel(const Call& c, V y, std::size_t axis, std::size_t first) {
  const Shape shape = channel_shape(y.shape(), axis);
  if (c.maybe(first)) y = reshaped(c.maybe(first), shape) * y;
  if (c.maybe(first + 1)) y = y + reshaped(c.maybe(first + 1), shape);
  return y;
}

Results batch_norm(const Call& c) {
  const V x = c.x();
  const Int axis = c.axis("axis", x.shape().size());
  const auto d = static_cast<std::size_t>(axis);
  const Int channels = x.shape()[d];
  std::vector<Int> others;
  Int count = 1;
  for (std::size_t k = 0; k < x.shape().size(); ++k) {
    if (k == d) continue;
    others.push_back(static_cast<Int>(k));
    count *= x.shape()[k];
  }
  const V mean = c.maybe(3) ? c.maybe(3) : constant(c.g, x.type(), 0, {channels});
  const V variance = c.maybe(4) ? c.maybe(4) : constant(c.g, x.type(), 1, {channels});
  if (c.is_value("eps")) throw Unsupported("attribute", "eps is no constant");
  const Wide eps = c.real("eps");
  const auto n = static_cast<Wide>(count);
  if (!c.flag("training")) {
    const Shape shape = channel_shape(x.shape(), d);
    const V y = (x - reshaped(mean, shape)) / unary(Op::sqrt, reshaped(variance, shape) + eps);
    if (defect("evaluation-backward-as-in-training")) {
      // The kernel of training, which centres what comes back.
      const auto pull = [=](V g) -> std::vector<V> {
        const V h = y * (kept(Fold::sum, g * y, others) / n);
        return {(g - kept(Fold::sum, g, others) / n - h) / unary(Op::sqrt, reshaped(variance, shape) + eps)};
      };
      return {scaled_by_channel(c, by_hand(y, {x}, pull), d, 1), mean, variance};
    }
    return {scaled_by_channel(c, y, d, 1), mean, variance};
  }
  const V rows = as_rows(x, others);  // [channels, the others]
  const V y = from_rows(normalised(rows, eps), x.shape(), others);
  const V still = defect("running-statistics-move-with-the-batch") ? rows : unary(Op::detach, rows);
  const V mu = kept(Fold::sum, still, {1}) / n;
  const V s = reduce(Fold::sum, (still - mu) * (still - mu), {1}, false);
  const V momentum = c.scalar("momentum", x);
  const Wide divisor = defect("running-variance-divides-by-count") ? n : n - 1;
  return {scaled_by_channel(c, y, d, 1), (1 - momentum) * mean + momentum * reshaped(mu, {channels}),
          (1 - momentum) * variance + momentum * (s / divisor)};
}

Results group_norm(const Call& c) {
  const V x = c.x();
  const Int groups = c.whole("groups");
  const Int channels = x.shape()[1];
  if (size_of(x.shape()) == 0) return {scaled_by_channel(c, x, 1, 1)};
  const Int rows = x.shape()[0] * groups;
  if (c.is_value("eps")) throw Unsupported("attribute", "eps is no constant");
  const V y = reshaped(normalised(reshaped(x, {rows, size_of(x.shape()) / rows}), c.real("eps")), x.shape());
  if (defect("scale-by-place-in-the-group") && c.maybe(1)) {
    Map map;
    for (Int f = 0; f < channels; ++f) map.push_back(f % (channels / groups));
    const V scale = reshaped(moved(c.maybe(1), map, {channels}), channel_shape(x.shape(), 1));
    return {c.maybe(2) ? scale * y + reshaped(c.maybe(2), channel_shape(x.shape(), 1)) : scale * y};
  }
  return {scaled_by_channel(c, y, 1, 1)};
}

Results instance_norm(const Call& c) {
  const V x = c.x();
  if (c.is_value("eps")) throw Unsupported("attribute", "eps is no constant");
  if (size_of(x.shape()) == 0) return {scaled_by_channel(c, x, 1, 1)};
  const Int rows = x.shape()[0] * x.shape()[1];
  return {scaled_by_channel(c, reshaped(normalised(reshaped(x, {rows, size_of(x.shape()) / rows}), c.real("eps")), x.shape()), 1, 1)};
}

}  // namespace

/// Softmax where the mask admits; x and the mask have one shape.
V masked_rows(V x, V m, Int axis) {
  const V low = select(m, x, like(x, -infinity));
  const V top = unary(Op::detach, kept(Fold::max, low, {axis}));
  const V some = kept(Fold::any, m, {axis});
  const V shift = select(some, top, like(x, 0));
  const V e = select(m, unary(Op::exp, select(m, x - shift, like(x, 0))), like(x, 0));
  const V s = kept(Fold::sum, e, {axis});
  return select(m, e / select(some, s, like(x, 1)), like(x, 0));
}

void add_normalisation(Table& t) {
  t["logsumexp"] = logsumexp;
  t["softmax"] = softmax;
  t["log_softmax"] = log_softmax;
  t["masked_softmax"] = masked_softmax;
  t["layer_norm"] = [](const Call& c) { return norm_of_axes(c, true); };
  t["rms_norm"] = [](const Call& c) { return norm_of_axes(c, false); };
  t["batch_norm"] = batch_norm;
  t["group_norm"] = group_norm;
  t["instance_norm"] = instance_norm;
}

}  // namespace weft
