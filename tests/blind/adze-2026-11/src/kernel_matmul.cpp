// Products of matrices: blocks of four rows and columns, an unrolled inner loop, tails, and a fused epilogue.
#include <algorithm>
#include "loops.h"

namespace adze {

namespace {

struct Matrix { const Real* p; I rows, cols; };  // strides

Real dot_real(const Real* a, I sa, const Real* b, I sb, I k) {
  Real s0 = 0, s1 = 0;
  I j = 0;
  for (; j + 4 <= k; j += 4) {
    s0 += a[j * sa] * b[j * sb] + a[(j + 1) * sa] * b[(j + 1) * sb];
    s1 += a[(j + 2) * sa] * b[(j + 2) * sb] + a[(j + 3) * sa] * b[(j + 3) * sb];
  }
  if (bug("product_depth_tail_of_one") && k > 4 && k - j == 1) return s0 + s1;
  for (; j < k; ++j) s0 += a[j * sa] * b[j * sb];
  return s0 + s1;
}

Real dot_int(const Real* a, I sa, const Real* b, I sb, I k, DT dt) {
  std::uint64_t s = 0;
  for (I j = 0; j < k; ++j) s += std::uint64_t(I(a[j * sa])) * std::uint64_t(I(b[j * sb]));
  return wrap(dt, I(s));
}

}  // namespace

void matmul_kernel(const Graph& g, const Node& n, const std::vector<View>& in, View out) {
  const Shape& shape = g.vals[n.out].shape;
  const std::size_t lead = shape.size() - 2;
  const I m = shape[lead], cols = shape[lead + 1], depth = g.vals[n.in[0]].shape.back();
  const DT dt = is_int(g.vals[n.in[0]].dt) ? g.vals[n.in[0]].dt : DT::Wide;
  auto batch = [&](const Shape& s) { return Shape(s.begin(), s.begin() + lead); };
  std::vector<Shape> own{batch(out.strides)};
  for (const View& v : in) own.push_back(batch(v.strides));
  std::vector<const Shape*> st;
  for (const Shape& s : own) st.push_back(&s);
  const int extra = int(in.size()) - 2;
  std::vector<Real> reg(1 + extra + n.prog.size() + 1);
  const I block = 4;
  elements(collapsed(batch(shape), st), [&](const std::vector<I>& o) {
    const Matrix a{in[0].p + o[1], in[0].strides[lead], in[0].strides[lead + 1]};
    const Matrix b{in[1].p + o[2], in[1].strides[lead], in[1].strides[lead + 1]};
    for (I r0 = 0; r0 < m; r0 += block) for (I c0 = 0; c0 < cols; c0 += block) {
      for (I r = r0; r < std::min(m, r0 + block); ++r) for (I c = c0; c < std::min(cols, c0 + block); ++c) {
        Real& to = out.p[o[0] + r * out.strides[lead] + c * out.strides[lead + 1]];
        I rr = r;
        reg[0] = is_int(dt) ? dot_int(a.p + rr * a.rows, a.cols, b.p + c * b.cols, b.rows, depth, dt)
                            : dot_real(a.p + rr * a.rows, a.cols, b.p + c * b.cols, b.rows, depth);
        for (int e = 0; e < extra; ++e) {
          const Shape& s = in[2 + e].strides;
          const bool column = s[lead + 1] == 0 && s[lead] != 0;
          const I along = bug("epilogue_column_bias_as_row") && column && m == cols ? c * s[lead] : r * s[lead] + c * s[lead + 1];
          reg[1 + e] = in[2 + e].p[o[3 + e] + along];
        }
        int result = 0;
        for (const Instr& i : n.prog) {
          reg[i.dst] = apply(i.op, i.in, i.dt, reg[i.a], reg[i.b < 0 ? i.a : i.b], reg[i.c < 0 ? i.a : i.c]);
          result = i.dst;
        }
        to = reg[result];
      }
    }
  });
}

}  // namespace adze
