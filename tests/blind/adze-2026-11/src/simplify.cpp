// What is done to the graph before anything runs: unused nodes go, constants are folded, pairs of nodes are replaced
// by one or none, and common subexpressions are computed once.
#include <map>
#include <sstream>
#include "core.h"

namespace adze {

namespace {

struct Rewriter {
  Graph& g;
  std::vector<int> alias;
  std::map<std::string, int> seen;
  std::vector<Node> kept;
  std::vector<int> at;  // per value: its node in `kept`

  explicit Rewriter(Graph& graph) : g(graph), alias(graph.vals.size()), at(graph.vals.size(), -1) {
    for (std::size_t v = 0; v < alias.size(); ++v) alias[v] = int(v);
  }
  const Node& node(int v) const { return kept[at[v]]; }
  DT dt(int v) const { return g.vals[v].dt; }
  const Shape& shape(int v) const { return g.vals[v].shape; }
  bool is(int v, Op op) const { return node(v).op == op; }
  bool number(int v, Real x) const { return is(v, Op::Const) && node(v).at.value == x; }
  // Past the rounding of a result, for patterns over two calls.
  int past_store(int v) const {
    while (is(v, Op::Store) && is_real(dt(node(v).in[0])) && is_real(dt(v))) v = node(v).in[0];
    return v;
  }

  void constant(Node& n, Real value) {
    n.op = Op::Const;
    n.in.clear();
    n.at = Attr{};
    n.at.value = value;
  }

  bool fold(Node& n) {  // true if the node became a constant
    if (n.in.empty()) return false;
    for (int v : n.in) if (!is(v, Op::Const)) return false;
    auto value = [&](std::size_t k) { return k < n.in.size() ? node(n.in[k]).at.value : Real(0); };
    if (is_view(n.op)) { constant(n, value(0)); return true; }
    if (n.op == Op::RSum && dt(n.out) == DT::Wide) {
      const Shape& s = shape(n.in[0]);
      I times = 1;
      const std::size_t from = s.size() - std::size_t(n.at.axis);
      for (std::size_t k = from; k < s.size(); ++k) times *= s[k];
      if (times == 0 || !finiteq(value(0))) return false;
      constant(n, value(0) * times);
      return true;
    }
    if (n.op < Op::Neg || n.op > Op::Select) return false;
    const DT from = dt(n.in[n.op == Op::Select ? 1 : 0]);
    Real r = apply(n.op, from, dt(n.out), value(0), value(1), value(2));
    if (bug("folded_integers_in_f64") && is_int(dt(n.out))) r = Real(double(r));
    constant(n, r);
    return true;
  }

  int single(Node& n) {  // the value that n only repeats, or -1
    const int x = n.in.empty() ? -1 : n.in[0];
    const int y = n.in.size() > 1 ? n.in[1] : -1;
    switch (n.op) {
      case Op::Store: {
        if (dt(n.out) == DT::Wide && is_real(dt(x))) return x;
        if (dt(n.out) == dt(x)) return x;
        if (is(x, Op::Store)) {
          const int w = node(x).in[0];
          if (dt(w) == dt(n.out) && dt(w) == DT::I32 && dt(x) == DT::I64) return w;
          const bool integers = is_int(dt(w)) && is_int(dt(x));
          if (bug("cast_there_and_back_dropped") && dt(w) == dt(n.out) && integers) return w;
        }
        return -1;
      }
      case Op::Neg: if (is(x, Op::Neg)) return node(x).in[0]; return -1;
      case Op::Not: if (is(x, Op::Not)) return node(x).in[0]; return -1;
      case Op::Mul:
        if (number(y, 1) && shape(x) == shape(n.out)) return x;
        if (number(x, 1)) return y;
        if (bug("product_with_zero_is_zero") && (number(x, 0) || number(y, 0))) { constant(n, 0); }
        return -1;
      case Op::Exp: {
        const int p = past_store(x);
        if (bug("exp_of_log_cancelled") && is(p, Op::Log)) return node(p).in[0];
        return -1;
      }
      case Op::Max2: case Op::Min2: return x == y ? x : -1;
      case Op::Sqrt: {
        const int p = past_store(x);
        if (bug("root_of_square_cancelled") && is(p, Op::Mul) && node(p).in[0] == node(p).in[1]) return node(p).in[0];
        return -1;
      }
      case Op::Select:
        if (is(x, Op::Const)) {
          const int chosen = node(x).at.value != 0 ? n.in[1] : n.in[2];
          return dt(chosen) == dt(n.out) || (is_real(dt(chosen)) && is_real(dt(n.out))) ? chosen : -1;
        }
        return n.in[1] == n.in[2] ? n.in[1] : -1;
      case Op::RSum: case Op::RProd: case Op::RMax: case Op::RMin:
        if (n.in.size() == 1 && shape(x) != shape(n.out) && count(shape(x)) == count(shape(n.out)) && count(shape(x)) > 0) {
          n.op = Op::Reshape;
          n.at = Attr{};
        }
        return -1;
      case Op::CumSum: case Op::CumProd:
        if (shape(x).back() == 1 && (!n.at.flag2 || bug("scan_of_one_ignores_exclusive"))) return x;
        return -1;
      default: return -1;
    }
  }

  int views(Node& n) {  // views of views; the identity's operand, or -1
    const int x = n.in[0];
    const Node& p = node(x);
    if (p.op == n.op) {
      if (n.op == Op::Reshape || n.op == Op::Expand) n.in[0] = p.in[0];
      if (n.op == Op::Transpose) {
        Shape r;
        for (I k : n.at.a) r.push_back(p.at.a[k]);
        n.at.a = r;
        n.in[0] = p.in[0];
      }
      if (n.op == Op::Slice) {
        for (std::size_t k = 0; k < n.at.a.size(); ++k) {
          n.at.a[k] = p.at.a[k] + (bug("slice_of_slice_start_unscaled") ? n.at.a[k] : p.at.b[k] * n.at.a[k]);
          n.at.b[k] *= p.at.b[k];
        }
        n.in[0] = p.in[0];
      }
    }
    if (n.op == Op::Reshape || n.op == Op::Expand) return shape(n.in[0]) == shape(n.out) ? n.in[0] : -1;
    if (n.op == Op::Transpose) {
      for (std::size_t k = 0; k < n.at.a.size(); ++k) if (n.at.a[k] != I(k)) return -1;
      return n.in[0];
    }
    return -1;
  }

  std::string key(const Node& n) const {
    std::ostringstream o;
    o << int(n.op) << ' ' << int(dt(n.out));
    std::vector<int> in = n.in;
    const bool commutes = n.op == Op::Mul || n.op == Op::Max2 || (n.op == Op::Sub && bug("common_difference_commutes"));
    if (commutes && in[0] > in[1]) std::swap(in[0], in[1]);
    for (int v : in) o << " v" << v;
    for (const Shape* s : {&n.at.a, &n.at.b, &n.at.c, &shape(n.out)}) {
      if (bug("common_slice_key_without_start") && s == &n.at.a && n.op == Op::Slice) continue;
      o << " s";
      for (I e : *s) o << e << ',';
    }
    char text[64];
    quadmath_snprintf(text, sizeof text, "%.36Qe", n.at.value);
    o << ' ' << n.at.axis << n.at.flag;
    if (!bug("common_scan_key_without_exclusive")) o << n.at.flag2;
    o << ' ' << text << (signbitq(n.at.value) ? '-' : '+');
    return o.str();
  }

  void run() {
    for (Node n : g.nodes) {
      for (int& v : n.in) v = alias[v];
      if (n.op != Op::Input) {
        int same = fold(n) ? -1 : single(n);
        if (same < 0 && is_view(n.op) && !n.in.empty()) same = views(n);
        if (same >= 0) { alias[n.out] = same; continue; }
        auto [it, fresh] = seen.insert({key(n), n.out});
        if (!fresh) { alias[n.out] = it->second; continue; }
      }
      at[n.out] = int(kept.size());
      kept.push_back(std::move(n));
    }
    g.nodes = kept;
  }
};

}  // namespace

static void remove_unused(Graph& g, const std::vector<int>& outputs) {
  std::vector<char> used(g.vals.size(), 0);
  for (int v : outputs) used[v] = 1;
  std::vector<Node> kept;
  for (std::size_t i = g.nodes.size(); i-- > 0;) {
    const Node& n = g.nodes[i];
    if (!used[n.out]) continue;
    for (int v : n.in) used[v] = 1;
    kept.push_back(n);
  }
  g.nodes.assign(kept.rbegin(), kept.rend());
  for (std::size_t i = 0; i < g.nodes.size(); ++i) g.vals[g.nodes[i].out].node = int(i);
}

void simplify(Graph& g, std::vector<int>& outputs) {
  remove_unused(g, outputs);
  Rewriter r(g);
  r.run();
  for (int& v : outputs) v = r.alias[v];
  remove_unused(g, outputs);
}

}  // namespace adze
