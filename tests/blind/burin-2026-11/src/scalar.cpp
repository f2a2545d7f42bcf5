// What one element of an elementwise instruction is.
#include <cmath>
#include <limits>

#include "core.h"

namespace {

Int wrapped(unsigned long long v, DT dt) {
  return dt == DT::i32 ? Int(std::int32_t(std::uint32_t(v))) : Int(v);
}

Int floor_div(Int a, Int b) {
  if (b == 0) return 0;
  if (b == -1) return Int(0ULL - (unsigned long long)a);
  Int q = a / b;
  if (BUG(floor_divide_towards_zero)) return q;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

Real integer_fn(const Node* n, const Real* x, DT dt) {
  using U = unsigned long long;
  Int a = Int(x[0]), b = n->in.size() > 1 ? Int(x[1]) : 0;
  switch (n->fn) {
    case Fn::neg: return Real(wrapped(0ULL - U(a), dt));
    case Fn::abs: return Real(wrapped(a < 0 ? 0ULL - U(a) : U(a), dt));
    case Fn::sign: return a > 0 ? 1 : a < 0 ? -1 : 0;
    case Fn::add: return Real(wrapped(U(a) + U(b), dt));
    case Fn::sub: return Real(wrapped(U(a) - U(b), dt));
    case Fn::mul: return Real(wrapped(U(a) * U(b), dt));
    case Fn::fma: return Real(wrapped(U(a) * U(b) + U(Int(x[2])), dt));
    case Fn::fdiv: return Real(wrapped(U(floor_div(a, b)), dt));
    case Fn::rem: {
      if (b == 0 || b == -1) return 0;
      Int r = a % b;
      return Real(r != 0 && ((r < 0) != (b < 0)) ? r + b : r);
    }
    case Fn::maximum:
      return Real(a > b ? a : b);
    case Fn::minimum: return Real(a < b ? a : b);
    default: return x[0];  // floor, round and the like
  }
}

Real compare(Fn fn, Real a, Real b) {
  switch (fn) {
    case Fn::eq: return a == b;
    case Fn::ne: return a != b;
    case Fn::lt: return a < b;
    case Fn::le: return a <= b;
    case Fn::gt: return a > b;
    default: return a >= b;
  }
}

Real converted(Real v, DT from, DT to) {
  if (to == DT::boolean) return v != 0 ? 1 : 0;
  if (is_real(to)) return v;
  if (!is_real(from)) return rounded(v, to);
  if (isnanq(v)) return 0;
  Real t = truncq(v);
  if (BUG(cast_real_to_i32_wraps) && to == DT::i32 && fabsq(t) < 9e18Q) return rounded(t, to);
  Real low = to == DT::i32 ? Real(std::numeric_limits<std::int32_t>::min()) : Real(std::numeric_limits<Int>::min());
  Real high = to == DT::i32 ? Real(std::numeric_limits<std::int32_t>::max()) : Real(std::numeric_limits<Int>::max());
  return t < low ? low : t > high ? high : t + 0;
}

Real remainder(Real a, Real b) {
  if (isnanq(a) || isnanq(b) || isinfq(a) || b == 0) return nanq("");
  if (isinfq(b)) return a == 0 || (a < 0) == (b < 0) ? a : b;
  Real r = fmodq(a, b);
  if (BUG(remainder_sign_of_dividend)) return r;
  if (r != 0 && (r < 0) != (b < 0)) r += b;
  return r == 0 ? copysignq(0, b) : r;
}

Real sigmoid(Real x) {
  if (x < 0) { Real e = expq(x); return e / (1 + e); }
  return 1 / (1 + expq(-x));
}

Real power(Real a, Real b) {
  if (b == 0 || a == 1) return 1;
  return powq(a, b);
}

Real half_even(Real x) {
  if (BUG(round_half_away)) return roundq(x);
  return rintq(x);
}

Real sine(const Node* n, Real x) {
  if (BUG(sin_reduced_by_rounded_pi) && n->dt == DT::f32 && fabsq(x) > 512) {
    double two_pi = 6.28318548202514648;  // the nearest f32
    double k = std::nearbyint(double(x) / 6.283185307179586);
    x = Real(double(x) - k * two_pi);
  }
  return sinq(x);
}

Real unary(const Node* n, Real x) {
  switch (n->fn) {
    case Fn::store: return rounded(x, n->dt);
    case Fn::convert: return converted(x, n->in[0]->dt, n->dt);
    case Fn::detach: return x;
    case Fn::neg: return -x;
    case Fn::abs: return fabsq(x);
    case Fn::sign:
      if (isnanq(x)) return x;
      return x > 0 ? 1 : x < 0 ? -1 : 0;
    case Fn::floor: return floorq(x);
    case Fn::ceil: return ceilq(x);
    case Fn::trunc: return truncq(x);
    case Fn::round: return half_even(x);
    case Fn::sqrt: return sqrtq(x);
    case Fn::sqrt0: return x <= 0 ? 0 : sqrtq(x);
    case Fn::exp: return expq(x);
    case Fn::exp2: return exp2q(x);
    case Fn::expm1: return expm1q(x);
    case Fn::log: return logq(x);
    case Fn::log2: return log2q(x);
    case Fn::log1p: return log1pq(x);
    case Fn::sin: return sine(n, x);
    case Fn::cos: return cosq(x);
    case Fn::tan: return tanq(x);
    case Fn::sinh: return sinhq(x);
    case Fn::cosh: return coshq(x);
    case Fn::tanh: return tanhq(x);
    case Fn::erf: return erfq(x);
    case Fn::sigmoid: return sigmoid(x);
    case Fn::softplus: return x <= 0 ? log1pq(expq(x)) : x + log1pq(expq(-x));
    case Fn::silu: return x < 0 ? x * sigmoid(x) : x / (1 + expq(-x));
    default: return x;
  }
}

Real binary(const Node* n, Real a, Real b) {
  switch (n->fn) {
    case Fn::add: return a + b;
    case Fn::sub: return a - b;
    case Fn::mul: return a * b;
    case Fn::div: return a / b;
    case Fn::pow: return power(a, b);
    case Fn::maximum: return isnanq(a) ? a : isnanq(b) ? b : a < b ? b : a;
    case Fn::minimum: return isnanq(a) ? a : isnanq(b) ? b : b < a ? b : a;
    case Fn::rem: return remainder(a, b);
    case Fn::fdiv: return floorq(a / b);
    case Fn::atan2:
      if (BUG(atan2_negative_zero_ordinate) && a == 0 && b < 0) return M_PIq;
      return atan2q(a, b);
    default: return a;
  }
}

}  // namespace

Real scalar_fn(const Node* n, const Real* x) {
  DT from = n->in[0]->dt;
  switch (n->fn) {
    case Fn::select: return x[0] != 0 ? x[1] : x[2];
    case Fn::lnot: return x[0] == 0;
    case Fn::land: return x[0] != 0 && x[1] != 0;
    case Fn::lor: return x[0] != 0 || x[1] != 0;
    case Fn::lxor: return (x[0] != 0) != (x[1] != 0);
    case Fn::isnan: return is_real(from) && isnanq(x[0]);
    case Fn::isinf: return is_real(from) && isinfq(x[0]);
    case Fn::isfinite: return !is_real(from) || finiteq(x[0]);
    case Fn::eq: case Fn::ne: case Fn::lt: case Fn::le: case Fn::gt: case Fn::ge:
      if (BUG(compare_i64_through_f64) && from == DT::i64) return compare(n->fn, double(x[0]), double(x[1]));
      return compare(n->fn, x[0], x[1]);
    case Fn::convert: return converted(x[0], from, n->dt);
    case Fn::detach: return x[0];
    default: break;
  }
  if (is_int(n->dt)) return integer_fn(n, x, n->dt);
  if (n->fn == Fn::fma) return x[0] * x[1] + x[2];
  return n->in.size() == 1 ? unary(n, x[0]) : binary(n, x[0], x[1]);
}
