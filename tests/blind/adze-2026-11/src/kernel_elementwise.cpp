// Elementwise nodes and fused chains: blocks of eight along the innermost run, then a tail.
#include "loops.h"

#include <algorithm>

namespace adze {

Loop collapsed(const Shape& shape, const std::vector<const Shape*>& strides) {
  Loop l;
  l.strides.resize(strides.size());
  const std::size_t judged = bug("collapse_skips_last_operand") && strides.size() > 3 ? strides.size() - 1 : strides.size();
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 1) continue;
    bool joins = !l.extents.empty();
    for (std::size_t v = 0; v < judged && joins; ++v) {
      joins = l.strides[v].back() == (*strides[v])[k] * shape[k];
    }
    if (joins) l.extents.back() *= shape[k];
    else l.extents.push_back(shape[k]);
    for (std::size_t v = 0; v < strides.size(); ++v) {
      if (joins) l.strides[v].back() = (*strides[v])[k];
      else l.strides[v].push_back((*strides[v])[k]);
    }
  }
  return l;
}

static constexpr int lanes = 8;

// One block of a chain; registers hold `lanes` numbers each.
static void run_block(const std::vector<Instr>& prog, std::vector<Real>& reg, int used) {
  for (const Instr& i : prog) {
    const Real* a = &reg[i.a * lanes];
    const Real* b = &reg[(i.b < 0 ? i.a : i.b) * lanes];
    const Real* c = &reg[(i.c < 0 ? i.a : i.c) * lanes];
    Real* d = &reg[i.dst * lanes];
    for (int k = 0; k < used; ++k) d[k] = apply(i.op, i.in, i.dt, a[k], b[k], c[k]);
  }
}

void elementwise_kernel(const Graph& g, const Node& n, const std::vector<View>& in, View out) {
  const Shape& shape = g.vals[n.out].shape;
  std::vector<Instr> single;
  if (n.op != Op::Fused) {
    const int m = int(in.size());
    const DT from = g.vals[n.in[n.op == Op::Select ? 1 : 0]].dt;
    single.push_back({n.op, from, g.vals[n.out].dt, m, 0, m > 1 ? 1 : -1, m > 2 ? 2 : -1});
  }
  const std::vector<Instr>& prog = n.op == Op::Fused ? n.prog : single;
  std::vector<const Shape*> st{&out.strides};
  for (const View& v : in) st.push_back(&v.strides);
  const Loop loop = collapsed(shape, st);
  std::vector<Real> reg((in.size() + prog.size() + 1) * lanes);
  const int result = prog.back().dst;
  rows(loop, [&](const std::vector<I>& at, I len) {
    for (I from = 0; from < len; from += lanes) {
      const int used = int(std::min<I>(lanes, len - from));
      for (std::size_t v = 0; v < in.size(); ++v) {
        I step = inner(loop, v + 1);
        if (bug("tail_reads_contiguous") && used < lanes && from > 0 && step > 1) {
          for (int k = 0; k < used; ++k) reg[v * lanes + k] = in[v].p[at[v + 1] + from * step + k];
          continue;
        }
        for (int k = 0; k < used; ++k) reg[v * lanes + k] = in[v].p[at[v + 1] + (from + k) * step];
      }
      run_block(prog, reg, used);
      const I step = inner(loop, 0);
      for (int k = 0; k < used; ++k) out.p[at[0] + (from + k) * step] = reg[result * lanes + k];
    }
  });
}

}  // namespace adze
