// Walking several strided views at once: axes of extent 1 are dropped and neighbours joined where all views allow it.
#pragma once
#include "core.h"

namespace adze {

struct Loop {
  Shape extents;
  std::vector<Shape> strides;  // per view
};

Loop collapsed(const Shape& shape, const std::vector<const Shape*>& strides);

// f(offsets, n): a run of n along the innermost axis, whose steps are inner(loop, view).
template <class F> void rows(const Loop& loop, F f) {
  const std::size_t views = loop.strides.size(), axes = loop.extents.size();
  for (I e : loop.extents) if (e == 0) return;
  std::vector<I> at(views, 0);
  if (axes == 0) { f(at, I(1)); return; }
  Shape index(axes, 0);
  const I n = loop.extents[axes - 1];
  for (;;) {
    f(at, n);
    int k = int(axes) - 2;
    for (; k >= 0; --k) {
      for (std::size_t v = 0; v < views; ++v) at[v] += loop.strides[v][k];
      if (++index[k] < loop.extents[k]) break;
      for (std::size_t v = 0; v < views; ++v) at[v] -= loop.strides[v][k] * loop.extents[k];
      index[k] = 0;
    }
    if (k < 0) return;
  }
}
inline I inner(const Loop& l, std::size_t v) { return l.extents.empty() ? 0 : l.strides[v].back(); }

// f(offsets) for every element.
template <class F> void elements(const Loop& loop, F f) {
  rows(loop, [&](const std::vector<I>& at, I n) {
    std::vector<I> o = at;
    for (I k = 0; k < n; ++k) {
      f(o);
      for (std::size_t v = 0; v < o.size(); ++v) o[v] += inner(loop, v);
    }
  });
}

void elementwise_kernel(const Graph& g, const Node& n, const std::vector<View>& in, View out);
void reduce_kernel(const Graph& g, const Node& n, const std::vector<View>& in, View out);
void scan_kernel(const Graph& g, const Node& n, const std::vector<View>& in, View out);
void move_kernel(const Graph& g, const Node& n, const std::vector<View>& in, View out);
void index_kernel(const Graph& g, const Node& n, const std::vector<View>& in, View out);
void matmul_kernel(const Graph& g, const Node& n, const std::vector<View>& in, View out);

}  // namespace adze
