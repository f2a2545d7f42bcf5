// Scalar meaning of the elementwise primitives.
#include <cstdlib>
#include <cstring>
#include <limits>
#include "core.h"

namespace adze {

bool bug(const char* name) {
  static const char* on = std::getenv("ETALON_BLIND");
  return on && std::strcmp(on, name) == 0;
}

Shape dense_strides(const Shape& s) {
  Shape r(s.size(), 1);
  for (int k = int(s.size()) - 2; k >= 0; --k) r[k] = r[k + 1] * s[k + 1];
  return r;
}

Real wrap(DT t, I v) { return t == DT::I32 ? Real(std::int32_t(std::uint32_t(std::uint64_t(v)))) : Real(v); }

static I saturated(Real x, DT t) {
  if (isnanq(x)) return 0;
  const I lo = t == DT::I32 ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<I>::min();
  const I hi = t == DT::I32 ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<I>::max();
  x = truncq(x);
  if (x <= Real(lo)) return lo;
  if (x >= Real(hi)) return hi;
  return I(x);
}

Real stored(Real x, DT from, DT to) {
  switch (to) {
    case DT::Wide: return x;
    case DT::F32: return float(x);
    case DT::F64: return double(x);
    case DT::Bool: return Real(x != 0 ? 1 : 0);
    default: break;
  }
  if (is_real(from)) return Real(saturated(x, to));
  return wrap(to, I(x));
}

static I floor_div(I a, I b) {
  if (b == 0) return 0;
  if (b == -1) return I(0 - std::uint64_t(a));
  I q = a / b;
  if (bug("int_floor_divide_truncates")) return q;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

static I int_rem(I a, I b) {
  if (b == 0 || b == -1) return 0;
  I r = a % b;
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}

static Real real_rem(Real a, Real b) {
  Real r = fmodq(a, b);
  if (r != 0 && ((r < 0) != (b < 0)) && !isnanq(b)) r += b;
  return r == 0 ? copysignq(0, b) : r;
}

static Real integers(Op op, DT t, I a, I b) {
  using U = std::uint64_t;
  switch (op) {
    case Op::Neg: return wrap(t, I(0 - U(a)));
    case Op::Abs: return wrap(t, a < 0 ? I(0 - U(a)) : a);
    case Op::Sign: return (a > 0) - (a < 0);
    case Op::Add: return wrap(t, I(U(a) + U(b)));
    case Op::Sub: return wrap(t, I(U(a) - U(b)));
    case Op::Mul: return wrap(t, I(U(a) * U(b)));
    case Op::Max2: return a > b ? a : b;
    case Op::Min2: return a < b ? a : b;
    case Op::FloorDiv: return wrap(t, floor_div(a, b));
    case Op::Rem: return wrap(t, int_rem(a, b));
    case Op::IsNan: case Op::IsInf: return 0;
    case Op::IsFinite: return 1;
    default: return a;  // floor, ceil, trunc, round, detach
  }
}

static Real extremum(Op op, Real a, Real b) {
  if (isnanq(a) || isnanq(b)) return isnanq(a) ? a : b;
  if (a == 0 && b == 0) return (op == Op::Max2) == bool(signbitq(a)) ? b : a;
  return (op == Op::Max2 ? a > b : a < b) ? a : b;
}

static Real sign_of(Real x) {
  if (isnanq(x)) return x;
  return (x > 0) - (x < 0);
}

static Real power(Real a, Real b) {
  return powq(a, b);
}

static Real tangent_h(Real x) {
  return tanhq(x);
}

static Real reals(Op op, Real a, Real b) {
  switch (op) {
    case Op::Neg: return -a;
    case Op::Abs: return fabsq(a);
    case Op::Sign: return sign_of(a);
    case Op::Sqrt: return a < 0 ? nanq("") : sqrtq(a);
    case Op::Exp: return expq(a);
    case Op::Exp2: return exp2q(a);
    case Op::Expm1: return expm1q(a);
    case Op::Log: return a < 0 ? nanq("") : logq(a);
    case Op::Log2: return a < 0 ? nanq("") : log2q(a);
    case Op::Log1p: return log1pq(a);
    case Op::Sin: return sinq(a);
    case Op::Cos: return cosq(a);
    case Op::Tan: return tanq(a);
    case Op::Sinh: return sinhq(a);
    case Op::Cosh: return coshq(a);
    case Op::Tanh: return tangent_h(a);
    case Op::Erf: return erfq(a);
    case Op::Floor: return floorq(a);
    case Op::Ceil: return ceilq(a);
    case Op::Trunc: return truncq(a);
    case Op::Round:
      return rintq(a);
    case Op::IsNan: return isnanq(a) != 0;
    case Op::IsInf: return isinfq(a) != 0;
    case Op::IsFinite: return finiteq(a) != 0;
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Div: return a / b;
    case Op::Pow: return power(a, b);
    case Op::Max2: case Op::Min2: return extremum(op, a, b);
    case Op::Rem: return real_rem(a, b);
    case Op::FloorDiv: return floorq(a / b);
    case Op::Atan2: return atan2q(a, b);
    default: return a;
  }
}

Real apply(Op op, DT in, DT out, Real a, Real b, Real c) {
  switch (op) {
    case Op::Store: return stored(a, in, out);
    case Op::Detach: return a;
    case Op::Select: return a != 0 ? b : c;
    case Op::Eq: return a == b;
    case Op::Ne: return Real(a != b);
    case Op::Lt: return a < b;
    case Op::Le: return a <= b;
    case Op::Gt: return a > b;
    case Op::Ge: return a >= b;
    case Op::And: return a != 0 && b != 0;
    case Op::Or: return a != 0 || b != 0;
    case Op::Xor: return (a != 0) != (b != 0);
    case Op::Not: return a == 0;
    default: break;
  }
  if (is_real(in)) return reals(op, a, b);
  return integers(op, out == DT::Bool ? in : out, I(a), I(b));
}

}  // namespace adze
