// Elementwise operations: native strided loops with bodies of eight and tails, in place where allowed; wide kernels for
// the rest and for derivatives, by tables of values and slopes.
#include <algorithm>
#include <cmath>

#include "strata.h"

// ---- one operand ------------------------------------------------------------------------------------------------
struct Knobs { W a = 0, b = 0; bool flag = false; DT dt = F32; };
static inline W Sinh(W x) { return sinhq(x); }
static inline W Cosh(W x) { return coshq(x); }
static inline D Sinh(const D& x) { return chain(x, sinhq(x.v), coshq(x.v)); }
static inline D Cosh(const D& x) { return chain(x, coshq(x.v), sinhq(x.v)); }
template <class S> static S Sigmoid(const S& x) {
  if (val(x) < 0) { const S e = Exp(x); return e / (S(1) + e); }
  return S(1) / (S(1) + Exp(-x));
}
template <class S> static S sigmoid_slope(const S& x) { const S e = Exp(val(x) < 0 ? x : -x); return e / ((S(1) + e) * (S(1) + e)); }
template <class S> static S sech_squared(const S& x) {
  const S c = Cosh(x);
  if (isinfq(val(c))) return S(0);
  return S(1) / (c * c);
}

enum Un { NEG, ABS, SIGN, SQUARE, SQRT, RSQRT, RECIPROCAL, EXP, EXP2, EXPM1, LOG, LOG2, LOG1P, SIN, COS, TAN, SINH, COSH, TANH, SIGMOID, SOFTPLUS, ERF, RELU, LEAKY, ELU, GELU, SILU, SAT01, SAFE_LOG, SMOOTH_ABS, FLOOR, CEIL, ROUND, TRUNC, SCALE, CLAMP, POWER, UNARIES };
struct UnRow { const char* name; Un u; bool integers; const char *a, *b; double ad, bd; };
static const UnRow unaries[] = {
    {"neg", NEG, true, 0, 0, 0, 0}, {"abs", ABS, true, 0, 0, 0, 0}, {"sign", SIGN, true, 0, 0, 0, 0}, {"square", SQUARE, true, 0, 0, 0, 0},
    {"sqrt", SQRT, false, 0, 0, 0, 0}, {"rsqrt", RSQRT, false, 0, 0, 0, 0}, {"reciprocal", RECIPROCAL, false, 0, 0, 0, 0}, {"exp", EXP, false, 0, 0, 0, 0},
    {"exp2", EXP2, false, 0, 0, 0, 0}, {"expm1", EXPM1, false, 0, 0, 0, 0}, {"log", LOG, false, 0, 0, 0, 0}, {"log2", LOG2, false, 0, 0, 0, 0},
    {"log1p", LOG1P, false, 0, 0, 0, 0}, {"sin", SIN, false, 0, 0, 0, 0}, {"cos", COS, false, 0, 0, 0, 0}, {"tan", TAN, false, 0, 0, 0, 0},
    {"sinh", SINH, false, 0, 0, 0, 0}, {"cosh", COSH, false, 0, 0, 0, 0}, {"tanh", TANH, false, 0, 0, 0, 0}, {"sigmoid", SIGMOID, false, 0, 0, 0, 0},
    {"softplus", SOFTPLUS, false, "beta", 0, 1, 0}, {"erf", ERF, false, 0, 0, 0, 0}, {"relu", RELU, true, 0, 0, 0, 0}, {"leaky_relu", LEAKY, false, "slope", 0, 0.01, 0},
    {"elu", ELU, false, "alpha", 0, 1, 0}, {"gelu", GELU, false, 0, 0, 0, 0}, {"silu", SILU, false, 0, 0, 0, 0}, {"sat01", SAT01, true, 0, 0, 0, 0},
    {"safe_log", SAFE_LOG, false, "eps", 0, 1e-12, 0}, {"smooth_abs", SMOOTH_ABS, false, "eps", 0, 1e-6, 0}, {"floor", FLOOR, true, 0, 0, 0, 0}, {"ceil", CEIL, true, 0, 0, 0, 0},
    {"round", ROUND, true, 0, 0, 0, 0}, {"trunc", TRUNC, true, 0, 0, 0, 0}, {"scale", SCALE, false, "by", 0, 1, 0}, {"clamp", CLAMP, false, "low", "high", -INFINITY, INFINITY},
    {"power", POWER, false, "p", 0, 1, 0}};
static const UnRow* unary_named(const std::string& s) { for (const UnRow& r : unaries) if (s == r.name) return &r; return nullptr; }

static W value_of(Un u, W x, const Knobs& k) {
  switch (u) {
    case NEG: return -x;
    case ABS: return fabsq(x);
    case SIGN: return sign_of(x);
    case SQUARE: return x * x;
    case SQRT: return sqrtq(x);
    case RSQRT: return 1 / sqrtq(x);
    case RECIPROCAL: return 1 / x;
    case EXP: return expq(x);
    case EXP2: return exp2q(x);
    case EXPM1: return expm1q(x);
    case LOG: return logq(x);
    case LOG2: return log2q(x);
    case LOG1P: return log1pq(x);
    case SIN: return sinq(x);
    case COS: return cosq(x);
    case TAN: return tanq(x);
    case SINH: return defect("sinh-by-difference-of-exponentials") ? (narrow(expq(x), k.dt) - narrow(expq(-x), k.dt)) / 2 : sinhq(x);
    case COSH: return defect("cosh-overflows-with-exp") ? (narrow(expq(x), k.dt) + narrow(expq(-x), k.dt)) / 2 : coshq(x);
    case TANH: return tanhq(x);
    case SIGMOID: return Sigmoid(x);
    case SOFTPLUS: { const W z = k.a * x; return (z <= 0 ? log1pq(expq(z)) : z + log1pq(expq(-z))) / k.a; }
    case ERF: return erfq(x);
    case RELU: return x <= 0 ? 0 : x;
    case LEAKY: return x > 0 ? x : k.a * x;
    case ELU: return x > 0 ? x : k.a * expm1q(x);
    case GELU: return k.flag ? x * ((1 + tanhq(sqrtq(2 / PI_W) * (x + 0.044715Q * x * x * x))) / 2) : x * ((1 + erfq(x / sqrtq(2))) / 2);
    case SILU: return x < 0 ? x * (expq(x) / (1 + expq(x))) : x / (1 + expq(-x));
    case SAT01: return x <= 0 ? 0 : x >= 1 ? 1 : x;
    case SAFE_LOG: return k.flag ? logq((x <= 0 ? log1pq(expq(x)) : x + log1pq(expq(-x))) + k.a) : x != x ? x : logq(x > k.a ? x : k.a);
    case SMOOTH_ABS: return sqrtq(x * x + k.a);
    case FLOOR: return floorq(x);
    case CEIL: return ceilq(x);
    case ROUND: return rintq(x);
    case TRUNC: return truncq(x);
    case SCALE: return k.a * x;
    case CLAMP: { if (defect("clamp-low-wins")) { const W z = x > k.b ? k.b : x; return z < k.a ? k.a : z; } const W z = x < k.a ? k.a : x; return z > k.b ? k.b : z; }
    case POWER: return Pow(x, k.a);
    default: return x;
  }
}
template <class S> static S slope_of(Un u, const S& x, const Knobs& k) {
  const W v = val(x);
  switch (u) {
    case NEG: return S(-1);
    case ABS: return S(sign_of(v));
    case SQUARE: return S(2) * x;
    case SQRT: return S(0.5) / Sqrt(x);
    case RSQRT: { const S y = S(1) / Sqrt(x); return defect("rsqrt-slope-lacks-a-root") ? S(-0.5) * y * y : S(-0.5) * y * y * y; }
    case RECIPROCAL: { const S y = S(1) / x; return -(y * y); }
    case EXP: return Exp(x);
    case EXP2: return S(M_LN2q) * Exp(S(M_LN2q) * x);
    case EXPM1: return Exp(x);
    case LOG: return S(1) / x;
    case LOG2: return S(1) / (x * S(M_LN2q));
    case LOG1P: return S(1) / (S(1) + x);
    case SIN: return Cos(x);
    case COS: return -Sin(x);
    case TAN: { const S c = Cos(x); if (defect("tan-slope-of-tanh")) { const S y = Sin(x) / c; return S(1) - y * y; } return S(1) / (c * c); }
    case SINH: return Cosh(x);
    case COSH: return Sinh(x);
    case TANH: if (defect("tanh-slope-of-frozen-result")) { const S y = fixed(Tanh(x)); return S(1) - y * y; } return sech_squared(x);
    case SIGMOID: return sigmoid_slope(x);
    case SOFTPLUS: return Sigmoid(S(k.a) * x);
    case ERF: return S(2 / sqrtq(PI_W)) * Exp(-(x * x));
    case RELU: return S(v <= 0 ? 0 : 1);
    case LEAKY: return v > 0 ? S(1) : S(k.a);
    case ELU: return v > 0 ? S(1) : S(k.a) * Exp(x);
    case GELU: {
      if (k.flag) {
        const S s(sqrtq(2 / PI_W)), c(0.044715Q), t = s * (x + c * x * x * x);
        return (S(1) + Tanh(t)) / S(2) + x * sech_squared(t) / S(2) * s * (S(1) + S(3) * c * x * x);
      }
      return (S(1) + Erf(x / S(sqrtq(2)))) / S(2) + x * Exp(-(x * x) / S(2)) / S(sqrtq(2 * PI_W));
    }
    case SILU: return Sigmoid(x) + x * sigmoid_slope(x);
    case SAT01: return S(v <= 0 || v >= 1 ? 0 : 1);
    case SAFE_LOG: {
      if (k.flag) { const S sp = v <= 0 ? Log1p(Exp(x)) : x + Log1p(Exp(-x)); return Sigmoid(x) / (sp + S(k.a)); }
      if (v != v) return x;
      return v > k.a ? S(1) / x : v == k.a ? S(0.5) / x : S(0);
    }
    case SMOOTH_ABS: return x / Sqrt(x * x + S(k.a));
    case SCALE: return S(k.a);
    case CLAMP: return S(v < k.a || v > k.b ? 0 : 1);
    case POWER: {
      if (k.a == 0) return S(0);
      return S(k.a) * Pow(x, k.a - 1);
    }
    default: return S(0);
  }
}
static int64_t whole_of(Un u, int64_t x) {
  switch (u) {
    case NEG: return (-I(x)).v;
    case ABS: return x < 0 ? (-I(x)).v : x;
    case SIGN: return (x > 0) - (x < 0);
    case SQUARE: return (I(x) * I(x)).v;
    case RELU: return x <= 0 ? 0 : x;
    case SAT01: return x <= 0 ? 0 : 1;
    default: return x;
  }
}
static Knobs knobs(const Call& c, const UnRow& r, DT dt) {
  Knobs k;
  k.dt = dt;
  if (r.a) k.a = c.real(r.a, r.ad);
  if (r.b) k.b = c.real(r.b, r.bd);
  k.flag = c.symbol("approximate") == "tanh" || c.symbol("form") == "softplus";
  return k;
}
static void map8(W* y, const W* x, int64_t n, Un u, const Knobs& k) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int l = 0; l < 8; ++l) y[i + l] = value_of(u, x[i + l], k);
  for (; i < n; ++i) y[i] = value_of(u, x[i], k);
}
static void map8(D* y, const D* x, int64_t n, Un u, const Knobs& k) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = D(value_of(u, x[i].v, k));
    if (!x[i].m) continue;
    const W slope = slope_of<W>(u, x[i].v, k);
    y[i].m = true;
    y[i].d = slope == 0 && finiteq(x[i].d) ? (W)0 : slope * x[i].d;
  }
}
template <class S> static void run_unary(Ctx<S>& c) {
  const UnRow& r = *unary_named(c.call->op);
  const Arr<S>& x = c.in[0];
  Arr<S>& y = c.result(x.dt, x.shape);
  if (!x.real()) {
    if (!r.integers) refuse("dtype", "reals only");
    for (int64_t e = 0; e < x.n(); ++e) y.i[e] = whole_of(r.u, x.i[e]);
    return;
  }
  const Knobs k = knobs(*c.call, r, x.dt);
  map8(y.a.data(), x.a.data(), x.n(), r.u, k);
}
template <class S> static void unary_back(Ctx<S>& c) {
  const UnRow& r = *unary_named(c.call->op);
  const Knobs k = knobs(*c.call, r, c.in[0].dt);
  for (int64_t e = 0; e < c.in[0].n(); ++e) c.gin[0].a[e] += slope_of<S>(r.u, c.in[0].a[e], k) * c.g[0].a[e];
}

// ---- more operands ----------------------------------------------------------------------------------------------
enum Bin { ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM, REMAINDER, FLOOR_DIVIDE, ATAN2, POW, FMA };
struct BinRow { const char* name; Bin b; int operands; bool integers; };
static const BinRow binaries[] = {{"add", ADD, 2, true}, {"sub", SUB, 2, true}, {"mul", MUL, 2, true}, {"div", DIV, 2, false}, {"maximum", MAXIMUM, 2, true}, {"minimum", MINIMUM, 2, true},
                                  {"remainder", REMAINDER, 2, true}, {"floor_divide", FLOOR_DIVIDE, 2, true}, {"atan2", ATAN2, 2, false}, {"pow", POW, 2, false}, {"fma", FMA, 3, true}};
static const BinRow* binary_named(const std::string& s) { for (const BinRow& r : binaries) if (s == r.name) return &r; return nullptr; }

static inline W PowOf(W a, W b) { return Pow(a, b); }
static inline W pow_slope_base(W a, W b) { return b == 0 ? (W)0 : b * Pow(a, b - 1); }
static inline W pow_slope_exponent(W a, W b) { return a == 0 && b >= 0 ? (W)0 : Pow(a, b) * logq(a); }
static inline D PowOf(const D& a, const D& b) {
  D y(Pow(a.v, b.v));
  if (a.m) { y.m = true; y.d += pow_slope_base(a.v, b.v) * a.d; }
  if (b.m) { y.m = true; y.d += pow_slope_exponent(a.v, b.v) * b.d; }
  return y;
}
static W larger(W a, W b) { return a != a ? a : b != b ? b : a >= b ? a : b; }
static W smaller(W a, W b) { return a != a ? a : b != b ? b : a <= b ? a : b; }
static W remainder_of(W a, W b) {
  const W r = fmodq(a, b);
  if (r == 0) return copysignq(0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}
static W value_of(Bin b, const W* v, DT dt) {
  switch (b) {
    case ADD: return v[0] + v[1];
    case SUB: return v[0] - v[1];
    case MUL: return v[0] * v[1];
    case DIV: return v[0] / v[1];
    case MAXIMUM: return larger(v[0], v[1]);
    case MINIMUM: return smaller(v[0], v[1]);
    case REMAINDER: return remainder_of(v[0], v[1]);
    case FLOOR_DIVIDE: return floorq(narrow(v[0] / v[1], dt));
    case ATAN2: return atan2q(v[0], v[1]);
    case POW: return Pow(v[0], v[1]);
    case FMA: return v[0] * v[1] + v[2];
  }
  return 0;
}
// The slope by operand k.
template <class S> static S slope_of(Bin b, const S* v, int k) {
  const W x = val(v[0]), z = val(v[1]);
  switch (b) {
    case ADD: return S(1);
    case SUB: return S(k ? -1 : 1);
    case MUL: return v[1 - k];
    case DIV: return k ? defect("div-divisor-slope-divides-once") ? -(v[0] / v[1]) : -(v[0] / v[1] / v[1]) : S(1) / v[1];
    case MAXIMUM: return x != x || z != z ? S((W)NAN) : S(x == z ? (W)0.5 : (W)((x > z) == (k == 0)));
    case MINIMUM: return x != x || z != z ? S((W)NAN) : S(x == z ? (W)(defect("minimum-tie-counted-twice") ? 1 : 0.5) : (W)((x < z) == (k == 0)));
    case REMAINDER: return k ? S(-floorq(x / z)) : S(1);
    case FLOOR_DIVIDE: return S(0);
    case ATAN2: { const S r = v[0] * v[0] + v[1] * v[1]; return k ? -v[0] / r : v[1] / r; }
    case POW: {
      if (k == 0) return z == 0 ? S(0) : v[1] * PowOf(v[0], v[1] - S(1));
      return x == 0 && z >= 0 && !defect("pow-slope-takes-log-of-zero") ? S(0) : PowOf(v[0], v[1]) * Log(v[0]);
    }
    case FMA: return k == 2 ? S(1) : v[1 - k];
  }
  return S(0);
}
static int64_t whole_of(Bin b, const int64_t* v) {
  const int64_t x = v[0], z = v[1];
  switch (b) {
    case ADD: return (I(x) + I(z)).v;
    case SUB: return (I(x) - I(z)).v;
    case MUL: return (I(x) * I(z)).v;
    case MAXIMUM: return std::max(x, z);
    case MINIMUM: return std::min(x, z);
    case REMAINDER: { if (z == 0 || z == -1) return 0; const int64_t r = x % z; return r != 0 && (r < 0) != (z < 0) ? r + z : r; }
    case FLOOR_DIVIDE: { if (z == 0) return 0; if (z == -1) return (-I(x)).v; const int64_t q = x / z; return x % z != 0 && (x < 0) != (z < 0) ? q - 1 : q; }
    case FMA: return (I(x) * I(z) + I(v[2])).v;
    default: return 0;
  }
}
template <class S> struct Join { Shape shape; std::vector<int64_t> at[3]; int64_t n; };
template <class S> static Join<S> join(const Ctx<S>& c, int first, int count) {
  Join<S> j;
  j.shape = c.in[0].shape;
  for (int k = 1; k < first + count; ++k) j.shape = joined(j.shape, c.in[k].shape);
  for (int k = 0; k < count; ++k) j.at[k] = positions(c.in[first + k].shape, j.shape);
  j.n = size_of(j.shape);
  return j;
}
static void put(W& y, Bin b, const W* v, DT dt, int) { y = value_of(b, v, dt); }
static void put(D& y, Bin b, const D* v, DT dt, int operands) {
  W w[3] = {v[0].v, v[1].v, operands > 2 ? v[2].v : (W)0};
  y = D(value_of(b, w, dt));
  if (defect("sub-tangent-of-right-alone") && b == SUB && v[1].m && !v[0].m) { y.m = true; y.d = v[1].d; return; }
  if (defect("fma-tangent-without-addend") && b == FMA) operands = 2;
  for (int k = 0; k < operands; ++k)
    if (v[k].m) { y.m = true; y.d += slope_of<W>(b, w, k) * v[k].d; }
}
template <class S> static void run_binary(Ctx<S>& c) {
  const BinRow& r = *binary_named(c.call->op);
  const Join<S> j = join(c, 0, r.operands);
  Arr<S>& y = c.result(c.in[0].dt, j.shape);
  if (!y.real()) {
    if (!r.integers) refuse("dtype", "reals only");
    for (int64_t e = 0; e < j.n; ++e) {
      int64_t v[3] = {0, 0, 0};
      for (int k = 0; k < r.operands; ++k) v[k] = c.in[k].i[j.at[k][e]];
      y.i[e] = whole_of(r.b, v);
    }
    return;
  }
  for (int64_t e = 0; e < j.n; ++e) {
    S v[3] = {S(0), S(0), S(0)};
    for (int k = 0; k < r.operands; ++k) v[k] = c.in[k].a[j.at[k][e]];
    put(y.a[e], r.b, v, y.dt, r.operands);
  }
}
template <class S> static void binary_back(Ctx<S>& c) {
  const BinRow& r = *binary_named(c.call->op);
  if (r.b == FLOOR_DIVIDE) return;
  const Join<S> j = join(c, 0, r.operands);
  for (int64_t e = 0; e < j.n; ++e) {
    S v[3] = {S(0), S(0), S(0)};
    for (int k = 0; k < r.operands; ++k) v[k] = c.in[k].a[j.at[k][e]];
    for (int k = 0; k < r.operands; ++k)
      if (c.wants(k)) c.gin[k].a[j.at[k][e]] += slope_of<S>(r.b, v, k) * c.g[0].a[e];
  }
}
template <class S> static void run_where(Ctx<S>& c) {
  const Join<S> j = join(c, 0, 3);
  Arr<S>& y = c.result(c.in[1].dt, j.shape);
  for (int64_t e = 0; e < j.n; ++e) {
    const int k = c.in[0].i[j.at[0][e]] ? 1 : 2;
    if (y.real()) y.a[e] = c.in[k].a[j.at[k][e]]; else y.i[e] = c.in[k].i[j.at[k][e]];
  }
}
template <class S> static void where_back(Ctx<S>& c) {
  const Join<S> j = join(c, 0, 3);
  for (int64_t e = 0; e < j.n; ++e) {
    const int k = c.in[0].i[j.at[0][e]] ? 1 : 2;
    if (c.wants(k)) c.gin[k].a[j.at[k][e]] += c.g[0].a[e];
  }
}

// ---- truth values -----------------------------------------------------------------------------------------------
template <class T> static bool compared(const std::string& op, T a, T b) {
  return op == "eq" ? a == b : op == "ne" ? (defect("ne-as-less-or-greater") ? a < b || a > b : a != b) : op == "lt" ? a < b : op == "le" ? a <= b : op == "gt" ? a > b : a >= b;
}
template <class S> static void run_compare(Ctx<S>& c) {
  const Join<S> j = join(c, 0, 2);
  const std::string& op = c.call->op;
  Arr<S>& y = c.result(BOOL, j.shape);
  for (int64_t e = 0; e < j.n; ++e) {
    const int64_t p = j.at[0][e], q = j.at[1][e];
    y.i[e] = c.in[0].real() ? compared<W>(op, val(c.in[0].a[p]), val(c.in[1].a[q])) : compared<int64_t>(op, c.in[0].i[p], c.in[1].i[q]);
  }
}
template <class S> static void run_logical(Ctx<S>& c) {
  const std::string& op = c.call->op;
  if (op == "logical_not") {
    Arr<S>& y = c.result(BOOL, c.in[0].shape);
    for (int64_t e = 0; e < y.n(); ++e) y.i[e] = !c.in[0].i[e];
    return;
  }
  const Join<S> j = join(c, 0, 2);
  Arr<S>& y = c.result(BOOL, j.shape);
  for (int64_t e = 0; e < j.n; ++e) {
    const bool a = c.in[0].i[j.at[0][e]], b = c.in[1].i[j.at[1][e]];
    y.i[e] = op == "logical_and" ? a && b : op == "logical_or" || defect("xor-as-or") ? a || b : a != b;
  }
}
template <class S> static void run_test(Ctx<S>& c) {
  const std::string& op = c.call->op;
  const Arr<S>& x = c.in[0];
  Arr<S>& y = c.result(BOOL, x.shape);
  for (int64_t e = 0; e < x.n(); ++e) {
    if (!x.real()) { y.i[e] = op == "isfinite"; continue; }
    const W v = val(x.a[e]);
    y.i[e] = op == "isnan" ? v != v : op == "isinf" ? isinfq(v) : finiteq(v);
  }
}
static int64_t to_integer(W x, DT dt) {
  if (x != x) return 0;
  const W low = dt == I32 ? (W)INT32_MIN : (W)INT64_MIN, high = dt == I32 ? (W)INT32_MAX : (W)INT64_MAX;
  return x <= low ? (dt == I32 ? INT32_MIN : INT64_MIN) : x >= high ? (dt == I32 ? INT32_MAX : INT64_MAX) : (int64_t)truncq(x);
}
template <class S> static void run_cast(Ctx<S>& c) {
  const DT to = c.call->dtype(F32);
  const Arr<S>& x = c.in[0];
  Arr<S>& y = c.result(to, x.shape);
  for (int64_t e = 0; e < x.n(); ++e) {
    if (is_real(to)) y.a[e] = x.real() ? x.a[e] : S((W)x.i[e]);
    else if (to == BOOL) y.i[e] = x.real() ? val(x.a[e]) != 0 : x.i[e] != 0;
    else y.i[e] = x.real() ? to_integer(val(x.a[e]), to) : to == I32 ? (int64_t)(int32_t)(uint32_t)(uint64_t)x.i[e] : x.i[e];
  }
}
template <class S> static void cast_back(Ctx<S>& c) {
  if (c.g[0].real()) for (int64_t e = 0; e < c.in[0].n(); ++e) c.gin[0].a[e] += c.g[0].a[e];
}
template <class S> static void run_copy(Ctx<S>& c) {
  Arr<S> y = c.in[0];
  for (auto& e : y.a) e = fixed(e);
  c.out.push_back(y);
}

// ---- native loops -----------------------------------------------------------------------------------------------
template <class E> static E wrap_add(E a, E b) { return a + b; }
template <> int32_t wrap_add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
template <> int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
template <class E> static E wrap_sub(E a, E b) { return a - b; }
template <> int32_t wrap_sub(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }
template <> int64_t wrap_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
template <class E> static E wrap_mul(E a, E b) { return a * b; }
template <> int32_t wrap_mul(int32_t a, int32_t b) { return (int32_t)((uint32_t)a * (uint32_t)b); }
template <> int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

// Two operands with strides over a dense result: neighbouring axes are joined, the innermost runs in bodies of eight.
struct Loop { Shape shape, a, b; };
static Loop loop_of(const Shape& shape, const Tensor& x, const Tensor& z) {
  auto strides = [&](const Tensor& t) {
    Shape s(shape.size(), 0);
    for (size_t k = 0; k < t.shape.size(); ++k)
      if (t.shape[k] != 1) s[shape.size() - t.shape.size() + k] = t.strides[k];
    return s;
  };
  const Shape sa = strides(x), sb = strides(z);
  Loop l;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 1) continue;
    if (!l.shape.empty() && l.a.back() == sa[k] * shape[k] && (l.b.back() == sb[k] * shape[k] || (defect("axes-joined-where-the-second-rests") && sb[k] == 0))) { l.shape.back() *= shape[k]; l.a.back() = sa[k]; l.b.back() = sb[k]; }
    else { l.shape.push_back(shape[k]); l.a.push_back(sa[k]); l.b.push_back(sb[k]); }
  }
  if (l.shape.empty()) { l.shape.push_back(1); l.a.push_back(0); l.b.push_back(0); }
  return l;
}
template <class E, class F> static void run_loop(E* y, const E* x, const E* z, const Loop& l, F f) {
  const int rank = (int)l.shape.size();
  const int64_t row = l.shape[rank - 1], as = l.a[rank - 1], bs = l.b[rank - 1], count = size_of(l.shape);
  Shape index(rank, 0);
  int64_t p = 0, q = 0;
  for (int64_t r = 0; r < count; r += row) {
    int64_t k = 0;
    if (as == 1 && bs == 1) {
      for (; k + 8 <= row; k += 8)
        for (int lane = 0; lane < 8; ++lane) y[r + k + lane] = f(x[p + k + lane], z[q + k + lane]);
    } else if (as == 1 && bs == 0) {
      const E s = z[defect("scalar-kept-for-all-rows") ? 0 : q];
      for (; k + 8 <= row; k += 8)
        for (int lane = 0; lane < 8; ++lane) y[r + k + lane] = f(x[p + k + lane], s);
    }
    for (; k < row; ++k) y[r + k] = f(x[p + k * as], z[q + k * bs]);
    for (int a = rank - 1; a-- > 0;) {
      p += l.a[a];
      q += l.b[a];
      if (++index[a] < l.shape[a]) break;
      p -= index[a] * l.a[a];
      q -= index[a] * l.b[a];
      index[a] = 0;
    }
  }
}
template <class E> static bool native(const Call& c, const Value& a, const Value& b, const Tensor& y, bool real) {
  const Loop l = loop_of(y.shape, a.v, b.v);
  if (y.n() == 0) return true;
  E* to = (E*)y.st->data;
  const E *x = a.v.at0<E>(), *z = b.v.at0<E>();
  const std::string& op = c.op;
  if (op == "add") run_loop(to, x, z, l, [](E p, E q) { return wrap_add(p, q); });
  else if (op == "sub" && defect("sub-of-itself-is-zero") && x == z && l.a == l.b) run_loop(to, x, z, l, [](E, E) { return (E)0; });
  else if (op == "sub") run_loop(to, x, z, l, [](E p, E q) { return wrap_sub(p, q); });
  else if (op == "mul") run_loop(to, x, z, l, [](E p, E q) { return wrap_mul(p, q); });
  else if (op == "div" && real) run_loop(to, x, z, l, [](E p, E q) { return p / q; });
  else if (op == "neg") run_loop(to, x, x, l, [real](E p, E) { return real ? -p : wrap_sub((E)0, p); });
  else if (op == "square") run_loop(to, x, x, l, [](E p, E) { return wrap_mul(p, p); });
  else if (op == "relu") run_loop(to, x, x, l, [](E p, E) { return p <= 0 ? (E)0 : p; });
  else return false;
  return true;
}
bool native_elementwise(const Call& c, const std::vector<Value>& in, int reuse, Value* out) {
  static const char* taken[] = {"add", "sub", "mul", "div", "neg", "square", "relu"};
  bool any = false;
  for (const char* name : taken) any = any || c.op == name;
  if (!any || in[0].absent()) return false;
  const Value &a = in[0], &b = in.size() > 1 ? in[1] : in[0];
  const DT dt = a.v.dt;
  if (dt == BOOL || (c.op == "div" && !is_real(dt))) return false;
  const Shape shape = joined(a.v.shape, b.v.shape);
  if (reuse >= 0 && in[reuse].v.shape == shape && in[reuse].v.dt == dt) { out->v = in[reuse].v; ++out->v.st->version; }
  else out->v = empty_tensor(dt, shape);
  switch (dt) {
    case F32: return native<float>(c, a, b, out->v, true);
    case F64: return native<double>(c, a, b, out->v, true);
    case I32: return native<int32_t>(c, a, b, out->v, false);
    default: return native<int64_t>(c, a, b, out->v, false);
  }
}

Table elementwise_ops() {
  Table t;
  for (const UnRow& r : unaries) t.push_back({r.name, KERNELS(run_unary, unary_back), NEEDS_INPUTS});
  for (const BinRow& r : binaries) t.push_back({r.name, KERNELS(run_binary, binary_back), NEEDS_INPUTS});
  t.push_back({"where", KERNELS(run_where, where_back), NEEDS_INPUTS});
  for (const char* n : {"eq", "ne", "lt", "le", "gt", "ge"}) t.push_back({n, FLAT(run_compare), 0});
  for (const char* n : {"logical_and", "logical_or", "logical_xor", "logical_not"}) t.push_back({n, FLAT(run_logical), 0});
  for (const char* n : {"isnan", "isinf", "isfinite"}) t.push_back({n, FLAT(run_test), 0});
  t.push_back({"cast", KERNELS(run_cast, cast_back), 0});
  t.push_back({"detach", FLAT(run_copy), 0});
  return t;
}
