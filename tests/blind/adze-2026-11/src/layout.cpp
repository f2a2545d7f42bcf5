// Layouts, the arena with lifetimes and in-place reuse, and the executor.
#include "layout.h"
#include <algorithm>
#include <map>
#include "loops.h"

namespace adze {

bool view_as(const Shape& from, const Shape& strides, const Shape& to, Shape& found) {
  found.assign(to.size(), 0);
  if (count(from) == 0 || count(to) == 0) { found = dense_strides(to); return true; }
  Shape fe, fs;
  for (std::size_t k = 0; k < from.size(); ++k) if (from[k] != 1) { fe.push_back(from[k]); fs.push_back(strides[k]); }
  std::size_t i = 0, j = 0;
  while (i < fe.size()) {
    std::size_t i1 = i + 1, j1 = j;
    I p = fe[i], q = 1;
    while (j1 < to.size() && (q < p)) q *= to[j1++];
    while (p != q) {
      if (p < q) p *= fe[i1++];
      else q *= to[j1++];
    }
    for (std::size_t k = i; k + 1 < i1; ++k) {
      const bool repeated = bug("reshape_merges_repeated_axes") && fs[k] == 0;
      if (fs[k] != fs[k + 1] * fe[k + 1] && !repeated) return false;
    }
    I step = fs[i1 - 1];
    for (std::size_t k = j1; k-- > j;) { found[k] = step; step *= to[k]; }
    i = i1;
    j = j1;
  }
  return true;
}

std::vector<Layout> plan_layouts(const Graph& g, const std::vector<View>& input_views) {
  std::vector<Layout> lay(g.vals.size());
  for (const Node& n : g.nodes) {
    Layout& l = lay[n.out];
    const Shape& s = g.vals[n.out].shape;
    l.root = n.out;
    l.strides = dense_strides(s);
    if (n.op == Op::Input) l.strides = input_views[std::size_t(n.at.axis)].strides;
    else if (n.op == Op::Const) l.strides = Shape(s.size(), 0);
    if (!is_view(n.op)) continue;
    const Layout& x = lay[n.in[0]];
    const Shape& xs = g.vals[n.in[0]].shape;
    Shape st;
    I off = x.offset;
    switch (n.op) {
      case Op::Expand: {
        const std::size_t lead = s.size() - xs.size();
        st.assign(s.size(), 0);
        for (std::size_t k = 0; k < xs.size(); ++k) if (xs[k] == s[lead + k]) st[lead + k] = x.strides[k];
        break;
      }
      case Op::Transpose: for (I p : n.at.a) st.push_back(x.strides[p]); break;
      case Op::Slice:
        for (std::size_t k = 0; k < s.size(); ++k) {
          if (s[k] > 0) off += n.at.a[k] * x.strides[k];
          st.push_back(n.at.b[k] * x.strides[k]);
        }
        break;
      case Op::Reshape: if (!view_as(xs, x.strides, s, st)) continue; break;
      default: {  // Unfold
        const std::size_t w = n.at.a.size(), lead = xs.size() - w;
        st.assign(x.strides.begin(), x.strides.begin() + lead);
        for (std::size_t k = 0; k < w; ++k) st.push_back(x.strides[lead + k] * n.at.b[k]);
        for (std::size_t k = 0; k < w; ++k) st.push_back(x.strides[lead + k] * n.at.c[k]);
      }
    }
    l = {x.root, off, st};
  }
  return lay;
}

namespace {

struct Arena {
  std::multimap<I, I> free;  // size, offset
  I size = 0;
  I take(I n) {
    auto it = free.lower_bound(n);
    if (it != free.end() && it->first <= 2 * n) {
      const I at = it->second, whole = it->first;
      free.erase(it);
      if (whole > n) free.insert({whole - n, at + n});
      return at;
    }
    const I at = size;
    size += n;
    return at;
  }
  void give(I at, I n) { if (n > 0) free.insert({n, at}); }
};

}  // namespace

std::vector<I> plan_arena(const Graph& g, const std::vector<Layout>& lay, const std::vector<int>& outputs, I& size) {
  const int never = int(g.nodes.size()) + 1;
  std::vector<int> last(g.vals.size(), -1);
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    for (int v : g.nodes[i].in) {
      last[v] = int(i);
      // A view of a view keeps its root alive as well.
      const bool forgets = bug("lifetime_ignores_view_of_view") && is_view(g.nodes[g.vals[v].node].op) &&
                           is_view(g.nodes[g.vals[g.nodes[g.vals[v].node].in[0]].node].op);
      if (!forgets) last[lay[v].root] = int(i);
    }
  }
  for (int v : outputs) {
    if (bug("output_storage_reused_in_place") && last[v] >= 0 && lay[v].root == v) continue;
    last[lay[v].root] = never;
  }
  std::vector<I> at(g.vals.size(), -1);
  std::vector<char> owned(g.vals.size(), 0);
  Arena arena;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const Node& n = g.nodes[i];
    auto release = [&] {
      for (int v : n.in) {
        const int r = lay[v].root;
        if (owned[r] && last[r] <= int(i)) { owned[r] = 0; arena.give(at[r], count(g.vals[r].shape)); }
      }
    };
    if (n.op == Op::Input || n.op == Op::Const) continue;
    if (lay[n.out].root != n.out) { release(); continue; }
    const I need = count(g.vals[n.out].shape);
    int heir = -1;
    if (elementwise(n.op)) {
      for (int v : n.in) {
        const int r = lay[v].root;
        if (!owned[r] || last[r] != int(i) || count(g.vals[r].shape) != need) continue;
        bool fits = true;  // every operand in this storage is read at the place that is written
        for (int u : n.in) {
          if (lay[u].root != r) continue;
          const bool same = lay[u].offset == 0 && lay[u].strides == lay[n.out].strides;
          if (u == v || !bug("in_place_ignores_transposed_alias")) fits = fits && same;
        }
        if (fits) { heir = r; break; }
      }
    }
    if (heir >= 0) { at[n.out] = at[heir]; owned[heir] = 0; }
    else at[n.out] = arena.take(need);
    owned[n.out] = 1;
    release();
    if (last[n.out] < 0) { owned[n.out] = 0; arena.give(at[n.out], need); }
  }
  size = arena.size;
  return at;
}

std::vector<std::vector<Real>> execute(Graph& g, const std::vector<int>& outputs,
                                       const std::vector<View>& input_views) {
  const std::vector<Layout> lay = plan_layouts(g, input_views);
  I size = 0;
  const std::vector<I> at = plan_arena(g, lay, outputs, size);
  std::vector<Real> arena(std::size_t(size) + 1), constants(g.vals.size());
  auto base = [&](int r) -> Real* {
    const Node& n = g.nodes[g.vals[r].node];
    if (n.op == Op::Input) return input_views[std::size_t(n.at.axis)].p;
    if (n.op == Op::Const) { constants[r] = n.at.value; return &constants[r]; }
    return arena.data() + at[r];
  };
  auto view = [&](int v) { return View{base(lay[v].root) + lay[v].offset, lay[v].strides}; };
  for (const Node& n : g.nodes) {
    if (lay[n.out].root != n.out || n.op == Op::Input || n.op == Op::Const) continue;
    std::vector<View> in;
    for (int v : n.in) in.push_back(view(v));
    const View out = view(n.out);
    if (count(g.vals[n.out].shape) == 0) continue;
    if (elementwise(n.op)) elementwise_kernel(g, n, in, out);
    else if (n.op >= Op::RSum && n.op <= Op::ProdOthers) reduce_kernel(g, n, in, out);
    else if (n.op >= Op::CumSum && n.op <= Op::CumProdPull) scan_kernel(g, n, in, out);
    else if (n.op >= Op::Gather && n.op <= Op::ScatterAlong) index_kernel(g, n, in, out);
    else if (n.op == Op::Matmul) matmul_kernel(g, n, in, out);
    else move_kernel(g, n, in, out);
  }
  std::vector<std::vector<Real>> found;
  for (int v : outputs) {
    const View from = view(v);
    std::vector<Real> r;
    const Shape& s = g.vals[v].shape;
    const Shape dense = dense_strides(s);
    r.resize(std::size_t(count(s)));
    elements(collapsed(s, {&dense, &from.strides}), [&](const std::vector<I>& o) { r[o[0]] = from.p[o[1]]; });
    found.push_back(std::move(r));
  }
  return found;
}

}  // namespace adze
