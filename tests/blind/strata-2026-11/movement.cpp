// Operations that move elements: views where strides can say it, plans of positions where they cannot. Cotangents go
// back along the same plans.
#include <algorithm>

#include "strata.h"

// ---- views ------------------------------------------------------------------------------------------------------
static Tensor slid(const Tensor& x, int axis, int64_t start, int64_t step, int64_t n) {
  Tensor t = x;
  t.offset += n > 0 ? start * x.strides[axis] : 0;
  t.strides[axis] *= step;
  t.shape[axis] = n;
  return t;
}
static Tensor reshaped(const Tensor& x, const Shape& shape) {
  const bool rows = x.rank() > 0 && x.strides.back() == 1 && x.rank() == 2 && x.strides[0] >= x.shape[1];
  Tensor t = is_dense(x) || (rows && defect("reshape-trusts-the-last-stride")) ? x : dense(x);
  t.shape = shape;
  t.strides = dense_strides(shape);
  return t;
}
static Shape completed(Shape s, int64_t n) {
  int64_t known = 1;
  for (int64_t e : s) if (e != -1) known *= e;
  for (int64_t& e : s) if (e == -1) e = known ? n / known : 0;
  return s;
}
static bool views(const Call& c, const Tensor& x, std::vector<Tensor>* out) {
  const int rank = x.rank();
  Tensor t = x;
  if (c.is("transpose")) {
    Shape p = c.list("permutation");
    if (!c.has("permutation") || c.attributes.at("permutation").kind == Attribute::SYMBOL) { p.clear(); for (int a = rank; a-- > 0;) p.push_back(a); }
    for (int a = 0; a < rank; ++a) { const int64_t q = p[a] < 0 ? p[a] + rank : p[a]; t.shape[a] = x.shape[q]; t.strides[a] = x.strides[q]; }
  } else if (c.is("swap_axes")) {
    const int64_t a = c.axis(rank, "axis1"), b = c.axis(rank, "axis2");
    std::swap(t.shape[a], t.shape[b]);
    std::swap(t.strides[a], t.strides[b]);
  } else if (c.is("reshape") || c.is("literal")) {
    t = reshaped(x, completed(c.list("shape"), x.n()));
  } else if (c.is("flatten")) {
    const int64_t r = std::max(1, rank), start = (c.integer("start", 0) + r) % r, end = (c.integer("end", -1) + r) % r;
    Shape s;
    int64_t joined = 1;
    for (int64_t a = 0; a < rank; ++a) {
      if (a < start) s.push_back(x.shape[a]);
      else if (a <= end) { joined *= x.shape[a]; if (a == end) s.push_back(joined); }
      else s.push_back(x.shape[a]);
    }
    if (rank == 0) s.push_back(1);
    t = reshaped(x, s);
  } else if (c.is("broadcast_to")) {
    const Shape s = c.list("shape");
    t.shape = s;
    t.strides.assign(s.size(), 0);
    for (int a = 0; a < rank; ++a) {
      const size_t to = s.size() - rank + a;
      if (x.shape[a] != 1) t.strides[to] = x.strides[a];
    }
  } else if (c.is("slice")) {
    const Shape start = c.list("start", rank, 0), stop = c.list("stop", rank, 0), step = c.list("step", rank, 1);
    for (int a = 0; a < rank; ++a) {
      const int64_t s = step[a], m = s < 0 ? -s : s, span = (stop[a] - start[a]) * (s < 0 ? -1 : 1) + m - 1;
      t = slid(t, a, start[a], s, span < 0 ? 0 : span / m);
    }
    if (t.n() == 0) t.offset = 0;
  } else if (c.is("select")) {
    const int64_t a = c.axis(rank, "axis", 0), i = c.integer("index");
    t.offset += (i < 0 ? i + x.shape[a] : i) * (defect("select-steps-by-dense-strides") && x.strides[a] > 0 ? std::min(dense_strides(x.shape)[a], x.strides[a]) : x.strides[a]);
    t.shape.erase(t.shape.begin() + a);
    t.strides.erase(t.strides.begin() + a);
  } else if (c.is("flip")) {
    for (int64_t a : c.axes(rank)) t = slid(defect("flip-starts-anew-for-each-axis") ? x : t, (int)a, x.shape[a] - 1, -1, x.shape[a]);
  } else if (c.is("split")) {
    const int64_t a = c.axis(rank, "axis", 0);
    int64_t from = 0;
    for (int64_t n : c.list("sizes")) { out->push_back(slid(x, (int)a, from, 1, n)); from += n; }
    return true;
  } else if (c.is("deinterleave")) {
    const int64_t a = c.axis(rank), n = x.shape[a] / 2;
    const bool halves = defect("deinterleave-takes-halves");
    out->push_back(slid(x, (int)a, 0, halves ? 1 : 2, n));
    out->push_back(slid(x, (int)a, halves ? n : 1, halves ? 1 : 2, n));
    return true;
  } else return false;
  out->push_back(t);
  return true;
}
bool view_of(const Call& c, const Value& x, std::vector<Value>* out) {
  if (c.is("detach")) { Value y; y.v = x.v; out->push_back(y); return true; }
  std::vector<Tensor> v, t;
  if (!views(c, x.v, &v)) return false;
  if (x.has_t()) views(c, x.t, &t);
  for (size_t r = 0; r < v.size(); ++r) {
    Value y;
    y.v = v[r];
    if (x.has_t()) y.t = t[r];
    out->push_back(y);
  }
  return true;
}

// ---- plans ------------------------------------------------------------------------------------------------------
// Per element of a result: the operand and the position in it, or -1 where nothing is read.
struct Plan { Shape shape; std::vector<int> which; std::vector<int64_t> at; };
static Plan planned(const Shape& s) { Plan p; p.shape = s; p.which.assign((size_t)size_of(s), 0); p.at.assign((size_t)size_of(s), -1); return p; }
static void each_index(const Shape& s, const std::function<void(int64_t, const Shape&)>& f) {
  Shape index(s.size(), 0);
  const int64_t n = size_of(s);
  for (int64_t e = 0; e < n; ++e) {
    f(e, index);
    for (size_t a = s.size(); a-- > 0;) { if (++index[a] < s[a]) break; index[a] = 0; }
  }
}
static int64_t flat(const Shape& index, const Shape& strides) { int64_t p = 0; for (size_t a = 0; a < index.size(); ++a) p += index[a] * strides[a]; return p; }

template <class S> static std::vector<Plan> plans_of(const Ctx<S>& c) {
  const Call& call = *c.call;
  const Shape& s = c.in[0].shape;
  const int rank = (int)s.size();
  const Shape d = dense_strides(s);
  std::vector<Plan> plans;
  if (find_op(call.op)->flags & VIEW) {
    Tensor iota = empty_tensor(I64, s);
    for (int64_t k = 0; k < iota.n(); ++k) ((int64_t*)iota.st->data)[k] = k;
    std::vector<Tensor> v;
    views(call, iota, &v);
    for (const Tensor& t : v) {
      Plan p = planned(t.shape);
      each_position(t, [&](int64_t k, int64_t q) { p.at[k] = ((int64_t*)t.st->data)[q]; });
      plans.push_back(p);
    }
    return plans;
  }
  if (call.is("concat") || call.is("stack")) {
    const bool stack = call.is("stack");
    Shape shape = s;
    const int64_t a = call.axis(rank + stack, "axis", 0);
    if (stack) shape.insert(shape.begin() + a, (int64_t)c.in.size());
    else { shape[a] = 0; for (const auto& x : c.in) shape[a] += x.shape[a]; }
    Plan p = planned(shape);
    const Shape to = dense_strides(shape);
    int64_t from = 0;
    for (size_t k = 0; k < c.in.size(); ++k) {
      each_index(c.in[k].shape, [&](int64_t e, const Shape& i) {
        Shape j = i;
        if (stack) j.insert(j.begin() + a, (int64_t)k); else j[a] += from;
        const int64_t q = flat(j, to);
        p.which[q] = (int)k;
        p.at[q] = e;
      });
      if (!stack) from += c.in[k].shape[a];
    }
    plans.push_back(p);
  } else if (call.is("pad")) {
    const Shape low = call.list("low", rank, 0), high = call.list("high", rank, 0);
    Shape shape = s;
    for (int a = 0; a < rank; ++a) shape[a] += low[a] + high[a];
    Plan p = planned(shape);
    each_index(shape, [&](int64_t e, const Shape& i) {
      int64_t q = 0;
      for (int a = 0; a < rank; ++a) { const int64_t j = i[a] - (defect("pad-crops-at-the-end-only") && low[a] < 0 ? 0 : low[a]); if (j < 0 || j >= s[a]) { q = -1; break; } q += j * d[a]; }
      p.at[e] = q;
    });
    plans.push_back(p);
  } else if (call.is("roll")) {
    const Shape axes = call.axes(rank), shift = call.list("shift", (int)axes.size(), 0);
    Plan p = planned(s);
    each_index(s, [&](int64_t e, const Shape& i) {
      Shape j = i;
      for (size_t k = 0; k < axes.size(); ++k) { const int64_t n = s[axes[k]]; j[axes[k]] = ((i[axes[k]] - shift[k]) % n + n) % n; }
      p.at[e] = flat(j, d);
    });
    plans.push_back(p);
  } else if (call.is("tril") || call.is("triu")) {
    const int64_t k = call.integer("diagonal", 0);
    const bool lower = call.is("tril");
    Plan p = planned(s);
    each_index(s, [&](int64_t e, const Shape& i) {
      const int64_t r = i[rank - 2], q = i[rank - 1];
      p.at[e] = (lower ? (defect("tril-compares-unsigned") ? (uint64_t)q <= (uint64_t)(r + k) : q <= r + k) : q >= r + k) ? e : -1;
    });
    plans.push_back(p);
  } else if (call.is("interleave")) {
    const int64_t a = call.axis(rank);
    Shape shape = s;
    shape[a] *= 2;
    Plan p = planned(shape);
    each_index(shape, [&](int64_t e, const Shape& i) {
      Shape j = i;
      p.which[e] = (int)(i[a] % 2);
      j[a] /= 2;
      p.at[e] = flat(j, d);
    });
    plans.push_back(p);
  } else if (call.is("gather") || call.is("embedding")) {
    const int64_t a = call.is("embedding") ? 0 : call.axis(rank, "axis", 0);
    const Shape& ts = c.in[1].shape;
    Shape shape(s.begin(), s.begin() + a);
    shape.insert(shape.end(), ts.begin(), ts.end());
    shape.insert(shape.end(), s.begin() + a + 1, s.end());
    int64_t inner = 1, outer = 1;
    for (int k = 0; k < rank; ++k) { if (k < a) outer *= s[k]; if (k > a) inner *= s[k]; }
    const int64_t m = size_of(ts);
    Plan p = planned(shape);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t j = 0; j < m; ++j) {
        const int64_t t = c.in[1].i[j];
        if (t < 0 || t >= s[a]) continue;
        for (int64_t k = 0; k < inner; ++k) p.at[(o * m + j) * inner + k] = (o * s[a] + t) * inner + k;
      }
    plans.push_back(p);
  } else if (call.is("take_along_axis")) {
    const int64_t a = call.axis(rank);
    Plan p = planned(c.in[1].shape);
    each_index(c.in[1].shape, [&](int64_t e, const Shape& i) {
      Shape j = i;
      j[a] = c.in[1].i[e];
      if (j[a] >= 0 && j[a] < s[a]) p.at[e] = flat(j, d);
    });
    plans.push_back(p);
  } else {  // upsample_nearest
    const Shape scale = call.list("scale", rank - 2, 1);
    Shape shape = s;
    for (int k = 2; k < rank; ++k) shape[k] *= scale[k - 2];
    Plan p = planned(shape);
    each_index(shape, [&](int64_t e, const Shape& i) {
      Shape j = i;
      for (int k = 2; k < rank; ++k) j[k] /= scale[k - 2];
      p.at[e] = flat(j, d);
    });
    plans.push_back(p);
  }
  return plans;
}
template <class S> static void run_move(Ctx<S>& c) {
  const std::vector<Plan> plans = plans_of(c);
  bool lame = false;  // a member without tangent
  if (defect("concat-tangent-needs-all-members") && c.call->is("concat")) for (const auto& x : c.in) lame = lame || (!x.a.empty() && !moves(x.a[0]));
  for (const Plan& p : plans) {
    Arr<S>& y = c.result(c.in[0].dt, p.shape);
    const W fill = c.call->is("pad") ? c.call->real("value", 0) : (W)0;
    const int64_t whole = c.call->is("pad") ? c.call->integer("value", 0) : 0;
    for (size_t e = 0; e < p.at.size(); ++e) {
      const int64_t q = p.at[e];
      if (y.real()) y.a[e] = q < 0 ? S(fill) : c.in[p.which[e]].a[q];
      else y.i[e] = q < 0 ? whole : c.in[p.which[e]].i[q];
    }
    if (lame) for (S& e : y.a) e = fixed(e);
  }
}
template <class S> static void move_back(Ctx<S>& c) {
  const std::vector<Plan> plans = plans_of(c);
  const int64_t none = c.call->is("embedding") ? c.call->integer("padding_idx", -1) : -1;
  const int64_t row = c.call->is("embedding") ? c.in[0].shape[1] : 1;
  for (size_t r = 0; r < plans.size(); ++r) {
    if (c.g[r].absent()) continue;
    Plan p = plans[r];
    if (defect("roll-cotangent-rolls-on") && c.call->is("roll")) { Plan q = p; for (size_t e = 0; e < p.at.size(); ++e) q.at[p.at[e]] = (int64_t)e; p = q; }
    if (defect("interleave-cotangents-exchanged") && c.call->is("interleave")) for (int& w : p.which) w = 1 - w;
    if (defect("slice-cotangent-runs-forward") && c.call->is("slice")) std::sort(p.at.begin(), p.at.end());
    for (size_t e = 0; e < p.at.size(); ++e) {
      if (p.at[e] < 0 || !c.wants(p.which[e])) continue;
      if (none >= 0 && p.at[e] / row == none) continue;
      c.gin[p.which[e]].a[p.at[e]] += c.g[r].a[e];
    }
  }
}
// Without tangents elements go from storage to storage; places that nothing goes to are 0 from the start.
template <class S> bool native_move(const Call& c, const std::vector<Arr<S>>& in, const std::vector<Tensor>& raw, Value* out) {
  static const char* taken[] = {"pad", "tril", "triu", "gather", "embedding", "take_along_axis"};
  bool any = false;
  for (const char* n : taken) any = any || c.is(n);
  if (!any || (c.is("pad") && (c.real("value", 0) != 0 || c.integer("value", 0) != 0 || signbitq(c.real("value", 0))))) return false;
  Ctx<S> x;
  x.call = &c;
  x.in = in;
  const Plan p = plans_of(x)[0];
  const Tensor from = dense(raw[0]);
  out->v = defect("pool-memory-taken-for-zeros") ? empty_tensor(from.dt, p.shape) : zero_tensor(from.dt, p.shape);
  const size_t w = width(from.dt);
  for (size_t e = 0; e < p.at.size(); ++e)
    if (p.at[e] >= 0) std::memcpy((char*)out->v.st->data + w * e, (const char*)from.st->data + w * p.at[e], w);
  return true;
}
template bool native_move<W>(const Call&, const std::vector<Arr<W>>&, const std::vector<Tensor>&, Value*);
template bool native_move<D>(const Call&, const std::vector<Arr<D>>&, const std::vector<Tensor>&, Value*);
// The tangent does not pass the padding row either.
template <class S> static void run_embedding(Ctx<S>& c) {
  run_move(c);
  const int64_t none = c.call->integer("padding_idx", -1), row = c.in[0].shape[1];
  for (size_t e = 0; e < c.out[0].a.size(); ++e)
    if (row && c.in[1].i[e / row] == none && !defect("embedding-tangent-passes-padding")) c.out[0].a[e] = fixed(c.out[0].a[e]);
}

// ---- scatters ---------------------------------------------------------------------------------------------------
template <class S> static std::vector<int64_t> targets(const Ctx<S>& c) {  // per element of s: its place in x, or -1
  const Shape& s = c.in[0].shape;
  const int rank = (int)s.size();
  std::vector<int64_t> at((size_t)c.in[2].n(), -1);
  if (c.call->is("scatter_add")) {
    const int64_t a = c.call->axis(rank, "axis", 0), m = c.in[1].n();
    int64_t inner = 1, outer = 1;
    for (int k = 0; k < rank; ++k) { if (k < a) outer *= s[k]; if (k > a) inner *= s[k]; }
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t j = 0; j < m; ++j) {
        const int64_t t = c.in[1].i[j];
        if (t < 0 || t >= s[a]) continue;
        for (int64_t k = 0; k < inner; ++k) at[(o * m + j) * inner + k] = (o * s[a] + t) * inner + k;
      }
  } else {
    const int64_t a = c.call->axis(rank);
    const Shape d = dense_strides(s);
    each_index(c.in[1].shape, [&](int64_t e, const Shape& i) {
      Shape j = i;
      j[a] = c.in[1].i[e];
      if (defect("scatter-along-axis-clamps-index") && s[a] > 0) j[a] = std::max<int64_t>(0, std::min(j[a], s[a] - 1));
      if (j[a] >= 0 && j[a] < s[a]) at[e] = flat(j, d);
    });
  }
  return at;
}
template <class S> static void run_scatter(Ctx<S>& c) {
  const std::vector<int64_t> at = targets(c);
  Arr<S>& y = c.result(c.in[0].dt, c.in[0].shape);
  y.a = c.in[0].a;
  y.i = c.in[0].i;
  std::vector<S> sums(y.a.size(), S(0));
  for (size_t e = 0; e < at.size(); ++e) {
    if (at[e] < 0) continue;
    if (y.real()) sums[at[e]] += c.in[2].a[e];
    else y.i[at[e]] = (I(y.i[at[e]]) + I(c.in[2].i[e])).v;
  }
  for (size_t e = 0; e < y.a.size(); ++e) y.a[e] += sums[e];
}
template <class S> static void scatter_back(Ctx<S>& c) {
  const std::vector<int64_t> at = targets(c);
  if (c.wants(0)) for (int64_t e = 0; e < c.in[0].n(); ++e) c.gin[0].a[e] += c.g[0].a[e];
  if (c.wants(2)) for (size_t e = 0; e < at.size(); ++e) if (at[e] >= 0) c.gin[2].a[e] += c.g[0].a[at[e]];
}

// ---- tensors of places alone ------------------------------------------------------------------------------------
template <class S> static void run_one_hot(Ctx<S>& c) {
  const int64_t classes = c.call->integer("classes");
  Shape shape = c.in[0].shape;
  const int64_t a = c.call->axis((int)shape.size() + 1);
  shape.insert(shape.begin() + a, classes);
  Arr<S>& y = c.result(c.call->dtype(F32), shape);
  each_index(shape, [&](int64_t e, const Shape& i) {
    Shape j = i;
    j.erase(j.begin() + a);
    const bool hit = c.in[0].i[flat(j, dense_strides(c.in[0].shape))] == i[a];
    if (y.real()) y.a[e] = S(hit ? 1 : 0); else y.i[e] = hit;
  });
}
template <class S> static void run_fill(Ctx<S>& c) {
  const std::string& op = c.call->op;
  Arr<S>& y = c.result(c.call->dtype(F32), c.call->list("shape"));
  const W v = op == "zeros" ? (W)0 : op == "ones" ? (W)1 : c.call->real("value", 0);
  int64_t w = op == "zeros" ? 0 : op == "ones" ? 1 : c.call->integer("value", 0);
  if (defect("full-value-through-double") && op == "full") w = (int64_t)(double)w;
  for (auto& e : y.a) e = S(v);
  for (auto& e : y.i) e = y.dt == BOOL ? v != 0 : w;
}
template <class S> static void run_arange(Ctx<S>& c) {
  const int64_t start = c.call->integer("start", 0), stop = c.call->integer("stop"), step = c.call->integer("step", 1), m = step < 0 ? -step : step;
  const int64_t span = (stop - start) * (step < 0 ? -1 : 1) + m - 1;
  Arr<S>& y = c.result(c.call->dtype(I64), {span < 0 ? 0 : span / m});
  for (int64_t e = 0; e < y.n(); ++e) if (y.real()) y.a[e] = S((W)(start + step * e)); else y.i[e] = start + step * e;
}

Table movement_ops() {
  Table t;
  for (const char* n : {"transpose", "swap_axes", "reshape", "literal", "flatten", "broadcast_to", "slice", "select", "flip", "split", "deinterleave"})
    t.push_back({n, KERNELS(run_move, move_back), VIEW});
  for (const char* n : {"concat", "stack", "pad", "roll", "tril", "triu", "interleave", "gather", "take_along_axis", "upsample_nearest", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"})
    t.push_back({n, KERNELS(run_move, move_back), 0});
  t.push_back({"embedding", KERNELS(run_embedding, move_back), 0});
  t.push_back({"scatter_add", KERNELS(run_scatter, scatter_back), 0});
  t.push_back({"scatter_add_along_axis", KERNELS(run_scatter, scatter_back), 0});
  t.push_back({"one_hot", FLAT(run_one_hot), 0});
  for (const char* n : {"full", "zeros", "ones", "constant"}) t.push_back({n, FLAT(run_fill), 0});
  t.push_back({"arange", FLAT(run_arange), 0});
  return t;
}
