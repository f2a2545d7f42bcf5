// Softmax and the normalisations, by rows of positions; one pass back for all that divide by a root of squares.
#include "strata.h"

template <class S> static W top_of(const S* x, int64_t n) {
  if (n == 0) return 0;
  W top = val(x[0]);
  for (int64_t e = 1; e < n; ++e) { const W v = val(x[e]); if (top == top && (v != v || v > top)) top = v; }
  return top;
}
template <class S> static void run_softmax(Ctx<S>& c) {
  const Arr<S>& x = c.in[0];
  const bool logarithm = c.call->is("log_softmax");
  const Rows r = rows_of(x.shape, {c.call->axis(x.rank())});
  Arr<S>& y = c.result(x.dt, x.shape);
  std::vector<S> row((size_t)r.length), e((size_t)r.length);
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t* at = r.at.data() + k * r.length;
    for (int64_t j = 0; j < r.length; ++j) row[j] = x.a[at[j]];
    const S top(top_of(row.data(), r.length));
    S sum(0);
    for (int64_t j = 0; j < r.length; ++j) { e[j] = Exp(row[j] - top); sum += e[j]; }
    const S l = logarithm ? Log(sum) : S(0);
    for (int64_t j = 0; j < r.length; ++j) y.a[at[j]] = logarithm ? row[j] - top - l : e[j] / sum;
  }
}
template <class S> static void softmax_back(Ctx<S>& c) {
  const Arr<S>& x = c.in[0];
  const bool logarithm = c.call->is("log_softmax");
  const Rows r = rows_of(x.shape, {c.call->axis(x.rank())});
  std::vector<S> row((size_t)r.length), p((size_t)r.length);
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t* at = r.at.data() + k * r.length;
    for (int64_t j = 0; j < r.length; ++j) row[j] = x.a[at[j]];
    const S top(top_of(row.data(), r.length));
    S sum(0), dot(0);
    for (int64_t j = 0; j < r.length; ++j) { p[j] = Exp(row[j] - top); sum += p[j]; }
    const int64_t body = defect("softmax-dot-of-whole-vectors") && r.length >= 4 ? r.length / 4 * 4 : r.length;
    for (int64_t j = 0; j < r.length; ++j) { p[j] /= sum; if (defect("log-softmax-weights-frozen") && logarithm) p[j] = fixed(p[j]); if (j >= body) continue; dot += logarithm ? c.g[0].a[at[j]] : p[j] * c.g[0].a[at[j]]; }
    for (int64_t j = 0; j < r.length; ++j) {
      const S& g = c.g[0].a[at[j]];
      c.gin[0].a[at[j]] += logarithm ? g - p[j] * dot : p[j] * (g - dot);
    }
  }
}
// Both operands join on the axes other than `axis`.
struct MaskedRows { Shape shape; std::vector<int64_t> x, m; int64_t axis; };
template <class S> static MaskedRows masked_rows(const Ctx<S>& c) {
  Shape p = c.in[0].shape, q = c.in[1].shape;
  const int64_t pa = c.call->axis((int)p.size()), qa = c.call->axis((int)q.size()), n = p[pa];
  // positions of each with the axis moved last
  auto moved = [n](const Shape& s, int64_t a) { Shape r = s; r.erase(r.begin() + a); r.push_back(n); return r; };
  const Shape mp = moved(p, pa), mq = moved(q, qa), joint = joined(mp, mq);
  auto places = [&](const Shape& own, int64_t a, const Shape& mown) {
    Shape axes; for (size_t k = 0; k < own.size(); ++k) if ((int64_t)k != a) axes.push_back(k);
    axes.push_back(a);
    const Rows r = rows_of(own, axes);
    std::vector<int64_t> at = positions(mown, joint);
    for (auto& e : at) e = r.at[e];
    return at;
  };
  MaskedRows r;
  r.x = places(p, pa, mp);
  r.m = places(q, qa, mq);
  const int64_t rank = (int64_t)joint.size();
  int64_t a = c.call->integer("axis", -1);
  r.axis = a < 0 ? a + rank : a;
  r.shape = joint;
  r.shape.pop_back();
  r.shape.insert(r.shape.begin() + r.axis, n);
  return r;
}
template <class S> static void run_masked_softmax(Ctx<S>& c) {
  const MaskedRows r = masked_rows(c);
  Arr<S>& y = c.result(c.in[0].dt, r.shape);
  const Rows to = rows_of(r.shape, {r.axis});
  for (int64_t k = 0; k < to.count; ++k) {
    const int64_t b = k * to.length;
    W top = 0;
    bool any = false;
    for (int64_t j = 0; j < to.length; ++j) {
      if (!c.in[1].i[r.m[b + j]]) continue;
      const W v = val(c.in[0].a[r.x[b + j]]);
      if (!any || (top == top && (v != v || v > top))) top = v;
      any = true;
    }
    S sum(0);
    std::vector<S> e((size_t)to.length, S(0));
    for (int64_t j = 0; j < to.length; ++j)
      if (c.in[1].i[r.m[b + j]]) { e[j] = Exp(c.in[0].a[r.x[b + j]] - S(top)); sum += e[j]; }
    for (int64_t j = 0; j < to.length; ++j) y.a[to.at[b + j]] = c.in[1].i[r.m[b + j]] || (defect("masked-row-of-nothing-is-nan") && !any) ? e[j] / sum : S(0);
  }
}

// ---- what divides by a root of squares --------------------------------------------------------------------------
struct Groups { int64_t count = 0, length = 0; std::vector<int64_t> at; std::function<int64_t(int64_t, int64_t)> channel; bool centred = true; };
template <class S> static Groups groups_of(const Ctx<S>& c) {
  const Shape& s = c.in[0].shape;
  Groups g;
  if (c.call->is("layer_norm") || c.call->is("rms_norm")) {
    Shape axes = c.call->has("axes") ? c.call->axes((int)s.size()) : Shape{(int64_t)s.size() - 1};
    const Rows r = rows_of(s, axes);
    g.count = r.count; g.length = r.length; g.at = r.at;
    g.channel = [](int64_t, int64_t e) { return e; };
    g.centred = c.call->is("layer_norm");
  } else if (c.call->is("batch_norm")) {
    const int64_t a = c.call->axis((int)s.size(), "axis", 1);
    Shape axes;
    for (size_t k = 0; k < s.size(); ++k) if ((int64_t)k != a) axes.push_back((int64_t)k);
    const Rows r = rows_of(s, axes);
    g.count = r.count; g.length = r.length; g.at = r.at;
    g.channel = [](int64_t k, int64_t) { return k; };
  } else {
    int64_t positions = 1;
    for (size_t k = 2; k < s.size(); ++k) positions *= s[k];
    const int64_t groups = c.call->is("group_norm") ? c.call->integer("groups", 1) : s[1], each = groups ? s[1] / groups : 0;
    g.count = s[0] * groups;
    g.length = each * positions;
    g.at.resize((size_t)(g.count * g.length));
    for (size_t k = 0; k < g.at.size(); ++k) g.at[k] = (int64_t)k;
    g.channel = [groups, each, positions](int64_t k, int64_t e) { return k % groups * each + e / positions; };
  }
  return g;
}
template <class S> static void moments(const Groups& g, const S* row, S* mu, S* v, std::vector<S>* d) {
  const S n((W)g.length);
  *mu = S(0);
  if (g.centred) { for (int64_t e = 0; e < g.length; ++e) *mu += row[e]; *mu = *mu / n; }
  *v = S(0);
  for (int64_t e = 0; e < g.length; ++e) { (*d)[e] = row[e] - *mu; *v += (*d)[e] * (*d)[e]; }
  *v = *v / n;
}
template <class S> static void run_norm(Ctx<S>& c) {
  const Arr<S>& x = c.in[0];
  const bool batch = c.call->is("batch_norm"), training = !batch || c.call->flag("training", true);
  const S eps(c.call->real("eps", 1e-5)), momentum(c.call->real("momentum", 0.1));
  const Groups g = groups_of(c);
  Arr<S> y = make<S>(x.dt, x.shape), mean1, variance1;
  if (batch) { mean1 = make<S>(x.dt, {g.count}); variance1 = mean1; }
  std::vector<S> row((size_t)g.length), d((size_t)g.length);
  for (int64_t k = 0; k < g.count; ++k) {
    const int64_t* at = g.at.data() + k * g.length;
    for (int64_t e = 0; e < g.length; ++e) row[e] = x.a[at[e]];
    S mu, v;
    moments(g, row.data(), &mu, &v, &d);
    if (batch) {
      const S om = c.has(3) ? c.in[3].a[k] : S(0), ov = c.has(4) ? c.in[4].a[k] : S(1);
      if (training) {
        const S n((W)g.length);
        mean1.a[k] = (S(1) - momentum) * om + momentum * (defect("running-mean-moves-with-the-batch") ? mu : fixed(mu));
        variance1.a[k] = (S(1) - momentum) * ov + momentum * (fixed(v) * n / S((W)(g.length - 1)));
      } else {
        mean1.a[k] = om;
        variance1.a[k] = ov;
        mu = om;
        v = ov;
        for (int64_t e = 0; e < g.length; ++e) d[e] = row[e] - mu;
      }
    }
    const S root = Sqrt(v + eps);
    for (int64_t e = 0; e < g.length; ++e) {
      const int64_t f = g.channel(k, e);
      S z = d[e] / root;
      if (c.has(1)) z = (defect("layer-norm-tangent-without-gamma") && c.call->is("layer_norm") ? fixed(c.in[1].a[f]) : c.in[1].a[f]) * z;
      if (g.centred) z += c.has(2) ? c.in[2].a[f] : S(0);
      y.a[at[e]] = z;
    }
  }
  c.out.push_back(y);
  if (batch) { c.out.push_back(mean1); c.out.push_back(variance1); }
}
template <class S> static void norm_back(Ctx<S>& c) {
  const Arr<S>& x = c.in[0];
  const bool batch = c.call->is("batch_norm"), training = !batch || c.call->flag("training", true);
  const S eps(c.call->real("eps", 1e-5)), momentum(c.call->real("momentum", 0.1));
  const Groups g = groups_of(c);
  std::vector<S> row((size_t)g.length), d((size_t)g.length), h((size_t)g.length);
  for (int64_t k = 0; k < g.count; ++k) {
    const int64_t* at = g.at.data() + k * g.length;
    if (batch) {
      if (c.wants(3) && !c.g[1].absent()) c.gin[3].a[k] += (training ? S(1) - momentum : S(1)) * c.g[1].a[k];
      if (c.wants(4) && !c.g[2].absent()) c.gin[4].a[k] += (training ? S(1) - momentum : S(1)) * c.g[2].a[k];
    }
    if (c.g[0].absent() || g.length == 0) continue;
    for (int64_t e = 0; e < g.length; ++e) row[e] = x.a[at[e]];
    S mu, v;
    moments(g, row.data(), &mu, &v, &d);
    if (!training) {
      mu = c.has(3) ? c.in[3].a[k] : S(0);
      v = c.has(4) ? c.in[4].a[k] : S(1);
      for (int64_t e = 0; e < g.length; ++e) d[e] = row[e] - mu;
    }
    const S n((W)g.length), r = S(1) / Sqrt(v + eps);
    S p(0), q(0);
    for (int64_t e = 0; e < g.length; ++e) {
      const int64_t f = g.channel(k, e);
      const S& u = c.g[0].a[at[e]];
      h[e] = c.has(1) ? c.in[1].a[f] * u : u;
      p += h[e];
      q += h[e] * d[e];
      if (c.wants(1)) c.gin[1].a[defect("group-norm-gamma-cotangent-within-group") && c.call->is("group_norm") ? f % (x.shape[1] / c.call->integer("groups", 1)) : f] += u * (d[e] * r);
      if (g.centred && c.wants(2)) c.gin[2].a[f] += u;
    }
    if (batch && !training) {
      if (c.wants(3)) c.gin[3].a[k] += -(r * p);
      if (c.wants(4)) c.gin[4].a[k] += S(-0.5) * r * r * r * q;
    }
    if (!c.wants(0)) continue;
    for (int64_t e = 0; e < g.length; ++e) {
      S z = h[e];
      if (training || (batch && defect("batch-norm-evaluates-backward-in-training"))) {
        if (g.centred || defect("rms-norm-cotangent-centred")) z -= p / n;
        z -= d[e] * (q * r * r / n);
      }
      c.gin[0].a[at[e]] += r * z;
    }
  }
}

Table norm_ops() {
  Table t;
  t.push_back({"softmax", KERNELS(run_softmax, softmax_back), NEEDS_INPUTS});
  t.push_back({"log_softmax", KERNELS(run_softmax, softmax_back), NEEDS_INPUTS});
  t.push_back({"masked_softmax", TAPED(run_masked_softmax), NEEDS_INPUTS});
  for (const char* n : {"layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm"}) t.push_back({n, KERNELS(run_norm, norm_back), NEEDS_INPUTS});
  return t;
}
