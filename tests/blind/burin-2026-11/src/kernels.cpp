// Kernels that are not loops over elements: products, windows, computed places, running sums.
#include <algorithm>

#include "exec.h"

namespace {

using T = std::vector<Real>;

bool next(Dims& i, const Dims& shape) {
  for (std::size_t k = shape.size(); k-- > 0;) {
    if (++i[k] < shape[k]) return true;
    i[k] = 0;
  }
  return false;
}

Real plus(Real a, Real b, DT dt) {
  if (is_real(dt)) return a + b;
  return rounded(Real(Int((unsigned long long)(Int(a)) + (unsigned long long)(Int(b)))), dt);
}
Real times(Real a, Real b, DT dt) {
  if (is_real(dt)) return a * b;
  return rounded(Real(Int((unsigned long long)(Int(a)) * (unsigned long long)(Int(b)))), dt);
}

struct Split { Int outer = 1, extent = 1, inner = 1; };
Split split_at(const Dims& s, Int axis) {
  Split r;
  for (Int i = 0; i < Int(s.size()); ++i) (i < axis ? r.outer : i == axis ? r.extent : r.inner) *= s[i];
  return r;
}

T windows(N n, const T& x, bool back) {
  const Dims& big = back ? n->shape : n->in[0]->shape;     // b, c, s…
  const Dims& small = back ? n->in[0]->shape : n->shape;   // b, c, o…, w…
  std::size_t k = n->a.size();
  T out(size_of(n->shape), back ? Real(0) : n->fill);
  if (size_of(small) == 0 || size_of(big) == 0) return out;
  Dims i(small.size(), 0), stride = row_major(big);
  std::size_t at = 0;
  do {
    Int to = i[0] * stride[0] + i[1] * stride[1];
    bool inside = true;
    for (std::size_t a = 0; a < k; ++a) {
      Int p = i[2 + a] * n->b[a] + i[2 + k + a] * n->c[a] - n->d[a];
      inside = inside && 0 <= p && p < big[2 + a];
      to += p * stride[2 + a];
    }
    if (inside) {
      if (!back) out[at] = x[to];
      else out[to] += x[at];
    }
    ++at;
  } while (next(i, small));
  return out;
}

T gathered(N n, const T& x, const T& t) {
  Split s = split_at(n->in[0]->shape, n->a[0]);
  Int q = Int(t.size());
  T out(s.outer * q * s.inner, 0);
  for (Int o = 0; o < s.outer; ++o) {
    for (Int j = 0; j < q; ++j) {
      Int at = Int(t[j]);
      if (BUG(gather_counts_from_end) && at < 0) at += s.extent;
      if (at < 0 || at >= s.extent) continue;
      for (Int i = 0; i < s.inner; ++i) out[(o * q + j) * s.inner + i] = x[(o * s.extent + at) * s.inner + i];
    }
  }
  return out;
}

T scattered(N n, const T& x, const T& t, const T& v) {
  Split s = split_at(n->shape, n->a[0]);
  Int q = Int(t.size());
  T out = x;
  for (Real& e : out) e = e + 0;  // a sum of nothing is added too
  bool last_wins = BUG(scatter_add_last_of_equal_indices);
  for (Int o = 0; o < s.outer; ++o) {
    for (Int j = 0; j < q; ++j) {
      Int at = Int(t[j]);
      if (at < 0 || at >= s.extent) continue;
      for (Int i = 0; i < s.inner; ++i) {
        Int to = (o * s.extent + at) * s.inner + i;
        out[to] = plus(last_wins ? x[to] : out[to], v[(o * q + j) * s.inner + i], n->dt);
      }
    }
  }
  return out;
}

T along(N n, const T& x, const T& t, const T* v) {
  Split s = split_at(v ? n->shape : n->in[0]->shape, n->a[0]);
  Int m = n->in[1]->shape[n->a[0]];
  T out = v ? x : T(t.size(), 0);
  for (Real& e : out) e = e + 0;
  for (Int o = 0; o < s.outer; ++o) {
    for (Int j = 0; j < m; ++j) {
      for (Int i = 0; i < s.inner; ++i) {
        Int from = (o * m + j) * s.inner + i, at = Int(t[from]);
        if (at < 0 || at >= s.extent) continue;
        Int to = (o * s.extent + at) * s.inner + i;
        if (v) out[to] = plus(out[to], (*v)[from], n->dt);
        else out[from] = x[to];
      }
    }
  }
  return out;
}

// Elements of one line along the axis of a running sum or product, in the order of the steps.
struct Line { Int start, step; };
template <class F>
void lines(const Dims& shape, Int axis, bool reverse, F f) {
  Split s = split_at(shape, axis);
  for (Int o = 0; o < s.outer; ++o) {
    for (Int i = 0; i < s.inner; ++i) {
      Int start = o * s.extent * s.inner + i;
      f(Line{reverse ? start + (s.extent - 1) * s.inner : start, reverse ? -s.inner : s.inner}, s.extent);
    }
  }
}

T running(N n, const T& x) {
  T out(x.size());
  bool product = n->a[0], reverse = n->a[2], exclusive = n->a[3];
  lines(n->shape, n->a[1], reverse, [&](Line l, Int count) {
    Real acc = product ? 1 : 0;
    for (Int j = 0; j < count; ++j) {
      Real v = x[l.start + j * l.step];
      Real next = j == 0 ? (product ? v : v + 0) : product ? times(acc, v, n->dt) : plus(acc, v, n->dt);
      out[l.start + j * l.step] = exclusive ? (j == 0 ? Real(product ? 1 : 0) : acc) : next;
      acc = next;
    }
  });
  return out;
}

// Derivatives of running products, by the recurrence of the products and its transpose.
T running_product(N n, const T& x, const T& t, bool back) {
  T out(x.size(), 0);
  bool reverse = n->a[2], exclusive = n->a[3];
  lines(n->shape, n->a[1], reverse, [&](Line l, Int count) {
    auto at = [&](Int j) { return l.start + j * l.step; };
    std::vector<Real> y(count + 1, 1);  // y[j]: the product of the first j factors
    for (Int j = 0; j < count; ++j) y[j + 1] = j == 0 ? x[at(0)] : y[j] * x[at(j)];
    Int last = exclusive ? count - 1 : count;  // factors that count
    Real acc = 0;
    for (Int k = 0; k < last && !back; ++k) {
      acc = k == 0 ? t[at(0)] : acc * x[at(k)] + y[k] * t[at(k)];
      out[at(exclusive ? k + 1 : k)] = acc;
    }
    for (Int k = last - 1; k >= 0 && back; --k) {
      Real own = t[at(exclusive ? k + 1 : k)];
      acc = k == last - 1 ? own : own + acc * x[at(k + 1)];
      out[at(k)] = acc * y[k];
    }
  });
  return out;
}

T product_of_others(N n, const T& x) {
  T out(x.size());
  const Dims& shape = n->shape;
  if (x.empty()) return out;
  Dims kept = shape;
  for (Int a : n->a) kept[a] = 1;
  std::map<Int, std::vector<Int>> groups;
  Dims i(shape.size(), 0), stride = row_major(kept);
  Int at = 0;
  do {
    Int key = 0;
    for (std::size_t k = 0; k < shape.size(); ++k) if (!contains(n->a, Int(k))) key += i[k] * stride[k];
    groups[key].push_back(at++);
  } while (next(i, shape));
  for (auto& [key, members] : groups) {
    std::vector<Real> before(members.size() + 1, 1);
    for (std::size_t k = 0; k < members.size(); ++k) before[k + 1] = before[k] * x[members[k]];
    Real after = 1;
    for (std::size_t k = members.size(); k-- > 0;) {
      out[members[k]] = before[k] * after;
      if (BUG(prod_derivative_divides)) out[members[k]] = before[members.size()] / x[members[k]];
      after *= x[members[k]];
    }
  }
  return out;
}

T padded(N n, const T& x, const T& value) {
  T out(size_of(n->shape), value[0]);
  const Dims& from = n->in[0]->shape;
  if (size_of(from) == 0 || out.empty()) return out;
  Dims i(from.size(), 0), stride = row_major(n->shape);
  std::size_t at = 0;
  do {
    Int to = 0;
    bool inside = true;
    for (std::size_t k = 0; k < from.size(); ++k) {
      Int p = i[k] + n->a[k];
      inside = inside && 0 <= p && p < n->shape[k];
      to += p * stride[k];
    }
    if (inside) out[to] = x[at];
    ++at;
  } while (next(i, from));
  return out;
}

T embedded(N n, const T& x) {
  T out(size_of(n->shape), 0);
  const Dims& from = n->in[0]->shape;
  if (x.empty()) return out;
  Dims i(from.size(), 0), stride = row_major(n->shape);
  std::size_t at = 0;
  do {
    Int to = 0;
    for (std::size_t k = 0; k < from.size(); ++k) to += (n->a[k] + n->b[k] * i[k]) * stride[k];
    out[to] = x[at++];
  } while (next(i, from));
  return out;
}

T joined_along(N n, const std::vector<T>& x) {
  Split s = split_at(n->shape, n->a[0]);
  T out(size_of(n->shape));
  Int before = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    Int e = n->in[k]->shape[n->a[0]];
    for (Int o = 0; o < s.outer; ++o) {
      std::copy(x[k].begin() + o * e * s.inner, x[k].begin() + (o + 1) * e * s.inner,
                out.begin() + (o * s.extent + before) * s.inner);
    }
    before += e;
  }
  return out;
}

}  // namespace

T run_dot(N n, const Place& l, const Real* lp, const Place& r, const Real* rp) {
  const Dims &ls = n->in[0]->shape, &rs = n->in[1]->shape;
  Dims lf, rf, shape = n->shape, inner, lst, rst, lk, rk;
  for (std::size_t i = 0; i < n->a.size(); ++i) { lst.push_back(l.stride[n->a[i]]); rst.push_back(r.stride[n->b[i]]); }
  for (Int i = 0; i < Int(ls.size()); ++i) {
    if (!contains(n->a, i) && !contains(n->c, i)) { lst.push_back(l.stride[i]); rst.push_back(0); }
  }
  for (Int i = 0; i < Int(rs.size()); ++i) {
    if (!contains(n->b, i) && !contains(n->d, i)) { rst.push_back(r.stride[i]); lst.push_back(0); }
  }
  for (std::size_t i = 0; i < n->c.size(); ++i) {
    inner.push_back(ls[n->c[i]]);
    lk.push_back(l.stride[n->c[i]]);
    rk.push_back(r.stride[n->d[i]]);
  }
  T out(size_of(shape), 0);
  if (out.empty() || size_of(inner) == 0) return out;
  Dims i(shape.size(), 0);
  std::size_t at = 0;
  do {
    Int a = 0, b = 0;
    for (std::size_t k = 0; k < i.size(); ++k) { a += i[k] * lst[k]; b += i[k] * rst[k]; }
    Dims j(inner.size(), 0);
    Real acc = 0;
    bool first = true;
    do {
      Int p = a, q = b;
      for (std::size_t k = 0; k < j.size(); ++k) { p += j[k] * lk[k]; q += j[k] * rk[k]; }
      Real v = times(lp[p], rp[q], n->dt);
      acc = first ? v : plus(acc, v, n->dt);
      first = false;
    } while (next(j, inner));
    out[at++] = inner.empty() ? acc : acc + 0;  // a sum begins at +0
  } while (next(i, shape));
  return out;
}

T run_kernel(N n, const std::vector<T>& x) {
  switch (n->op) {
    case Op::iota: {
      T out(size_of(n->shape));
      Split s = split_at(n->shape, n->a[0]);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = Real(Int(i) / s.inner % s.extent);
      return out;
    }
    case Op::pad: return padded(n, x[0], x[1]);
    case Op::embed: return embedded(n, x[0]);
    case Op::concat: return joined_along(n, x);
    case Op::cum: return running(n, x[0]);
    case Op::patch: return windows(n, x[0], false);
    case Op::unpatch: return windows(n, x[0], true);
    case Op::gather: return gathered(n, x[0], x[1]);
    case Op::scatter: return scattered(n, x[0], x[1], x[2]);
    case Op::take_along: return along(n, x[0], x[1], nullptr);
    case Op::scat_along: return along(n, x[0], x[1], &x[2]);
    case Op::prod_others: return product_of_others(n, x[0]);
    case Op::cumprod_jvp: return running_product(n, x[0], x[1], false);
    case Op::cumprod_vjp: return running_product(n, x[0], x[1], true);
    default: throw std::runtime_error("no kernel");
  }
}
