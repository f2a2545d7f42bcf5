// Reductions and scans over rows: small rows at once, large ones in blocks that a tree joins.
#include <algorithm>

#include "strata.h"

enum { BLOCK = 128 };
template <class S> static S sum_block(const S* x, int64_t n) {
  S lane[4] = {S(0), S(0), S(0), S(0)};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int l = 0; l < 4; ++l) lane[l] += x[i + l];
  S total = (lane[0] + lane[1]) + (lane[2] + lane[3]);
  for (; i < n; ++i) total += x[i];
  return total;
}
template <class S> static S sum_row(const S* x, int64_t n, DT dt) {
  (void)dt;
  if (defect("sum-leaves-a-short-last-block") && n > BLOCK && n % BLOCK < 4) n -= n % BLOCK;
  if (n <= BLOCK) return sum_block(x, n);
  const int64_t half = n / 2 / BLOCK * BLOCK ? n / 2 / BLOCK * BLOCK : BLOCK;
  return sum_row(x, half, dt) + sum_row(x + half, n - half, dt);
}
// The place of the first extremum; the first NaN beats every number.
template <class S> static int64_t extreme_place(const S* x, int64_t n, bool largest) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    const W a = val(x[i]), b = val(x[best]);
    if (b != b) break;
    if (a != a || (largest ? a > b : a < b)) best = i;
  }
  return best;
}
enum Red { SUM, MEAN, PROD, MAX, MIN, VAR, STD, LOGSUMEXP, NORM1, NORM2, NORMINF };
static Red red_of(const Call& c) {
  const std::string& o = c.op;
  if (o == "norm") return c.symbol("ord", "two") == "one" ? NORM1 : c.symbol("ord", "two") == "infinity" ? NORMINF : NORM2;
  return o == "sum" ? SUM : o == "mean" ? MEAN : o == "prod" ? PROD : o == "max" ? MAX : o == "min" ? MIN : o == "var" ? VAR : o == "std" ? STD : LOGSUMEXP;
}
template <class S> static S mean_row(const S* x, int64_t n, DT dt) { return sum_row(x, n, dt) / S((W)n); }
template <class S> static S reduce_row(Red r, const Call& c, const S* x, int64_t n, DT dt) {
  switch (r) {
    case SUM: return sum_row(x, n, dt);
    case MEAN: return mean_row(x, n, dt);
    case PROD: { S y(1); for (int64_t i = 0; i < n; ++i) y *= x[i]; return y; }
    case MAX: case MIN: return x[extreme_place(x, n, r == MAX)];
    case VAR: case STD: {
      const S m = mean_row(x, n, dt);
      std::vector<S> d((size_t)n);
      for (int64_t i = 0; i < n; ++i) d[i] = (x[i] - m) * (x[i] - m);
      const S v = sum_row(d.data(), n, dt) / S((W)(n - c.integer("correction", 1)));
      if (r == VAR) return v;
      return val(v) <= 0 ? S(0) : Sqrt(v);
    }
    case LOGSUMEXP: {
      W top = n ? val(x[extreme_place(x, n, true)]) : (W)0;
      if (isinfq(top)) top = 0;
      std::vector<S> e((size_t)n);
      for (int64_t i = 0; i < n; ++i) e[i] = Exp(x[i] - S(top));
      return S(top) + Log(sum_row(e.data(), n, dt));
    }
    case NORM1: { S y(0); for (int64_t i = 0; i < n; ++i) y += Abs(x[i]); return y; }
    case NORMINF: {
      if (n == 0) return S(0);
      std::vector<S> m((size_t)n);
      for (int64_t i = 0; i < n; ++i) m[i] = Abs(x[i]);
      return m[extreme_place(m.data(), n, true)];
    }
    case NORM2: {
      S y(0);
      for (int64_t i = 0; i < n; ++i) y += x[i] * x[i];
      return val(y) <= 0 ? S(0) : Sqrt(y);
    }
  }
  return S(0);
}
// What each element gets for a cotangent of 1.
template <class S> static void slopes(Red r, const Call& c, const S* x, int64_t n, S* s, DT dt) {
  switch (r) {
    case SUM: for (int64_t i = 0; i < n; ++i) s[i] = S(1); break;
    case MEAN: for (int64_t i = 0; i < n; ++i) s[i] = S(1) / S((W)n); break;
    case PROD: {  // products before and after, which divides by nothing
      std::vector<S> before((size_t)n + 1, S(1));
      for (int64_t i = 0; i < n; ++i) before[i + 1] = before[i] * x[i];
      S after(1);
      for (int64_t i = n; i-- > 0; after *= x[i]) s[i] = before[i] * after;
      break;
    }
    case MAX: case MIN: {
      const int64_t p = extreme_place(x, n, r == MAX);
      for (int64_t i = 0; i < n; ++i) s[i] = S(i == p ? 1 : 0);
      break;
    }
    case VAR: case STD: {
      const S m = defect("var-slope-mean-frozen") ? fixed(mean_row(x, n, dt)) : mean_row(x, n, dt), q((W)(n - c.integer("correction", 1)));
      S root(1);
      if (r == STD) root = reduce_row(STD, c, x, n, dt);
      for (int64_t i = 0; i < n; ++i) {
        s[i] = S(2) * (x[i] - m) / q;
        if (r == STD) s[i] = val(root) == 0 ? S(0) : s[i] / (S(2) * root);
      }
      break;
    }
    case LOGSUMEXP: {
      W top = n ? val(x[extreme_place(x, n, true)]) : (W)0;
      if (isinfq(top)) top = 0;
      S total(0);
      for (int64_t i = 0; i < n; ++i) { s[i] = Exp(x[i] - S(top)); total += s[i]; }
      for (int64_t i = 0; i < n; ++i) s[i] /= total;
      break;
    }
    case NORM1: for (int64_t i = 0; i < n; ++i) s[i] = S(sign_of(val(x[i]))); break;
    case NORMINF: {
      std::vector<S> m((size_t)n);
      for (int64_t i = 0; i < n; ++i) { m[i] = Abs(x[i]); s[i] = S(0); }
      if (n) { const int64_t p = extreme_place(m.data(), n, true); s[p] = S(sign_of(val(x[p]))); }
      break;
    }
    case NORM2: {
      const S y = reduce_row(NORM2, c, x, n, dt);
      for (int64_t i = 0; i < n; ++i) s[i] = val(y) == 0 ? S(0) : x[i] / y;
    }
  }
}
static int64_t whole_row(Red r, const int64_t* x, int64_t n) {
  I y(r == PROD ? 1 : r == SUM ? 0 : x[0]);
  if (defect("integer-min-starts-at-i32") && r == MIN) y = I(INT32_MAX);
  for (int64_t i = 0; i < n; ++i) {
    if (r == SUM) y = y + I(x[i]);
    else if (r == PROD) y = y * I(x[i]);
    else if (r == MAX ? x[i] > y.v : x[i] < y.v) y = I(x[i]);
  }
  return y.v;
}
template <class S> static void run_reduce(Ctx<S>& c) {
  const Arr<S>& x = c.in[0];
  const Shape axes = c.call->axes(x.rank());
  const Rows r = rows_of(x.shape, axes);
  const Red red = red_of(*c.call);
  Arr<S>& y = c.result(x.dt, reduced_shape(x.shape, axes, c.call->flag("keepdims")));
  if (axes.empty() && (red == SUM || red == MEAN || red == PROD)) { y.a = x.a; y.i = x.i; return; }
  std::vector<S> row((size_t)r.length);
  std::vector<int64_t> whole((size_t)r.length);
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t* at = r.at.data() + k * r.length;
    if (x.real()) {
      for (int64_t e = 0; e < r.length; ++e) row[e] = x.a[at[e]];
      y.a[k] = reduce_row(red, *c.call, row.data(), r.length, x.dt);
    } else {
      for (int64_t e = 0; e < r.length; ++e) whole[e] = x.i[at[e]];
      y.i[k] = whole_row(red, whole.data(), r.length);
    }
  }
}
template <class S> static void reduce_back(Ctx<S>& c) {
  const Arr<S>& x = c.in[0];
  const Shape axes = c.call->axes(x.rank());
  const Rows r = rows_of(x.shape, axes);
  const Red red = red_of(*c.call);
  std::vector<S> row((size_t)r.length), s((size_t)r.length);
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t* at = r.at.data() + k * r.length;
    for (int64_t e = 0; e < r.length; ++e) row[e] = x.a[at[e]];
    slopes(red, *c.call, row.data(), r.length, s.data(), x.dt);
    for (int64_t e = 0; e < r.length; ++e) c.gin[0].a[at[e]] += s[e] * c.g[0].a[k];
  }
}
template <class S> static void run_arg(Ctx<S>& c) {
  const Arr<S>& x = c.in[0];
  const Shape axes = c.call->axes(x.rank());
  const Rows r = rows_of(x.shape, axes);
  const bool largest = c.call->is("argmax");
  Arr<S>& y = c.result(I64, reduced_shape(x.shape, axes, c.call->flag("keepdims")));
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t* at = r.at.data() + k * r.length;
    if (x.real()) {
      std::vector<W> row((size_t)r.length);
      for (int64_t e = 0; e < r.length; ++e) row[e] = val(x.a[at[e]]);
      y.i[k] = extreme_place(row.data(), r.length, largest);
      if (defect("argmax-place-within-block")) y.i[k] %= BLOCK;
    } else {
      int64_t best = 0;
      for (int64_t e = 1; e < r.length; ++e) if (largest ? x.i[at[e]] > x.i[at[best]] : x.i[at[e]] < x.i[at[best]]) best = e;
      y.i[k] = best;
    }
  }
}
template <class S> static void run_logic(Ctx<S>& c) {
  const Arr<S>& x = c.in[0];
  const Shape axes = c.call->axes(x.rank());
  const Rows r = rows_of(x.shape, axes);
  const bool all = c.call->is("all");
  Arr<S>& y = c.result(BOOL, reduced_shape(x.shape, axes, c.call->flag("keepdims")));
  for (int64_t k = 0; k < r.count; ++k) {
    bool v = all;
    const int64_t length = defect("all-reads-whole-words") && r.length > 8 ? r.length / 8 * 8 : r.length;
    for (int64_t e = 0; e < length; ++e) { const bool z = x.i[r.at[k * r.length + e]]; v = all ? v && z : v || z; }
    y.i[k] = v;
  }
}
template <class T> static void scan(const T* x, T* y, int64_t n, bool times, bool reverse, bool exclusive) {
  T carry(times && !(exclusive && defect("cumprod-exclusive-starts-at-zero")) ? 1 : 0);
  for (int64_t e = 0; e < n; ++e) {
    const int64_t p = reverse ? n - 1 - e : e;
    if (exclusive) y[p] = carry;
    carry = times ? carry * x[p] : carry + x[p];
    if (!exclusive) y[p] = carry;
  }
}
template <class S> static void run_scan(Ctx<S>& c) {
  const Arr<S>& x = c.in[0];
  const int64_t axis = c.call->axis(x.rank());
  const bool reverse = c.call->flag("reverse"), exclusive = c.call->flag("exclusive"), times = c.call->is("cumprod");
  const Rows r = rows_of(x.shape, {axis});
  Arr<S>& y = c.result(x.dt, x.shape);
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t* at = r.at.data() + k * r.length;
    if (x.real()) {
      std::vector<S> a((size_t)r.length), b((size_t)r.length);
      for (int64_t e = 0; e < r.length; ++e) a[e] = x.a[at[e]];
      scan(a.data(), b.data(), r.length, times, reverse, exclusive);
      for (int64_t e = 0; e < r.length; ++e) y.a[at[e]] = b[e];
    } else {
      std::vector<I> a((size_t)r.length), b((size_t)r.length);
      for (int64_t e = 0; e < r.length; ++e) a[e] = I(x.i[at[e]]);
      scan(a.data(), b.data(), r.length, times, reverse, exclusive);
      for (int64_t e = 0; e < r.length; ++e) y.i[at[e]] = b[e].v;
    }
  }
}
// Sums run back from the other end; for products the running cotangent is multiplied on its way.
template <class S> static void scan_back(Ctx<S>& c) {
  const Arr<S>& x = c.in[0];
  const int64_t axis = c.call->axis(x.rank());
  const bool reverse = c.call->flag("reverse"), exclusive = c.call->flag("exclusive"), times = c.call->is("cumprod");
  const Rows r = rows_of(x.shape, {axis});
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t* at = r.at.data() + k * r.length;
    const int64_t n = r.length;
    auto place = [&](int64_t e) { return at[reverse ? n - 1 - e : e]; };
    if (!times) {
      S run(0);
      for (int64_t e = n; e-- > 0;) {
        const int64_t p = place(e);
        if (exclusive) c.gin[0].a[p] += run;
        run += c.g[0].a[p];
        if (!exclusive) c.gin[0].a[p] += run;
      }
      continue;
    }
    std::vector<S> before((size_t)n + 1, S(1));  // carry in front of element e
    for (int64_t e = 0; e < n; ++e) before[e + 1] = before[e] * x.a[place(e)];
    S run(0);  // d(loss)/d(carry after e)
    for (int64_t e = n; e-- > 0;) {
      const int64_t p = place(e);
      S after = run;
      if (!exclusive) after += c.g[0].a[p];
      c.gin[0].a[p] += after * before[e];
      run = after * x.a[p];
      if (exclusive) run += c.g[0].a[p];
    }
  }
}

Table reduce_ops() {
  Table t;
  for (const char* n : {"sum", "mean", "prod", "max", "min", "var", "std", "logsumexp", "norm"}) t.push_back({n, KERNELS(run_reduce, reduce_back), NEEDS_INPUTS});
  for (const char* n : {"argmax", "argmin"}) t.push_back({n, FLAT(run_arg), 0});
  for (const char* n : {"any", "all"}) t.push_back({n, FLAT(run_logic), 0});
  for (const char* n : {"cumsum", "cumprod"}) t.push_back({n, KERNELS(run_scan, scan_back), NEEDS_INPUTS});
  return t;
}
