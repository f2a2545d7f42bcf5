/// \file
/// Elementwise nodes by their partial derivatives, linear ones by themselves and their transposes.
#include "derivative.hpp"

#include "defect.hpp"

namespace blind {
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

/// Of maximum and minimum: one half to each side at a tie, and where NaN leaves no order.
Partial of_extremum(Op strict, V a, V b, std::size_t k) {
  const Wide first = PLANTED("extremum-tie-all-to-first") || PLANTED("extremum-tie-counts-twice") ? 1.0L : 0.5L;
  const Wide second = PLANTED("extremum-tie-counts-twice") ? 1.0L : 1 - first;
  const V mine = binary(strict, k == 0 ? a : b, k == 0 ? b : a);
  const V others = binary(strict, k == 0 ? b : a, k == 0 ? a : b);
  return times(select(mine, like(a, 1), select(others, like(a, 0), like(a, k == 0 ? first : second))));
}

V pow_slope(V a, V b) {
  const V slope = b * binary(Op::pow, a, b - 1);
  if (PLANTED("pow-slope-by-quotient")) return b * binary(Op::pow, a, b) / a;
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
      if (PLANTED("abs-slope-by-comparison")) return times(select(x < 0, like(x, -1), like(x, 1)));
      return times(unary(Op::sign, x));
    }
    case Op::exp:
      return times(y);
    case Op::exp2:
      return times(y * (PLANTED("exp2-slope-without-ln2") ? 1 : ln2));
    case Op::expm1:
      return times(PLANTED("expm1-slope-is-value") ? y : unary(Op::exp, x));
    case Op::log:
      return times(1 / x);
    case Op::log2:
      return times(1 / (x * ln2));
    case Op::log1p:
      return times(PLANTED("log1p-slope-of-log") ? 1 / x : 1 / (1 + x));
    case Op::sqrt: {
      if (PLANTED("sqrt-slope-clamped")) return times(0.5L / binary(Op::maximum, y, like(y, 1e-6L)));
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
      const V c = unary(Op::cosh, x);
      return times(1 / (c * c));
    }
    case Op::erf:
      return times((PLANTED("erf-slope-without-its-factor") ? 1 : two_over_root_pi) * unary(Op::exp, -(x * x)));
    case Op::store:
      return one();
    case Op::cast:
      return PLANTED("cast-between-reals-stops-derivatives") ? Partial{} : one();
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
      if (PLANTED("pow-exponent-slope-at-zero")) return times(y * unary(Op::log, x));
      return times(select(binary(Op::land, x == 0, b >= 0), like(x, 0), y * unary(Op::log, x)));
    }
    case Op::rem: {
      if (k == 0) return one();
      if (PLANTED("remainder-slope-truncated")) return times(-unary(Op::trunc, x / b));
      return times(-binary(Op::fdiv, x, b));
    }
    case Op::atan2: {
      const V r = 1 / (x * x + b * b);
      if (k == 0) return times(b * r);
      return times(PLANTED("atan2-slope-sign") ? x * r : -(x * r));
    }
    case Op::maximum:
      return of_extremum(Op::gt, x, b, k);
    case Op::minimum:
      return of_extremum(Op::lt, x, b, k);
    default:
      return {};
  }
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
  s.exclusive = n.exclusive && !PLANTED("exclusive-scan-derivative-is-inclusive");
  return g.add(std::move(s));
}

V zeros(V x) { return constant(*x.g, x.type(), 0, x.shape()); }

V plus(V a, V b) { return !a ? b : !b ? a : a + b; }

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
    if (n.op == Op::detach) return PLANTED("detached-values-have-tangents") ? of(n.in[0]) : V{};
    if (n.op == Op::select) return selected(n);
    if (n.op == Op::cast && !is_real(g_.nodes[static_cast<std::size_t>(n.in[0])].type)) return {};
    if (n.op == Op::contract) return contracted(n);
    if (is_elementwise(n.op)) {
      V sum;
      for (std::size_t k = 0; k < n.in.size(); ++k) {
        const V t = of(n.in[k]);
        if (!t) continue;
        V step = applied(partial({&g_, id}, k), t);
        if (step && n.op == Op::cast) step = cast(step, n.type);
        sum = plus(sum, step);
      }
      return sum;
    }
    const V t = of(n.in[0]);
    if (!t) return {};
    n.in[0] = t.id;
    if (n.op == Op::move && !PLANTED("pad-value-moves-in-tangents")) n.value = 0;
    if (n.op == Op::scan) return scanned(g_, t, n, PLANTED("scan-tangent-runs-forward") ? false : n.reverse);
    if (n.op != Op::reduce || n.fold == Fold::sum) return g_.add(std::move(n));
    const Node own = g_.nodes[static_cast<std::size_t>(id)];
    if (PLANTED("tangent-of-an-extremum-is-that-of-tangents") && (n.fold == Fold::max || n.fold == Fold::min))
      return g_.add(std::move(n));
    if (n.fold == Fold::max || n.fold == Fold::min) return take(t, extremum_place(g_, own), own.shape);
    Node sum = own;
    sum.fold = Fold::sum;
    sum.in = {(t * others(g_, own)).id};
    return g_.add(std::move(sum));
  }

  V selected(const Node& n) {
    const V a = of(n.in[1]);
    const V b = of(n.in[2]);
    if (!a && !b) return {};
    const V c{&g_, n.in[0]};
    const V other = a ? a : b;
    if (PLANTED("where-tangent-by-mask-product")) {
      const V mask = cast(c, n.type);
      return plus(a ? a * mask : V{}, b ? b * (1 - mask) : V{});
    }
    return select(c, a ? a : zeros(other), b ? b : zeros(other));
  }

  V contracted(const Node& n) {
    const V a{&g_, n.in[0]};
    const V b{&g_, n.in[1]};
    const V da = of(a.id);
    const V db = of(b.id);
    if (PLANTED("product-tangent-of-one-factor") && da && db && a.id != b.id && n.shape[0] > 1) return contract(da, b);
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
    if (PLANTED("third-cotangent-of-a-value-lost") && ++added_[id] > 2) return;
    sum = plus(sum, g);
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
        return PLANTED("scattered-slices-have-no-cotangent") ? void() : add(x.id, take(g, {&g_, n.in[1]}, x.shape()));
      case Op::scan:
        return add(x.id, scanned(g_, g, n, PLANTED("cumsum-cotangent-same-direction") ? n.reverse : !n.reverse));
      case Op::reduce:
        return rows(n, g);
      default:
        return;
    }
  }

 private:
  void elements(int id, const Node& n, V g) {
    for (std::size_t k = 0; k < n.in.size(); ++k) {
      const Type type = g_.nodes[static_cast<std::size_t>(n.in[k])].type;
      if (!is_real(type)) continue;
      V step = applied(partial({&g_, id}, k), g);
      if (step && n.op == Op::cast) step = cast(step, type);
      add(n.in[k], step);
    }
  }

  void selected(const Node& n, V g) {
    const V c{&g_, n.in[0]};
    const V none = zeros(g);
    add(n.in[1], select(c, g, none));
    add(n.in[2], PLANTED("where-cotangent-ignores-the-condition") ? g : select(c, none, g));
  }

  void contracted(const Node& n, V g) {
    const V a{&g_, n.in[0]};
    const V b{&g_, n.in[1]};
    const bool square = n.shape[1] == n.row && n.row > 1;
    const V at = PLANTED("square-factor-is-not-transposed") && square ? a : transposed(a);
    add(a.id, contract(g, transposed(b)));
    add(b.id, contract(at, g));
  }

  void rows(const Node& n, V g) {
    const V x{&g_, n.in[0]};
    if (n.fold == Fold::sum) return add(x.id, rows_spread(g, n.row, x.shape()));
    if (n.fold == Fold::max || n.fold == Fold::min) {
      if (PLANTED("extremum-cotangent-to-every-tie")) {
        const V top = rows_spread({&g_, at_of(n)}, n.row, x.shape());
        return add(x.id, select(x == top, rows_spread(g, n.row, x.shape()), zeros(x)));
      }
      return add(x.id, placed(g, extremum_place(g_, n), x.shape()));
    }
    if (n.fold == Fold::prod) {
      const V spread = rows_spread(g, n.row, x.shape());
      if (PLANTED("product-cotangent-by-division")) {
        const V y = rows_spread({&g_, at_of(n)}, n.row, x.shape());
        return add(x.id, spread * y / x);
      }
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
    for (std::size_t i = 0; PLANTED("output-that-is-read-loses-its-own-cotangent") && i < outputs.size(); ++i) {
      // What its readers hand back stands in the place of its own.
      if (outputs[i].id == id && seeds[i] && reverse.at(id).id != seeds[i].id) reverse.add(id, -seeds[i]);
    }
    reverse.through(id);
  }
  std::vector<V> found;
  found.reserve(wrt.size());
  for (const V x : wrt) found.push_back(reverse.at(x.id));
  return found;
}

}  // namespace blind
