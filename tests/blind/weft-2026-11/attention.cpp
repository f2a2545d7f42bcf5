/// \file
/// Attention in tiles of keys, its backward kernels, and what tells positions apart.
#include <cmath>
#include <limits>

#include "call.hpp"
#include "defect.hpp"
#include "normalisation.hpp"

namespace weft {
namespace {

V matrices_transposed(V x) { return permuted(x, {0, 2, 1}); }

/// [batches, m, n]: which row may attend to which; none where all may.
V live_of(V mask, const Shape& batch, Int m, Int n, bool causal, Graph& g) {
  V live;
  if (mask) {
    Shape shape = batch;
    shape.push_back(m);
    shape.push_back(n);
    live = reshaped(broadcast(mask, shape), {size_of(batch), m, n});
  }
  if (causal) {
    const Int later = defect("causal-from-the-last-rows") ? n - m : 0;
    Map map;
    each_index({size_of(batch), m, n}, [&](const std::vector<Int>& at) { map.push_back(at[2] <= at[1] + later ? 0 : -1); });
    const V order = moved(constant(g, Type::boolean, 1), std::move(map), {size_of(batch), m, n});
    live = live ? binary(Op::land, live, order) : order;
  }
  if (!live) live = constant(g, Type::boolean, 1, {size_of(batch), m, n});
  return live;
}

/// Probabilities of [batches, m, n] scores, row by row in tiles of keys.
V probabilities(V scores, V live) {
  const Int n = scores.shape()[2];
  if (scores.g->composed || n == 0) return masked_rows(scores, live, 2);
  const auto run = [n](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    for (std::size_t first = 0; first < y.size(); first += static_cast<std::size_t>(n)) {
      const Wide* s = in[0]->data() + first;
      const Wide* l = in[1]->data() + first;
      bool any = false;
      for (Int k = 0; k < n; ++k) any = any || l[k] != 0;
      if (!any) continue;
      const auto score = [&](Int k) { return l[k] != 0 ? s[k] : -std::numeric_limits<Wide>::infinity(); };
      const Online o = online(score, n, !defect("masked-tile-of-keys-is-not-guarded"));
      for (Int k = 0; k < n; ++k) y[first + static_cast<std::size_t>(k)] = l[k] != 0 ? std::exp(score(k) - o.top) / o.sum : 0;
    }
  };
  const auto back = [n](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    for (std::size_t first = 0; first < y.size(); first += static_cast<std::size_t>(n)) {
      const Wide* p = in[0]->data() + first;
      const Wide* l = in[1]->data() + first;
      const Wide* g = in[2]->data() + first;
      Wide sum = 0;
      for (Int k = 0; k < n; ++k) sum += l[k] != 0 ? p[k] * g[k] : 0;
      for (Int k = 0; k < n; ++k) y[first + static_cast<std::size_t>(k)] = l[k] != 0 ? p[k] * (g[k] - sum) : 0;
    }
  };
  const std::string key = "attention;" + std::to_string(n);
  const auto pull = [back, key](Graph&, const std::vector<V>& in, V y, V g) -> std::vector<V> {
    return {custom(key + " back", {y, in[1], g}, y.type(), y.shape(), back)};
  };
  return custom(key, {scores, live}, scores.type(), scores.shape(), run, pull);
}

/// q [b, m, d], k [b, n, d], v [b, n, e], live [b, m, n].
V attended(V q, V k, V v, V live, V scale) {
  const V kt = matrices_transposed(k);
  V product = contract(q, kt);
  if (defect("keys-cotangent-is-not-scaled")) {
    product = by_hand(product, {q, k}, [=](V g) -> std::vector<V> {
      // The scale is folded into the queries' part only.
      return {contract(g, k), contract(matrices_transposed(g), q) / scale};
    });
  }
  return contract(probabilities(product * scale, live), v);
}

Results attention(const Call& c) {
  const V q = c.x(0);
  const V k = c.x(1);
  const V v = c.x(2);
  const V mask = c.maybe(3);
  const std::size_t rank = q.shape().size();
  const Int m = q.shape()[rank - 2];
  const Int d = q.shape()[rank - 1];
  const Int n = k.shape()[rank - 2];
  const Int e = v.shape()[rank - 1];
  Shape batch = q.shape();
  batch.resize(rank - 2);
  if (mask) {
    Shape own = mask.shape();
    own.resize(own.size() - 2);
    batch = joined(batch, own);
  }
  const auto spread = [&](V x) {
    Shape shape = batch;
    const Shape own = x.shape();
    shape.insert(shape.end(), own.end() - 2, own.end());
    return reshaped(broadcast(x, shape), {size_of(batch), own[own.size() - 2], own.back()});
  };
  const V live = live_of(mask, batch, m, n, c.flag("causal"), c.g);
  const Int width = defect("default-scale-by-the-width-of-values") ? e : d;
  const V scale = c.maybe(4) ? c.maybe(4) : like(q, 1 / std::sqrt(static_cast<Wide>(width)));
  Shape shape = batch;
  shape.push_back(m);
  shape.push_back(e);
  return {reshaped(attended(spread(q), spread(k), spread(v), live, scale), shape)};
}

/// x [..., n] times the transpose of w [o, n], with a bias.
V projected(V x, V w, V b) {
  Shape shape = x.shape();
  const Int n = shape.back();
  shape.back() = w.shape()[0];
  Int rows = 1;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
  const V y = reshaped(contract(reshaped(x, {1, rows, n}), reshaped(permuted(w, {1, 0}), {1, n, w.shape()[0]})), shape);
  return b ? y + b : y;
}

Results multi_head_attention(const Call& c) {
  const V x = c.x();
  const Shape own = x.shape();
  const std::size_t rank = own.size();
  const Int n = own[rank - 2];
  const Int heads = c.whole("heads");
  const Int a = c.x(1).shape()[0];
  const Int e = a / heads;
  Int b = 1;
  for (std::size_t d = 0; d + 2 < rank; ++d) b *= own[d];
  // [b, n, heads, e] to [b, heads, n, e].
  const auto split = [&](V p) {
    if (defect("heads-in-turn")) return reshaped(permuted(reshaped(p, {b, n, e, heads}), {0, 3, 1, 2}), {b * heads, n, e});
    return reshaped(permuted(reshaped(p, {b, n, heads, e}), {0, 2, 1, 3}), {b * heads, n, e});
  };
  const V q = split(projected(x, c.x(1), c.maybe(5)));
  const V k = split(projected(x, c.x(2), c.maybe(6)));
  const V v = split(projected(x, c.x(3), c.maybe(7)));
  const V live = live_of(c.maybe(9), {b * heads}, n, n, c.flag("causal"), c.g);
  const V h = attended(q, k, v, live, like(x, 1 / std::sqrt(static_cast<Wide>(e))));
  Shape shape = own;
  shape.back() = a;
  const V together = defect("heads-in-turn") ? permuted(reshaped(h, {b, heads, n, e}), {0, 2, 3, 1}) : permuted(reshaped(h, {b, heads, n, e}), {0, 2, 1, 3});
  return {projected(reshaped(together, shape), c.x(4), c.maybe(8))};
}

V places_constant(V x, const std::vector<Wide>& values, const Shape& shape) {
  static int count = 0;
  return custom("!table " + std::to_string(count++), {x}, x.type() == Type::f32 ? Type::f64 : x.type(), shape,
                [values](const Node&, const Kernel::Operands&, std::vector<Wide>& y) { y = values; },
                [](Graph&, const std::vector<V>&, V, V) -> std::vector<V> { return {V{}}; });
}

Results rope(const Call& c) {
  const V x = c.x();
  const Shape own = x.shape();
  const Int n = own[own.size() - 2];
  const Int d = own.back();
  const Int half = d / 2;
  if (size_of(own) == 0) return {x};
  const Wide base = c.real("base");
  std::vector<Wide> rate;
  for (Int i = 0; i < half; ++i) rate.push_back(std::pow(base, -2 * static_cast<Wide>(i) / static_cast<Wide>(d)));
  V position;
  if (c.maybe(1)) {
    position = reshaped(cast(c.maybe(1), Type::f64), {n, 1});
  } else {
    std::vector<Wide> count;
    for (Int p = 0; p < n; ++p) count.push_back(static_cast<Wide>(p));
    position = places_constant(unary(Op::detach, reshaped(c.x(), own)), count, {n, 1});
  }
  V angle = position * places_constant(position, rate, {1, half});
  if (defect("angles-in-single")) angle = cast(store(cast(angle, Type::f32)), Type::f64);
  const bool pairs = c.word("pairing") == "interleaved";
  // [..., n, half, 2] or [..., n, 2, half], the axis of two in front.
  const auto turned = [=](V x, Wide sign) {
    Int b = 1;
    for (std::size_t k = 0; k + 2 < own.size(); ++k) b *= own[k];
    const V two = pairs ? permuted(reshaped(x, {b, n, half, 2}), {3, 0, 1, 2}) : permuted(reshaped(x, {b, n, 2, half}), {2, 0, 1, 3});
    const auto one = [&](Int which) {
      Map map;
      for (Int i = 0; i < b * n * half; ++i) map.push_back(which * b * n * half + i);
      return moved(two, std::move(map), {b, n, half});
    };
    const V cosine = unary(Op::cos, angle);
    const V sine = unary(Op::sin, angle) * sign;
    const V first = one(0) * cosine - one(1) * sine;
    const V second = one(0) * sine + one(1) * cosine;
    Map low;
    Map high;
    const Shape shape = pairs ? Shape{b, n, half, 2} : Shape{b, n, 2, half};
    Map mask;
    each_index(shape, [&](const std::vector<Int>& at) {
      const Int i = pairs ? at[2] : at[3];
      const Int which = pairs ? at[3] : at[2];
      const Int place = (at[0] * n + at[1]) * half + i;
      low.push_back(which == 0 ? place : -1);
      high.push_back(which == 1 ? place : -1);
      mask.push_back(which == 0 ? 0 : -1);
    });
    const V chosen = moved(constant(*x.g, Type::boolean, 1), std::move(mask), shape);
    return reshaped(select(chosen, moved(first, std::move(low), shape), moved(second, std::move(high), shape)), own);
  };
  const V y = turned(x, 1);
  return {by_hand(y, {x}, [=](V g) -> std::vector<V> { return {turned(g, defect("rotation-back-turns-on") ? 1 : -1)}; })};
}

Results sinusoidal_encoding(const Call& c) {
  const V p = c.x();
  const Int width = c.whole("width");
  const Type type = type_named(c.word("dtype"));
  const Wide base = c.real("base");
  Shape shape = p.shape();
  shape.push_back(width);
  const auto run = [=](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Int j = static_cast<Int>(i) % width;
      const Wide angle = (*in[0])[i / static_cast<std::size_t>(width)] *
                         std::pow(base, -2 * static_cast<Wide>(j / 2) / static_cast<Wide>(width));
      y[i] = j % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  };
  const std::string key = "sinusoids;" + std::to_string(width) + ";" + std::to_string(static_cast<double>(base));
  return {custom(key, {p}, type, shape, run, [](Graph&, const std::vector<V>&, V, V) -> std::vector<V> { return {V{}}; })};
}

}  // namespace

void add_attention(Table& t) {
  t["scaled_dot_product_attention"] = attention;
  t["multi_head_attention"] = multi_head_attention;
  t["rope"] = rope;
  t["sinusoidal_encoding"] = sinusoidal_encoding;
}

}  // namespace weft
