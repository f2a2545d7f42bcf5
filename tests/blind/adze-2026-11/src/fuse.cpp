// Chains of elementwise nodes become one node with a small program; a chain behind a product becomes its epilogue.
#include <algorithm>
#include "core.h"

namespace adze {

namespace {

constexpr std::size_t most_operands = 12;

// A chain under construction: a reference is an operand (>= 0) or an earlier instruction (-1 - its number).
struct Chain {
  std::vector<int> operands;
  std::vector<Instr> steps;
  int operand(int v) {
    auto it = std::find(operands.begin(), operands.end(), v);
    if (it != operands.end()) return int(it - operands.begin());
    operands.push_back(v);
    return int(operands.size()) - 1;
  }
};

constexpr int none = -1000000;

Chain chain_of(const Graph& g, const Node& n) {
  Chain c;
  if (n.op == Op::Fused) {
    c.operands = n.in;
    const int m = int(n.in.size());
    auto back = [&](int r) { return r < 0 ? none : r < m ? r : -1 - (r - m); };
    for (Instr i : n.prog) c.steps.push_back({i.op, i.in, i.dt, 0, back(i.a), back(i.b), back(i.c)});
    return c;
  }
  int ref[3] = {none, none, none};
  for (std::size_t k = 0; k < n.in.size(); ++k) ref[k] = c.operand(n.in[k]);
  const DT from = g.vals[n.in[n.op == Op::Select ? 1 : 0]].dt;
  c.steps.push_back({n.op, from, g.vals[n.out].dt, 0, ref[0], ref[1], ref[2]});
  return c;
}

void finish(Node& n, const Chain& c) {
  const int m = int(c.operands.size());
  auto reg = [&](int r) { return r == none ? -1 : r >= 0 ? r : m + (-1 - r); };
  n.in = c.operands;
  n.prog.clear();
  for (std::size_t k = 0; k < c.steps.size(); ++k) {
    Instr i = c.steps[k];
    if (bug("fused_i32_wraps_at_end") && i.dt == DT::I32 && k + 1 < c.steps.size() && i.op != Op::Store) i.dt = DT::I64;
    n.prog.push_back({i.op, i.in, i.dt, m + int(k), reg(i.a), reg(i.b), reg(i.c)});
  }
  n.op = Op::Fused;
}

// The chain of n with the chain of its operand v in v's place.
Chain inlined(const Chain& n, const Chain& p, int v) {
  Chain r;
  std::vector<int> from_p, from_n;
  for (int o : p.operands) from_p.push_back(r.operand(o));
  r.steps = p.steps;
  for (Instr& i : r.steps) for (int* q : {&i.a, &i.b, &i.c}) if (*q >= 0) *q = from_p[*q];
  const int shift = int(p.steps.size());
  for (int o : n.operands) from_n.push_back(o == v ? -shift : r.operand(o));  // -shift: the last of p's steps
  for (Instr i : n.steps) {
    for (int* q : {&i.a, &i.b, &i.c}) {
      if (*q == none) continue;
      *q = *q >= 0 ? from_n[*q] : *q - shift;
    }
    r.steps.push_back(i);
  }
  return r;
}

}  // namespace

void fuse(Graph& g, const std::vector<int>& outputs) {
  std::vector<int> users(g.vals.size(), 0), at(g.vals.size(), -1);
  for (const Node& n : g.nodes) {
    std::vector<int> in = n.in;
    std::sort(in.begin(), in.end());
    in.erase(std::unique(in.begin(), in.end()), in.end());
    for (int v : in) ++users[v];
  }
  for (int v : outputs) ++users[v];
  std::vector<char> gone(g.nodes.size(), 0);
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    Node& n = g.nodes[i];
    at[n.out] = int(i);
    if (!elementwise(n.op)) continue;
    Chain c = chain_of(g, n);
    bool grown = false;
    for (bool again = true; again;) {
      again = false;
      for (int v : c.operands) {
        Node& p = g.nodes[at[v]];
        if (!elementwise(p.op) || users[v] != 1 || g.vals[v].shape != g.vals[n.out].shape) continue;
        const Chain joined = inlined(c, chain_of(g, p), v);
        if (joined.operands.size() > most_operands) continue;
        c = joined;
        gone[at[v]] = 1;
        grown = again = true;
        break;
      }
    }
    if (grown) finish(n, c);
  }
  // A product among the operands of a chain takes it as its epilogue.
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    Node& n = g.nodes[i];
    if (gone[i] || !elementwise(n.op)) continue;
    const Chain c = chain_of(g, n);
    for (int v : c.operands) {
      const Node& p = g.nodes[at[v]];
      if (p.op != Op::Matmul || !p.prog.empty() || users[v] != 1 || g.vals[v].shape != g.vals[n.out].shape) continue;
      std::vector<int> rest;
      for (int o : c.operands) if (o != v) rest.push_back(o);
      Chain e;
      e.operands = {v};
      for (int o : rest) e.operands.push_back(o);
      std::vector<int> to;
      for (int o : c.operands) to.push_back(e.operand(o));
      e.steps = c.steps;
      for (Instr& s : e.steps) for (int* q : {&s.a, &s.b, &s.c}) if (*q >= 0) *q = to[*q];
      finish(n, e);
      n.op = Op::Matmul;
      n.in = p.in;
      n.in.insert(n.in.end(), rest.begin(), rest.end());
      gone[at[v]] = 1;
      break;
    }
  }
  std::vector<Node> kept;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) if (!gone[i]) kept.push_back(std::move(g.nodes[i]));
  g.nodes = std::move(kept);
  for (std::size_t i = 0; i < g.nodes.size(); ++i) g.vals[g.nodes[i].out].node = int(i);
}

}  // namespace adze
