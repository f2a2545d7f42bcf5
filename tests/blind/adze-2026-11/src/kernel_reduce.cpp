// Reductions over the last axes, and scans along the last one.
#include <algorithm>
#include "loops.h"

namespace adze {

namespace {

struct Cells { std::vector<Real> x; std::vector<char> live; };

bool better(Op op, Real a, Real best) {
  if (isnanq(best)) return false;
  if (isnanq(a)) return true;
  return op == Op::RMax || op == Op::RArgmax ? a > best : a < best;
}

Real extremum(Op op, const Cells& c, I n) {
  I at = -1;
  for (I k = 0; k < n; ++k) {
    if (!c.live[k]) continue;
    if (at < 0 || better(op, c.x[k], c.x[at])) at = k;
  }
  if (op == Op::RArgmax || op == Op::RArgmin) return at;
  return at < 0 ? Real(0) : c.x[at];
}

Real total(const Cells& c, I n, DT dt) {
  if (is_real(dt)) {
    // Four partial sums, then the tail.
    Real s[4] = {0, 0, 0, 0};
    I k = 0;
    if (n == 0) return 0;
    for (; k + 4 <= n; k += 4) for (int q = 0; q < 4; ++q) s[q] += c.x[k + q];
    if (bug("sum_tail_of_three") && n - k == 3 && n > 8) --n;
    for (; k < n; ++k) s[0] += c.x[k];
    return (s[0] + s[1]) + (s[2] + s[3]);
  }
  std::uint64_t s = 0;
  for (I k = 0; k < n; ++k) s += std::uint64_t(I(c.x[k]));
  return wrap(dt, I(s));
}

Real product(const Cells& c, I n, DT dt, I skip = -1) {
  if (is_real(dt)) {
    Real p = 1;
    for (I k = 0; k < n; ++k) if (k != skip) p *= c.x[k];
    return p;
  }
  std::uint64_t p = 1;
  for (I k = 0; k < n; ++k) p *= std::uint64_t(I(c.x[k]));
  return wrap(dt, I(p));
}

}  // namespace

void reduce_kernel(const Graph& g, const Node& n, const std::vector<View>& in, View out) {
  const Shape& shape = g.vals[n.in[0]].shape;
  const DT dt = g.vals[n.out].dt;
  const std::size_t lead = shape.size() - std::size_t(n.at.axis);
  const Shape kept(shape.begin(), shape.begin() + lead), gone(shape.begin() + lead, shape.end());
  auto half = [&](const Shape& s, bool first) {
    return first ? Shape(s.begin(), s.begin() + lead) : Shape(s.begin() + lead, s.end());
  };
  const bool masked = n.in.size() > 1;
  const Shape xo = half(in[0].strides, true), xi = half(in[0].strides, false);
  const Shape mo = masked ? half(in[1].strides, true) : xo, mi = masked ? half(in[1].strides, false) : xi;
  const Shape dense = dense_strides(kept), dense_in = dense_strides(gone);
  const I len = count(gone);
  Cells c{std::vector<Real>(len), std::vector<char>(len, 1)};
  const Loop inside = collapsed(gone, {&xi, &mi, &dense_in});
  elements(collapsed(kept, {&xo, &mo, &dense}), [&](const std::vector<I>& o) {
    I pos = 0;
    elements(inside, [&](const std::vector<I>& q) {
      c.x[pos] = in[0].p[o[0] + q[0]];
      c.live[pos++] = !masked || in[1].p[o[1] + q[1]] != 0;
    });
    Real* to = out.p + o[2];
    switch (n.op) {
      case Op::RSum: *to = total(c, len, dt); break;
      case Op::RProd: *to = product(c, len, dt); break;
      case Op::ProdOthers: {
        if (bug("prod_gradient_divides_by_zero")) {
          const Real p = product(c, len, dt);
          for (I k = 0; k < len; ++k) out.p[o[2] * len + k] = c.x[k] == 0 ? Real(0) : p / c.x[k];
          break;
        }
        for (I k = 0; k < len; ++k) out.p[o[2] * len + k] = product(c, len, dt, k);
        break;
      }
      case Op::RAny: *to = std::any_of(c.x.begin(), c.x.end(), [](Real v) { return v != 0; }); break;
      case Op::RAll:
        *to = std::all_of(c.x.begin(), c.x.end(), [](Real v) { return v != 0; });
        break;
      default: *to = extremum(n.op, c, len);
    }
  });
}

void scan_kernel(const Graph& g, const Node& n, const std::vector<View>& in, View out) {
  const Shape& shape = g.vals[n.out].shape;
  const DT dt = g.vals[n.out].dt;
  const I len = shape.back();
  const Shape kept(shape.begin(), shape.end() - 1);
  const bool two = in.size() > 1;
  auto outer = [](const View& v) { return Shape(v.strides.begin(), v.strides.end() - 1); };
  const Shape so = outer(in[0]), to = two ? outer(in[1]) : so, oo = outer(out);
  const bool reverse = n.at.flag, exclusive = n.at.flag2;
  elements(collapsed(kept, {&so, &to, &oo}), [&](const std::vector<I>& o) {
    std::vector<Real> x(len), y(len), r(len);
    for (I k = 0; k < len; ++k) {
      const I at = reverse ? len - 1 - k : k;
      x[k] = in[0].p[o[0] + at * in[0].strides.back()];
      if (two) y[k] = in[1].p[o[1] + at * in[1].strides.back()];
    }
    auto join = [&](Op op, Real a, Real b) { return apply(op, dt, dt, a, b, 0); };
    const bool sums = n.op == Op::CumSum;
    if (sums || n.op == Op::CumProd) {
      Real s = sums ? 0 : 1;
      for (I k = 0; k < len; ++k) {
        if (exclusive) r[k] = s;
        s = join(sums ? Op::Add : Op::Mul, s, x[k]);
        if (!exclusive) r[k] = s;
      }
    } else if (n.op == Op::CumProdPush) {  // y is the tangent
      Real p = 1, d = 0;
      for (I k = 0; k < len; ++k) {
        if (exclusive) r[k] = d;
        d = d * x[k] + p * y[k];
        p *= x[k];
        if (!exclusive) r[k] = d;
      }
    } else {  // CumProdPull; y is the cotangent
      std::vector<Real> before(len, 1);
      for (I k = 1; k < len; ++k) before[k] = before[k - 1] * x[k - 1];
      Real tail = 0;
      for (I k = len - 1; k >= 0; --k) {
        if (exclusive) {
          r[k] = before[k] * tail;
          tail = y[k] + x[k] * tail;
        } else {
          tail = y[k] + (k + 1 < len ? x[k + 1] : Real(0)) * tail;
          r[k] = before[k] * tail;
        }
      }
    }
    for (I k = 0; k < len; ++k) out.p[o[2] + (reverse ? len - 1 - k : k) * out.strides.back()] = r[k];
  });
}

}  // namespace adze
