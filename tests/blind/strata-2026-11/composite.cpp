// Attention, positions and recurrent cells, composed of products and activations and differentiated on the tape.
#include <algorithm>
#include <cmath>

#include "strata.h"

template <class S> static S gate_of(const S& z) {
  if (val(z) < 0) { const S e = Exp(z); return e / (S(1) + e); }
  return S(1) / (S(1) + Exp(-z));
}
// Weights of one row of scores over the places that live.
template <class S> static void weigh(std::vector<S>* s, const std::vector<char>& live) {
  W top = 0;
  bool any = false;
  for (size_t t = 0; t < s->size(); ++t)
    if (live[t]) { const W v = val((*s)[t]); if (!any || (top == top && (v != v || v > top))) top = v; any = true; }
  S sum(0);
  for (size_t t = 0; t < s->size(); ++t) { (*s)[t] = live[t] ? Exp((*s)[t] - S(top)) : S(0); sum += (*s)[t]; }
  for (size_t t = 0; t < s->size(); ++t) if (live[t]) (*s)[t] = (*s)[t] / sum;
}
template <class S> static void run_sdpa(Ctx<S>& c) {
  const Shape &qs = c.in[0].shape, &ks = c.in[1].shape, &vs = c.in[2].shape;
  const int64_t m = qs[qs.size() - 2], d = qs.back(), n = ks[ks.size() - 2], e = vs.back();
  const bool causal = c.call->flag("causal"), masked = c.has(3);
  const Shape batch(qs.begin(), qs.end() - 2);
  Shape mask_batch, out = batch;
  int64_t g = 1, h = 1;
  if (masked) { const Shape& ms = c.in[3].shape; mask_batch = Shape(ms.begin(), ms.end() - 2); g = ms[ms.size() - 2]; h = ms.back(); out = joined(batch, mask_batch); }
  const std::vector<int64_t> at = positions(batch, out), mat = positions(mask_batch, out);
  Shape shape = out;
  shape.push_back(m);
  shape.push_back(e);
  Arr<S>& y = c.result(c.in[0].dt, shape);
  const S scale = c.has(4) ? c.in[4].a[0] : S(1 / sqrtq((W)d));
  for (int64_t b = 0; b < size_of(out); ++b)
    for (int64_t r = 0; r < m; ++r) {
      std::vector<S> s((size_t)n, S(0));
      std::vector<char> live((size_t)n, 1);
      for (int64_t t = 0; t < n; ++t) {
        if (masked) live[t] = c.in[3].i[(mat[b] * g + (g == m ? r : 0)) * h + (h == n ? t : 0)] != 0;
        if (causal && t > r + (defect("causal-aligned-at-the-end") ? n - m : 0)) live[t] = 0;
        if (!live[t]) continue;
        S dot(0);
        for (int64_t j = 0; j < d; ++j) dot += c.in[0].a[(at[b] * m + r) * d + j] * c.in[1].a[(at[b] * n + t) * d + j];
        s[t] = dot * scale;
      }
      weigh(&s, live);
      for (int64_t j = 0; j < e; ++j) {
        S sum(0);
        for (int64_t t = 0; t < n; ++t) sum += s[t] * c.in[2].a[(at[b] * n + t) * e + j];
        y.a[(b * m + r) * e + j] = sum;
      }
    }
}
template <class S> static std::vector<S> affine(const Arr<S>& w, const Arr<S>* bias, const S* x, int64_t rows, int64_t n) {
  std::vector<S> y((size_t)rows, S(0));
  for (int64_t k = 0; k < rows; ++k) {
    if (bias) y[k] = bias->a[k];
    for (int64_t j = 0; j < n; ++j) y[k] += w.a[k * n + j] * x[j];
  }
  return y;
}
template <class S> static const Arr<S>* optional(const Ctx<S>& c, int k) { return c.has(k) ? &c.in[k] : nullptr; }
template <class S> static void run_mha(Ctx<S>& c) {
  const Shape& s = c.in[0].shape;
  const int64_t n = s[s.size() - 2], d = s.back(), a = c.in[1].shape[0], heads = c.call->integer("heads", 1), e = a / heads, batch = n && d ? c.in[0].n() / (n * d) : 0;
  const bool causal = c.call->flag("causal");
  Arr<S>& y = c.result(c.in[0].dt, s);
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<std::vector<S>> p[3];
    for (int k = 0; k < 3; ++k)
      for (int64_t r = 0; r < n; ++r) p[k].push_back(affine(c.in[1 + k], optional(c, 5 + k), c.in[0].a.data() + (b * n + r) * d, a, d));
    for (int64_t r = 0; r < n; ++r) {
      std::vector<S> joint((size_t)a, S(0));
      for (int64_t g = 0; g < heads; ++g) {
        std::vector<S> w((size_t)n, S(0));
        std::vector<char> live((size_t)n, 1);
        for (int64_t t = 0; t < n; ++t) {
          live[t] = (!c.has(9) || c.in[9].i[r * n + t]) && (!causal || t <= r);
          if (!live[t]) continue;
          S dot(0);
          for (int64_t k = 0; k < e; ++k) dot += p[0][r][g * e + k] * p[1][t][g * e + k];
          w[t] = dot / S(sqrtq((W)(defect("heads-scaled-by-model-width") ? d : e)));
        }
        weigh(&w, live);
        for (int64_t k = 0; k < e; ++k)
          for (int64_t t = 0; t < n; ++t) joint[g * e + k] += w[t] * p[2][t][g * e + k];
      }
      const std::vector<S> z = affine(c.in[4], optional(c, 8), joint.data(), d, a);
      for (int64_t f = 0; f < d; ++f) y.a[(b * n + r) * d + f] = z[f];
    }
  }
}
template <class S> static void run_rope(Ctx<S>& c) {
  const Shape& s = c.in[0].shape;
  const int64_t n = s[s.size() - 2], d = s.back(), half = d / 2;
  const bool halves = c.call->symbol("pairing") == "half";
  const W base = c.call->real("base", 10000);
  Arr<S>& y = c.result(c.in[0].dt, s);
  for (int64_t row = 0; row < (d ? y.n() / d : 0); ++row) {
    const int64_t p = row % n;
    const W pos = c.has(1) ? (W)c.in[1].i[p] : (W)p;
    for (int64_t i = 0; i < half; ++i) {
      const W angle = pos * Pow(base, -2 * (W)i / (W)d);
      const S co(cosq(angle)), si(sinq(angle));
      const int64_t a = row * d + (halves ? i : 2 * i), b = row * d + (halves ? i + half : 2 * i + 1);
      y.a[a] = c.in[0].a[a] * co - c.in[0].a[b] * si;
      y.a[b] = c.in[0].a[a] * si + c.in[0].a[b] * co;
    }
  }
}
template <class S> static void run_sinusoidal(Ctx<S>& c) {
  const int64_t w = c.call->integer("width");
  const W base = c.call->real("base", 10000);
  Shape shape = c.in[0].shape;
  shape.push_back(w);
  Arr<S>& y = c.result(c.call->dtype(F32), shape);
  for (int64_t e = 0; e < y.n(); ++e) {
    const int64_t i = e % w, j = i / 2;
    const W angle = (W)c.in[0].i[e / w] * Pow(base, -2 * (W)j / (W)w);
    y.a[e] = S(i % 2 ? cosq(angle) : sinq(angle));
  }
}

// ---- cells ------------------------------------------------------------------------------------------------------
template <class S> static void run_rnn(Ctx<S>& c) {
  const int64_t a = c.in[0].shape.back(), n = c.in[1].shape.back(), rows = n ? c.in[1].n() / n : 0;
  const bool rectified = c.call->symbol("nonlinearity") == "relu";
  Arr<S>& y = c.result(c.in[1].dt, c.in[1].shape);
  for (int64_t r = 0; r < rows; ++r) {
    const auto s = affine(c.in[2], optional(c, 4), c.in[0].a.data() + r * a, n, a), t = affine(c.in[3], optional(c, 5), c.in[1].a.data() + r * n, n, n);
    for (int64_t k = 0; k < n; ++k) {
      const S z = defect("hidden-bias-needs-input-bias") && !c.has(4) && c.has(5) ? s[k] + t[k] - c.in[5].a[k] : s[k] + t[k];
      y.a[r * n + k] = !rectified ? Tanh(z) : val(z) <= 0 ? S(0) : z;
    }
  }
}
template <class S> static void run_lstm(Ctx<S>& c) {
  const int64_t a = c.in[0].shape.back(), n = c.in[1].shape.back(), rows = n ? c.in[1].n() / n : 0;
  Arr<S> h = make<S>(c.in[1].dt, c.in[1].shape), cell = h;
  for (int64_t r = 0; r < rows; ++r) {
    const auto s = affine(c.in[3], optional(c, 5), c.in[0].a.data() + r * a, 4 * n, a), t = affine(c.in[4], optional(c, 6), c.in[1].a.data() + r * n, 4 * n, n);
    auto z = [&](int64_t k) { return s[k] + t[k]; };
    for (int64_t k = 0; k < n; ++k) {
      const S c1 = gate_of(z(n + k)) * c.in[2].a[r * n + k] + gate_of(z(k)) * Tanh(z(2 * n + k));
      cell.a[r * n + k] = c1;
      h.a[r * n + k] = gate_of(z(3 * n + k)) * Tanh(defect("lstm-output-from-frozen-cell") ? fixed(c1) : c1);
    }
  }
  c.out.push_back(h);
  c.out.push_back(cell);
}
template <class S> static void run_gru(Ctx<S>& c) {
  const int64_t a = c.in[0].shape.back(), n = c.in[1].shape.back(), rows = n ? c.in[1].n() / n : 0;
  Arr<S>& y = c.result(c.in[1].dt, c.in[1].shape);
  for (int64_t r = 0; r < rows; ++r) {
    const auto s = affine(c.in[2], optional(c, 4), c.in[0].a.data() + r * a, 3 * n, a), t = affine(c.in[3], optional(c, 5), c.in[1].a.data() + r * n, 3 * n, n);
    for (int64_t k = 0; k < n; ++k) {
      const S reset = gate_of(s[k] + t[k]), update = gate_of(s[n + k] + t[n + k]);
      const S fresh = Tanh(s[2 * n + k] + reset * t[2 * n + k]);
      y.a[r * n + k] = (S(1) - update) * fresh + update * (defect("gru-kept-state-frozen") ? fixed(c.in[1].a[r * n + k]) : c.in[1].a[r * n + k]);
    }
  }
}

Table composite_ops() {
  return {{"scaled_dot_product_attention", TAPED(run_sdpa), NEEDS_INPUTS}, {"multi_head_attention", TAPED(run_mha), NEEDS_INPUTS}, {"rope", TAPED(run_rope), 0},
          {"sinusoidal_encoding", FLAT(run_sinusoidal), 0}, {"rnn_cell", TAPED(run_rnn), NEEDS_INPUTS}, {"lstm_cell", TAPED(run_lstm), NEEDS_INPUTS}, {"gru_cell", TAPED(run_gru), NEEDS_INPUTS}};
}
