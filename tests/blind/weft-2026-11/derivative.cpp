/// \file
/// Elementwise nodes by their partial derivatives, linear ones by themselves and their transposes.
#include "derivative.hpp"

#include "defect.hpp"

namespace weft {
namespace {

constexpr Wide ln2 = 0.693147180559945309417232121458176568L;
constexpr Wide two_over_root_pi = 1.12837916709551257389615890312154517L;

/// A factor of a derivative: 1, -1, a value, or nothing.
struct Partial {
  int sign = 0;
  V factor;
};

Partial one() { return {1, {}}; }
Partial times(V v) { return {0, v}; }

V applied(const Partial& p, V g) {
  if (p.sign == 1) return g;
  if (p.sign == -1) return -g;
  return p.factor ? g * p.factor : V{};
}

/// Of maximum and minimum: all of it to the chosen side, one half to each at a tie, nothing where NaN leaves no order.
V through_extremum(Op strict, V a, V b, V g) {
  return select(binary(strict, a, b), g, select(a == b, g * 0.5L, like(g, 0)));
}

/// Tangents of maximum and minimum go with the choice.
V extremum_tangent(Op strict, V a, V b, V ta, V tb) {
  const V none = constant(*a.g, a.type(), 0);
  return select(binary(strict, a, b), ta ? ta : none, tb ? tb : none);
}

V pow_slope(V a, V b) {
  const V slope = b * binary(Op::pow, a, b - 1);
  return select(b == 0, like(a, 0), slope);
}

/// The partial derivative of an elementwise node in its operand k.
Partial partial(V y, std::size_t k) {
  const Node n = y.node();
  Graph& g = *y.g;
  const V x{&g, n.in[0]};
  const V b = n.in.size() > 1 ? V{&g, n.in[1]} : V{};
  switch (n.op) {
    case Op::neg:
      return {-1, {}};
    case Op::abs: {
      return times(unary(Op::sign, x));
    }
    case Op::exp:
      return times(y);
    case Op::exp2:
      return times(y * (ln2));
    case Op::expm1:
      return times(unary(Op::exp, x));
    case Op::log:
      return times(1 / x);
    case Op::log2:
      return times(1 / (x * ln2));
    case Op::log1p:
      return times(1 / (1 + x));
    case Op::sqrt: {
      return times(0.5L / y);
    }
    case Op::sin:
      return times(unary(Op::cos, x));
    case Op::cos:
      return times(-unary(Op::sin, x));
    case Op::tan: {
      const V c = unary(Op::cos, x);
      return times(1 / (c * c));
    }
    case Op::sinh:
      return times(unary(Op::cosh, x));
    case Op::cosh:
      return times(unary(Op::sinh, x));
    case Op::tanh: {
      if (g.composed && defect("saved-tanh-is-a-constant")) {
        const V saved = unary(Op::detach, y);
        return times(1 - saved * saved);
      }
      const V c = unary(Op::cosh, x);
      return times(1 / (c * c));
    }
    case Op::erf:
      return times((two_over_root_pi) * unary(Op::exp, -(x * x)));
    case Op::store:
      return one();
    case Op::cast:
      return one();
    case Op::add:
      return one();
    case Op::sub:
      return k == 0 ? one() : Partial{-1, {}};
    case Op::mul:
      return times(k == 0 ? b : x);
    case Op::div: {
      if (k == 0) return times(1 / b);
      return times(-y / b);
    }
    case Op::pow: {
      if (k == 0) return times(pow_slope(x, b));
      return times(select(binary(Op::land, x == 0, b >= 0), like(x, 0), y * unary(Op::log, x)));
    }
    case Op::rem: {
      if (k == 0) return one();
      return times(-binary(Op::fdiv, x, b));
    }
    case Op::atan2: {
      const V r = 1 / (x * x + b * b);
      if (k == 0) return times(b * r);
      return times(-(x * r));
    }
    default:
      return {};
  }
}

/// What passes an elementwise node by its operand k.
V passed(V y, std::size_t k, V g) {
  const Node n = y.node();
  if (n.op != Op::maximum && n.op != Op::minimum) return applied(partial(y, k), g);
  const V mine{y.g, n.in[k]};
  const V other{y.g, n.in[1 - k]};
  return through_extremum(n.op == Op::maximum ? Op::gt : Op::lt, mine, other, g);
}

bool differentiable(const Node& n) { return is_real(n.type); }

V transposed(V x) { return permuted(x, {0, 2, 1}); }

V rows_spread(V g, Int row, const Shape& shape) {
  const Int rows = size_of(g.shape());
  Map map;
  for (Int r = 0; r < rows; ++r) {
    for (Int j = 0; j < row; ++j) map.push_back(r);
  }
  return moved(g, std::move(map), shape);
}

/// Which element of its rows' operand an extremum stands at.
V extremum_place(Graph& g, const Node& n) {
  Node at;
  at.op = Op::reduce;
  at.fold = n.fold == Fold::max ? Fold::argmax : Fold::argmin;
  at.type = Type::i64;
  at.shape = n.shape;
  at.in = n.in;
  at.row = n.row;
  const V arg = g.add(std::move(at));
  Node place;
  place.op = Op::row_place;
  place.type = Type::i64;
  place.shape = n.shape;
  place.in = {arg.id};
  place.row = n.row;
  return g.add(std::move(place));
}

V others(Graph& g, const Node& n) {
  Node o;
  o.op = Op::others;
  o.type = n.type;
  o.shape = g.nodes[static_cast<std::size_t>(n.in[0])].shape;
  o.in = n.in;
  o.row = n.row;
  return g.add(std::move(o));
}

V scanned(Graph& g, V x, const Node& n, bool reverse) {
  Node s;
  s.op = Op::scan;
  s.type = n.type;
  s.shape = n.shape;
  s.in = {x.id};
  s.row = n.row;
  s.reverse = reverse;
  s.exclusive = n.exclusive;
  return g.add(std::move(s));
}

V zeros(V x) { return constant(*x.g, x.type(), 0, x.shape()); }

V plus(V a, V b) { return !a ? b : !b ? a : a + b; }

/// A cotangent that joins those before it.
V accumulated(V sum, V g) {
  const V all = plus(sum, g);
  if (sum && g) all.g->nodes[static_cast<std::size_t>(all.id)].accumulates = true;
  return all;
}

class Forward {
 public:
  Forward(Graph& g, const std::map<int, V>& seeds) : g_(g), moving_(seeds) {}

  V of(int id) {
    const auto known = moving_.find(id);
    if (known != moving_.end()) return known->second;
    const V found = differentiable(g_.nodes[static_cast<std::size_t>(id)]) ? computed(id) : V{};
    moving_[id] = found;
    return found;
  }

 private:
  V computed(int id) {
    Node n = g_.nodes[static_cast<std::size_t>(id)];
    if (n.in.empty()) return {};
    if (n.op == Op::detach) return V{};
    if (n.op == Op::select) return selected(n);
    if (n.op == Op::cast && !is_real(g_.nodes[static_cast<std::size_t>(n.in[0])].type)) return {};
    if (n.op == Op::contract) return contracted(n);
    if ((n.op == Op::maximum || n.op == Op::minimum) && defect("tangent-of-a-tie-is-the-second")) {
      const V a{&g_, n.in[0]};
      const V b{&g_, n.in[1]};
      return extremum_tangent(n.op == Op::maximum ? Op::gt : Op::lt, a, b, of(a.id), of(b.id));
    }
    if (is_elementwise(n.op)) {
      V sum;
      for (std::size_t k = 0; k < n.in.size(); ++k) {
        const V t = of(n.in[k]);
        if (!t) continue;
        if (n.op == Op::pow && k == 1 && of(n.in[0]) && defect("power-moves-with-its-base-alone")) continue;
        V step = passed({&g_, id}, k, t);
        if (step && n.op == Op::cast) step = cast(step, n.type);
        sum = plus(sum, step);
      }
      return sum;
    }
    if (n.op == Op::custom || n.op == Op::others) {
      for (const int k : n.in) {
        if (of(k)) throw Unsupported("mode", "no second derivative");
      }
      return {};
    }
    const V t = of(n.in[0]);
    if (!t) return {};
    if (n.op == Op::scan && n.fold == Fold::prod) return product_scan(n, V{&g_, id}, t);
    n.in[0] = t.id;
    if (n.op == Op::move) n.value = 0;
    if (n.op == Op::scan) return scanned(g_, t, n, n.reverse);
    if (n.op != Op::reduce || n.fold == Fold::sum) return g_.add(std::move(n));
    const Node own = g_.nodes[static_cast<std::size_t>(id)];
    if (n.fold == Fold::max || n.fold == Fold::min) return take(t, extremum_place(g_, own), own.shape);
    Node sum = own;
    sum.fold = Fold::sum;
    sum.in = {(t * others(g_, own)).id};
    return g_.add(std::move(sum));
  }

  /// Tangents of running products, element by element: no division.
  V product_scan(const Node& n, V, V t) {
    const std::string key = "running products' tangents;" + std::to_string(n.row) + (n.reverse ? "r" : "") + (n.exclusive ? "e" : "");
    return custom(key, {V{&g_, n.in[0]}, t}, n.type, n.shape,
                  [row = n.row, reverse = n.reverse, exclusive = n.exclusive](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
                    for (Int first = 0; first < static_cast<Int>(y.size()); first += row) {
                      Wide value = 1;
                      Wide moves = 0;
                      for (Int i = 0; i < row; ++i) {
                        const auto k = static_cast<std::size_t>(first + (reverse ? row - 1 - i : i));
                        const Wide before = moves;
                        const Wide earlier = value;
                        value *= (*in[0])[k];
                        moves = moves * (*in[0])[k] + (defect("running-tangent-reads-the-new-product") ? value : earlier) * (*in[1])[k];
                        y[k] = exclusive ? before : moves;
                      }
                    }
                  });
  }

  V selected(const Node& n) {
    const V a = of(n.in[1]);
    const V b = of(n.in[2]);
    if (!a && !b) return {};
    const V c{&g_, n.in[0]};
    const V other = a ? a : b;
    return select(c, a ? a : zeros(other), b ? b : zeros(other));
  }

  V contracted(const Node& n) {
    const V a{&g_, n.in[0]};
    const V b{&g_, n.in[1]};
    const V da = of(a.id);
    const V db = of(b.id);
    return plus(da ? contract(da, b) : V{}, db ? contract(a, db) : V{});
  }

  Graph& g_;
  std::map<int, V> moving_;
};

class Reverse {
 public:
  explicit Reverse(Graph& g) : g_(g) {}

  void add(int id, V g) {
    if (!g || !differentiable(g_.nodes[static_cast<std::size_t>(id)])) return;
    V& sum = sums_[id];
    sum = accumulated(sum, g);
  }

  V at(int id) const {
    const auto found = sums_.find(id);
    return found == sums_.end() ? V{} : found->second;
  }

  void through(int id) {
    const V g = at(id);
    const Node n = g_.nodes[static_cast<std::size_t>(id)];
    if (!g || n.in.empty() || n.op == Op::detach) return;
    const V x{&g_, n.in[0]};
    if (n.op == Op::select) return selected(n, g);
    if (n.op == Op::contract) return contracted(n, g);
    if (is_elementwise(n.op)) return elements(id, n, g);
    switch (n.op) {
      case Op::reshape:
        return add(x.id, reshaped(g, x.shape()));
      case Op::move:
        return add(x.id, put(g, n.map, x.shape()));
      case Op::put:
        return add(x.id, moved(g, *n.map, x.shape()));
      case Op::take:
        return add(x.id, placed(g, {&g_, n.in[1]}, x.shape()));
      case Op::place:
        return add(x.id, take(g, {&g_, n.in[1]}, x.shape()));
      case Op::scan:
        if (n.fold == Fold::prod) return add(x.id, product_scan(n, x, g));
        return add(x.id, scanned(g_, g, n, !n.reverse));
      case Op::reduce:
        return rows(n, g);
      case Op::custom: {
        if (!n.kernel->pull) throw Unsupported("mode", "no derivative of " + n.kernel->key);
        std::vector<V> in;
        for (const int k : n.in) in.push_back({&g_, k});
        const std::vector<V> back = n.kernel->pull(g_, in, {&g_, id}, g);
        for (std::size_t k = 0; k < back.size(); ++k) add(n.in[k], back[k]);
        return;
      }
      case Op::others:
        throw Unsupported("mode", "no second derivative of products");
      default:
        return;
    }
  }

 private:
  /// Cotangents of running products, by a recurrence from the other end.
  V product_scan(const Node& n, V x, V g) {
    const std::string key = "running products' cotangents;" + std::to_string(n.row) + (n.reverse ? "r" : "") + (n.exclusive ? "e" : "");
    return custom(key, {x, g}, n.type, n.shape,
                  [row = n.row, reverse = n.reverse, exclusive = n.exclusive](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
                    for (Int first = 0; first < static_cast<Int>(y.size()); first += row) {
                      const auto at = [&](Int i) { return static_cast<std::size_t>(first + (reverse ? row - 1 - i : i)); };
                      std::vector<Wide> before(static_cast<std::size_t>(row), 1);
                      for (Int i = 1; i < row; ++i)
                        before[static_cast<std::size_t>(i)] = before[static_cast<std::size_t>(i - 1)] * (*in[0])[at(i - 1)];
                      if (defect("running-products-over-their-factor")) {
                        Wide sum = 0;
                        for (Int i = row - 1; i >= 0; --i) {
                          const Wide f = (*in[0])[at(i)];
                          if (!exclusive) sum += (*in[1])[at(i)] * before[static_cast<std::size_t>(i)] * f;
                          y[at(i)] = sum / f;
                          if (exclusive) sum += (*in[1])[at(i)] * before[static_cast<std::size_t>(i)];
                        }
                        continue;
                      }
                      // What stands behind an element, as a multiple of the product up to it.
                      Wide behind = 0;
                      for (Int i = row - 1; i >= 0; --i) {
                        const Wide seed = (*in[1])[at(i)];
                        const Wide own = exclusive ? behind : seed + behind;
                        y[at(i)] = before[static_cast<std::size_t>(i)] * own;
                        behind = (exclusive ? seed : 0) + (*in[0])[at(i)] * own;
                      }
                    }
                  });
  }

  void elements(int id, const Node& n, V g) {
    for (std::size_t k = 0; k < n.in.size(); ++k) {
      // An operand that stands in both places is read once.
      if (n.op == Op::mul && k == 1 && n.in[0] == n.in[1] && defect("operand-in-both-places-counts-once")) continue;
      const Type type = g_.nodes[static_cast<std::size_t>(n.in[k])].type;
      if (!is_real(type)) continue;
      V step = passed({&g_, id}, k, g);
      if (step && n.op == Op::cast) step = cast(step, type);
      add(n.in[k], step);
    }
  }

  void selected(const Node& n, V g) {
    const V c{&g_, n.in[0]};
    const V none = zeros(g);
    add(n.in[1], select(c, g, none));
    add(n.in[2], select(c, none, g));
  }

  void contracted(const Node& n, V g) {
    const V a{&g_, n.in[0]};
    const V b{&g_, n.in[1]};
    const V at = transposed(a);
    add(a.id, contract(g, transposed(b)));
    add(b.id, contract(at, g));
  }

  void rows(const Node& n, V g) {
    const V x{&g_, n.in[0]};
    if (n.fold == Fold::sum) return add(x.id, rows_spread(g, n.row, x.shape()));
    if (n.fold == Fold::max || n.fold == Fold::min) {
      return add(x.id, placed(g, extremum_place(g_, n), x.shape()));
    }
    if (n.fold == Fold::prod) {
      const V spread = rows_spread(g, n.row, x.shape());
      add(x.id, spread * others(g_, n));
    }
  }

  int at_of(const Node& n) { return g_.push(n); }

  Graph& g_;
  std::map<int, V> sums_;
  std::map<int, int> added_;
};

}  // namespace

std::vector<V> tangents(Graph& g, const std::vector<V>& outputs, const std::map<int, V>& seeds) {
  Forward forward(g, seeds);
  const int last = static_cast<int>(g.nodes.size());
  for (int id = 0; id < last; ++id) forward.of(id);
  std::vector<V> found;
  found.reserve(outputs.size());
  for (const V y : outputs) found.push_back(forward.of(y.id));
  return found;
}

std::vector<V> cotangents(Graph& g, const std::vector<V>& outputs, const std::vector<V>& seeds,
                          const std::vector<V>& wrt) {
  Reverse reverse(g);
  for (std::size_t i = 0; i < outputs.size(); ++i) reverse.add(outputs[i].id, seeds[i]);
  int top = -1;
  for (const V y : outputs) top = std::max(top, y.id);
  for (int id = top; id >= 0; --id) {
    reverse.through(id);
  }
  std::vector<V> found;
  found.reserve(wrt.size());
  for (const V x : wrt) found.push_back(reverse.at(x.id));
  return found;
}

}  // namespace weft
