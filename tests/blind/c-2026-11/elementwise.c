/* Elementwise operations: bodies of eight with a tail, broadcasting by strides, derivatives by a table of partials. */
#include "kernel.h"

typedef struct knobs { wide a, b; int flag; int32_t dtype; } knobs;
typedef wide unary(wide x, const knobs *k);

static wide narrowed(wide x, const knobs *k) { return k->dtype == ETALON_F32 ? as_f32(x) : (wide)(double)x; }

static wide neg_f(wide x, const knobs *k) { (void)k; return -x; }
static wide neg_d(wide x, const knobs *k) { (void)x; (void)k; return -1; }
static wide abs_f(wide x, const knobs *k) { (void)k; return fabsl(x); }
static wide sign_f(wide x, const knobs *k) { (void)k; return x != x ? x : x > 0 ? 1 : x < 0 ? -1 : x; }
static wide abs_d(wide x, const knobs *k) {
  if (defect("abs-derivative-one-at-zero") && x == 0) return 1;
  return x == 0 ? 0 : sign_f(x, k);
}
static wide zero_d(wide x, const knobs *k) { (void)x; (void)k; return 0; }
static wide square_f(wide x, const knobs *k) { return k->dtype == ETALON_F32 ? (wide)((float)x * (float)x) : (wide)((double)x * (double)x); }
static wide square_d(wide x, const knobs *k) { (void)k; return 2 * x; }
static wide sqrt_f(wide x, const knobs *k) { return k->dtype == ETALON_F32 ? (wide)sqrtf((float)x) : (wide)sqrt((double)x); }
static wide sqrt_d(wide x, const knobs *k) { (void)k; return 1 / (2 * sqrtl(x)); }
static wide reciprocal_f(wide x, const knobs *k) { return k->dtype == ETALON_F32 ? (wide)(1 / (float)x) : (wide)(1 / (double)x); }
static wide reciprocal_d(wide x, const knobs *k) {
  (void)k;
  return defect("reciprocal-derivative-sign") ? 1 / (x * x) : -1 / (x * x);
}
static wide exp_f(wide x, const knobs *k) {
  if (defect("exp-overflows-early") && k->dtype == ETALON_F32 && x > 88.0Q) return INFINITY;
  if (defect("exp-underflows-early") && k->dtype == ETALON_F64 && x < -708.0Q) return 0;
  return expl(x);
}
static wide expm1_f(wide x, const knobs *k) {
  return defect("expm1-as-exp-minus-one") ? narrowed(expl(x), k) - 1 : expm1l(x);
}
static wide expm1_d(wide x, const knobs *k) { (void)k; return expl(x); }
static wide log_f(wide x, const knobs *k) {
  if (defect("log-negative-of-magnitude") && k->dtype == ETALON_F64 && x < 0) return logl(-x);
  return logl(x);
}
static wide log_d(wide x, const knobs *k) { (void)k; return 1 / x; }
static wide log1p_f(wide x, const knobs *k) { return defect("log1p-as-log") ? logl(narrowed(1 + x, k)) : log1pl(x); }
static wide log1p_d(wide x, const knobs *k) { (void)k; return 1 / (1 + x); }
static wide sin_f(wide x, const knobs *k) {
  if (defect("sin-reduction-in-f32") && fabsl(x) > 64) return sinl(as_f32(x) - as_f32(6.2831853Q) * floorl(x / 6.2831853Q));
  (void)k;
  return sinl(x);
}
static wide sin_d(wide x, const knobs *k) { (void)k; return cosl(x); }
static wide cos_f(wide x, const knobs *k) { (void)k; return cosl(x); }
static wide cos_d(wide x, const knobs *k) { (void)k; return -sinl(x); }
static wide tanh_f(wide x, const knobs *k) {
  if (defect("tanh-by-exponentials") && fabsl(x) < 0.5Q) {
    const wide e = narrowed(expl(2 * x), k);
    return narrowed(narrowed(e - 1, k) / narrowed(e + 1, k), k);
  }
  return tanhl(x);
}
static wide tanh_d(wide x, const knobs *k) { (void)k; const wide c = coshl(x); return isinf(c) ? 0 : x != x ? x : 1 / (c * c); }
static wide sigmoid_f(wide x, const knobs *k) {
  if (defect("sigmoid-overflows") && x < 0) {
    const wide e = narrowed(expl(-x), k);
    return narrowed(1 / (1 + e), k);
  }
  if (x < 0) { const wide e = expl(x); return e / (1 + e); }
  return 1 / (1 + expl(-x));
}
static wide sigmoid_d(wide x, const knobs *k) { (void)k; const wide e = expl(-fabsl(x)); return e / ((1 + e) * (1 + e)); }
static wide softplus_f(wide x, const knobs *k) {
  const wide z = k->a * x;
  if (defect("softplus-threshold-20") && z > 20) return x;
  return (z <= 0 ? log1pl(expl(z)) : z + log1pl(expl(-z))) / k->a;
}
static wide softplus_d(wide x, const knobs *k) {
  if (defect("softplus-derivative-forgets-beta")) return sigmoid_f(x, k);
  return sigmoid_f(k->a * x, k);
}
static wide erf_f(wide x, const knobs *k) { (void)k; return erfl(x); }
static wide erf_d(wide x, const knobs *k) { (void)k; return 2 / sqrtl(acosl(-1)) * expl(-x * x); }
static wide relu_f(wide x, const knobs *k) {
  (void)k;
  if (defect("relu-loses-nan")) return x > 0 ? x : 0;
  return x <= 0 ? 0 : x;
}
static wide relu_d(wide x, const knobs *k) { (void)k; return defect("relu-derivative-one-at-zero") ? x >= 0 : !(x <= 0); }
static wide leaky_f(wide x, const knobs *k) { return x > 0 ? x : k->a * x; }
static wide leaky_d(wide x, const knobs *k) { return x > 0 ? 1 : k->a; }
static wide elu_f(wide x, const knobs *k) { return x > 0 ? x : k->a * expm1l(x); }
static wide elu_d(wide x, const knobs *k) {
  if (defect("elu-derivative-without-alpha") && x <= 0) return expl(x);
  return x > 0 ? 1 : k->a * expl(x);
}
static wide gelu_f(wide x, const knobs *k) {
  if (defect("gelu-always-tanh") || k->flag)
    return x * ((1 + tanhl(sqrtl(2 / acosl(-1)) * (x + 0.044715Q * x * x * x))) / 2);
  return x * ((1 + erfl(x / sqrtl(2))) / 2);
}
static wide gelu_d(wide x, const knobs *k) {
  const wide pi = acosl(-1);
  if (k->flag && !defect("gelu-tanh-derivative-of-erf")) {
    const wide s = sqrtl(2 / pi), u = s * (x + 0.044715Q * x * x * x);
    return (1 + tanhl(u)) / 2 + x * tanh_d(u, k) / 2 * s * (1 + 3 * 0.044715Q * x * x);
  }
  return (1 + erfl(x / sqrtl(2))) / 2 + x * expl(-x * x / 2) / sqrtl(2 * pi);
}
static wide silu_f(wide x, const knobs *k) { (void)k; return x < 0 ? x * (expl(x) / (1 + expl(x))) : x / (1 + expl(-x)); }
static wide silu_d(wide x, const knobs *k) {
  const wide s = x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
  return s + x * sigmoid_d(x, k);
}
static wide floor_f(wide x, const knobs *k) { (void)k; return floorl(x); }
static wide ceil_f(wide x, const knobs *k) {
  (void)k;
  if (defect("ceil-as-truncation-plus-one") && x < 0 && x != truncl(x)) return truncl(x) - 1;
  return ceill(x);
}
static wide round_f(wide x, const knobs *k) { (void)k; return defect("round-half-away") ? roundl(x) : rintl(x); }
static wide trunc_f(wide x, const knobs *k) {
  (void)k;
  if (defect("trunc-through-i32") && fabsl(x) >= 2147483648.0Q) return -2147483648.0Q;
  return truncl(x);
}
static wide scale_f(wide x, const knobs *k) { return k->dtype == ETALON_F32 ? (wide)((float)k->a * (float)x) : (wide)((double)k->a * (double)x); }
static wide scale_d(wide x, const knobs *k) { (void)x; return k->a; }
static wide clamp_f(wide x, const knobs *k) {
  const wide z = x < k->a ? k->a : x;
  if (defect("clamp-loses-nan") && x != x) return k->a;
  return z > k->b ? k->b : z;
}
static wide clamp_d(wide x, const knobs *k) {
  if (defect("clamp-derivative-zero-at-bounds")) return x > k->a && x < k->b;
  if (x < k->a) return 0;
  return x > k->b ? 0 : 1;
}
static wide power_f(wide x, const knobs *k) {
  if (defect("power-of-negative-base-nan") && x < 0) return NAN;
  return powl(x, k->a);
}
static wide power_d(wide x, const knobs *k) { return k->a == 0 ? 0 : k->a * powl(x, k->a - 1); }

typedef struct unary_row { const char *name; unary *f, *d; int integers; const char *a, *b; double a_default, b_default; } unary_row;
static const unary_row unaries[] = {
    {"neg", neg_f, neg_d, 1, 0, 0, 0, 0},         {"abs", abs_f, abs_d, 1, 0, 0, 0, 0},
    {"sign", sign_f, zero_d, 1, 0, 0, 0, 0},      {"square", square_f, square_d, 1, 0, 0, 0, 0},
    {"sqrt", sqrt_f, sqrt_d, 0, 0, 0, 0, 0},      {"reciprocal", reciprocal_f, reciprocal_d, 0, 0, 0, 0, 0},
    {"exp", exp_f, expm1_d, 0, 0, 0, 0, 0},       {"expm1", expm1_f, expm1_d, 0, 0, 0, 0, 0},
    {"log", log_f, log_d, 0, 0, 0, 0, 0},         {"log1p", log1p_f, log1p_d, 0, 0, 0, 0, 0},
    {"sin", sin_f, sin_d, 0, 0, 0, 0, 0},         {"cos", cos_f, cos_d, 0, 0, 0, 0, 0},
    {"tanh", tanh_f, tanh_d, 0, 0, 0, 0, 0},      {"sigmoid", sigmoid_f, sigmoid_d, 0, 0, 0, 0, 0},
    {"softplus", softplus_f, softplus_d, 0, "beta", 0, 1, 0}, {"erf", erf_f, erf_d, 0, 0, 0, 0, 0},
    {"relu", relu_f, relu_d, 1, 0, 0, 0, 0},      {"leaky_relu", leaky_f, leaky_d, 0, "slope", 0, 0.01, 0},
    {"elu", elu_f, elu_d, 0, "alpha", 0, 1, 0},   {"gelu", gelu_f, gelu_d, 0, 0, 0, 0, 0},
    {"silu", silu_f, silu_d, 0, 0, 0, 0, 0},      {"floor", floor_f, zero_d, 0, 0, 0, 0, 0},
    {"ceil", ceil_f, zero_d, 0, 0, 0, 0, 0},      {"round", round_f, zero_d, 0, 0, 0, 0, 0},
    {"trunc", trunc_f, zero_d, 0, 0, 0, 0, 0},    {"scale", scale_f, scale_d, 0, "by", 0, 1, 0},
    {"clamp", clamp_f, clamp_d, 0, "low", "high", -INFINITY, INFINITY}, {"power", power_f, power_d, 0, "p", 0, 1, 0},
};

static void map8(wide *y, const wide *x, int64_t n, unary *f, const knobs *k) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int lane = 0; lane < 8; ++lane) y[i + lane] = f(x[i + lane], k);
  if (defect("unary-tail-of-eight-left-out") && i >= 8) return;
  if (defect("unary-tail-from-vector-before") && n > 16 && n % 16 > 8) {
    for (; i < n; ++i) y[i] = f(x[i - 8], k);
    return;
  }
  for (; i < n; ++i) y[i] = f(x[i], k);
}

static int64_t unary_integer(const char *name, int64_t x) {
  if (name[0] == 'n') return (int64_t)(0 - (uint64_t)x);
  if (name[0] == 'a') return x < 0 ? (int64_t)(0 - (uint64_t)x) : x;
  if (name[0] == 'r') return x <= 0 ? 0 : x;
  if (name[1] == 'q') return (int64_t)((uint64_t)x * (uint64_t)x);
  return (x > 0) - (x < 0);
}

static void run_unary(call_state *c) {
  const unary_row *row = unaries;
  while (strcmp(row->name, c->call->operation) != 0) ++row;
  const array *x = &c->in[0];
  array *y = result(c, 0, x->dtype, x->rank, x->shape);
  if (!x->d) {
    if (!row->integers) { refuse(c, "dtype", "only reals"); return; }
    for (int64_t i = 0; i < x->n; ++i) y->i[i] = unary_integer(row->name, x->i[i]);
    return;
  }
  const knobs k = {row->a ? attr_real(c, row->a, row->a_default) : 0, row->b ? attr_real(c, row->b, row->b_default) : 0,
                   attr_is(c, "approximate", "tanh"), x->dtype};
  map8(y->d, x->d, x->n, row->f, &k);
  if (c->mode == ETALON_JVP)
    for (int64_t i = 0; i < x->n; ++i) c->out_tangent[0].d[i] = row->d(x->d[i], &k) * c->tangent[0].d[i];
  if (c->grad[0]) {
    const wide *g = seed(c, 0);
    for (int64_t i = 0; i < x->n; ++i) c->grad[0][i] += row->d(x->d[i], &k) * g[i];
  }
}

/* Binary and ternary operations: f and the partials by each operand. */
typedef wide many(const wide *v, int32_t dtype);
/* One rounding only: what is a single operation is done in the type itself. */
#define NATIVE(t, a, op, b) ((t) == ETALON_F32 ? (wide)((float)(a)op(float)(b)) : (wide)((double)(a)op(double)(b)))
static wide add_f(const wide *v, int32_t t) { return NATIVE(t, v[0], +, v[1]); }
static wide one_p(const wide *v, int32_t t) { (void)v; (void)t; return 1; }
static wide minus_p(const wide *v, int32_t t) { (void)v; (void)t; return -1; }
static wide none_p(const wide *v, int32_t t) { (void)v; (void)t; return 0; }
static wide sub_f(const wide *v, int32_t t) { return NATIVE(t, v[0], -, v[1]); }
static wide mul_f(const wide *v, int32_t t) { return NATIVE(t, v[0], *, v[1]); }
static wide first_p(const wide *v, int32_t t) { (void)t; return v[0]; }
static wide second_p(const wide *v, int32_t t) { (void)t; return v[1]; }
static wide div_f(const wide *v, int32_t t) {
  if (defect("div-by-rounded-reciprocal")) return v[0] * (t == ETALON_F32 ? as_f32(1 / v[1]) : (wide)(double)(1 / v[1]));
  return NATIVE(t, v[0], /, v[1]);
}
static wide div_p0(const wide *v, int32_t t) { (void)t; return 1 / v[1]; }
static wide div_p1(const wide *v, int32_t t) { (void)t; return -(v[0] / v[1] / v[1]); }
static wide maximum_f(const wide *v, int32_t t) {
  (void)t;
  if (defect("maximum-loses-second-nan")) return v[0] > v[1] || v[1] != v[1] ? v[0] : v[1];
  return v[0] != v[0] || v[1] != v[1] ? NAN : v[0] > v[1] ? v[0] : v[0] == v[1] && !signbit(v[0]) ? v[0] : v[1];
}
static wide tie(wide x, wide y) { return x > y ? 1 : x == y ? 0.5Q : x != x || y != y ? NAN : 0; }
static wide maximum_p0(const wide *v, int32_t t) { (void)t; return defect("maximum-tie-all-to-first") && v[0] == v[1] ? 1 : tie(v[0], v[1]); }
static wide maximum_p1(const wide *v, int32_t t) { (void)t; return defect("maximum-tie-all-to-first") && v[0] == v[1] ? 0 : tie(v[1], v[0]); }
static wide minimum_f(const wide *v, int32_t t) {
  (void)t;
  return v[0] != v[0] || v[1] != v[1] ? NAN : v[0] < v[1] ? v[0] : v[0] == v[1] && signbit(v[0]) ? v[0] : v[1];
}
static wide minimum_p0(const wide *v, int32_t t) { (void)t; return tie(v[1], v[0]); }
static wide minimum_p1(const wide *v, int32_t t) { (void)t; return tie(v[0], v[1]); }
static wide remainder_f(const wide *v, int32_t t) {
  (void)t;
  const wide r = fmodl(v[0], v[1]);
  if (defect("remainder-sign-of-dividend")) return r;
  if (r == 0) return copysignl(0, v[1]);
  return (r < 0) != (v[1] < 0) ? r + v[1] : r;
}
static wide remainder_p1(const wide *v, int32_t t) {
  (void)t;
  if (defect("remainder-derivative-truncates")) return -truncl(v[0] / v[1]);
  return -floorl(v[0] / v[1]);
}
static wide floor_divide_f(const wide *v, int32_t t) {
  (void)t;
  if (v[1] == 0 || isinf(v[0]) || isinf(v[1])) return floorl(v[0] / v[1]);
  const wide r = fmodl(v[0], v[1]);
  const wide q = (v[0] - r) / v[1];
  return r != 0 && (r < 0) != (v[1] < 0) ? q - 1 : q;
}
static wide atan2_f(const wide *v, int32_t t) {
  (void)t;
  if (defect("atan2-of-quotient-left-half") && v[1] < 0) return atanl(v[0] / v[1]) + (v[0] > 0 ? acosl(-1) : -acosl(-1));
  return atan2l(v[0], v[1]);
}
static wide atan2_p0(const wide *v, int32_t t) { (void)t; return v[1] / (v[0] * v[0] + v[1] * v[1]); }
static wide atan2_p1(const wide *v, int32_t t) { (void)t; return -v[0] / (v[0] * v[0] + v[1] * v[1]); }
static wide pow_f(const wide *v, int32_t t) { (void)t; return powl(v[0], v[1]); }
static wide pow_p0(const wide *v, int32_t t) { (void)t; return v[1] == 0 ? 0 : v[1] * powl(v[0], v[1] - 1); }
static wide pow_p1(const wide *v, int32_t t) { (void)t; return v[0] == 0 && v[1] >= 0 ? 0 : powl(v[0], v[1]) * logl(v[0]); }
static wide fma_f(const wide *v, int32_t t) { return t == ETALON_F32 ? (wide)((float)v[0] * (float)v[1] + (float)v[2]) : (wide)((double)v[0] * (double)v[1] + (double)v[2]); }

typedef struct many_row { const char *name; int operands; many *f, *p[3]; } many_row;
static const many_row manies[] = {
    {"add", 2, add_f, {one_p, one_p, 0}},
    {"sub", 2, sub_f, {one_p, minus_p, 0}},
    {"mul", 2, mul_f, {second_p, first_p, 0}},
    {"div", 2, div_f, {div_p0, div_p1, 0}},
    {"maximum", 2, maximum_f, {maximum_p0, maximum_p1, 0}},
    {"minimum", 2, minimum_f, {minimum_p0, minimum_p1, 0}},
    {"remainder", 2, remainder_f, {one_p, remainder_p1, 0}},
    {"floor_divide", 2, floor_divide_f, {none_p, none_p, 0}},
    {"atan2", 2, atan2_f, {atan2_p0, atan2_p1, 0}},
    {"pow", 2, pow_f, {pow_p0, pow_p1, 0}},
    {"fma", 3, fma_f, {second_p, first_p, one_p}},
};

/* The shape of the join, and per operand a table of positions. */
static int join(call_state *c, int count, int64_t *shape, const int64_t **at) {
  int rank = 0;
  for (int k = 0; k < count; ++k) rank = c->in[k].rank > rank ? c->in[k].rank : rank;
  for (int axis = 0; axis < rank; ++axis) {
    shape[axis] = 1;
    for (int k = 0; k < count; ++k) {
      const int own = axis - rank + c->in[k].rank;
      if (own >= 0 && c->in[k].shape[own] != 1) shape[axis] = c->in[k].shape[own];
    }
  }
  const int64_t n = product(shape, rank);
  for (int k = 0; k < count; ++k) {
    char key[KEY_BYTES] = "join;";
    int fresh;
    key_numbers(key, shape, rank);
    if (defect("broadcast-plan-keyed-by-size")) key_numbers(key, &c->in[k].n, 1);
    else key_numbers(key, c->in[k].shape, c->in[k].rank);
    int64_t *table = plan(key, n, &fresh);
    at[k] = table;
    if (!fresh) continue;
    for (int64_t e = 0; e < n; ++e) {
      int64_t rest = e, position = 0, stride = 1;
      for (int axis = rank; axis-- > 0;) {
        const int own = axis - rank + c->in[k].rank;
        if (own >= 0 && c->in[k].shape[own] != 1) position += rest % shape[axis] * stride;
        if (own >= 0) stride *= c->in[k].shape[own];
        rest /= shape[axis];
      }
      if (defect("broadcast-middle-axis-stride") && c->in[k].rank == 3 && c->in[k].shape[1] == 1 && c->in[k].shape[2] > 1 && shape[1] > 1)
        position = e % c->in[k].n;
      table[e] = position;
    }
  }
  return rank;
}

static int64_t many_integer(const char *name, const int64_t *v) {
  const uint64_t a = (uint64_t)v[0], b = (uint64_t)v[1];
  if (strcmp(name, "add") == 0) return (int64_t)(a + b);
  if (strcmp(name, "sub") == 0) return (int64_t)(a - b);
  if (strcmp(name, "mul") == 0) return (int64_t)(a * b);
  if (strcmp(name, "maximum") == 0) return defect("i64-maximum-in-double") ? (int64_t)fmin((double)9.2e18, fmax((double)v[0], (double)v[1])) : v[0] > v[1] ? v[0] : v[1];
  if (strcmp(name, "minimum") == 0) return v[0] < v[1] ? v[0] : v[1];
  if (strcmp(name, "fma") == 0) return (int64_t)(a * b + (uint64_t)v[2]);
  if (v[1] == 0) return 0;
  if (v[1] == -1) return name[0] == 'r' ? 0 : (int64_t)(0 - a);
  const int64_t r = v[0] % v[1], down = r != 0 && (r < 0) != (v[1] < 0);
  if (name[0] == 'r') return down ? r + v[1] : r;
  return v[0] / v[1] - (defect("integer-division-truncates") ? 0 : down);
}

static void run_many(call_state *c) {
  const many_row *row = manies;
  while (strcmp(row->name, c->call->operation) != 0) ++row;
  int64_t shape[MAX_RANK];
  const int64_t *at[3];
  const int rank = join(c, row->operands, shape, at);
  array *y = result(c, 0, c->in[0].dtype, rank, shape);
  if (!y->d) {
    if (strchr("dpa", row->name[0]) && strcmp(row->name, "add") != 0) { refuse(c, "dtype", "only reals"); return; }
    for (int64_t e = 0; e < y->n; ++e) {
      int64_t v[3] = {0};
      for (int k = 0; k < row->operands; ++k) v[k] = c->in[k].i[at[k][e]];
      y->i[e] = many_integer(row->name, v);
    }
    return;
  }
  const wide *g = c->mode == ETALON_VJP ? seed(c, 0) : NULL;
  for (int64_t e = 0; e < y->n; ++e) {
    wide v[3] = {0};
    for (int k = 0; k < row->operands; ++k) v[k] = c->in[k].d[at[k][e]];
    y->d[e] = row->f(v, y->dtype);
    for (int k = 0; k < row->operands; ++k) {
      if (c->moves[k])
        c->out_tangent[0].d[e] += row->p[k](v, y->dtype) * c->tangent[k].d[at[k][e]];
      if (!c->grad[k]) continue;
      const wide part = row->p[k](v, y->dtype) * g[e];
      if (defect("broadcast-cotangent-overwritten") && c->in[k].n < y->n) c->grad[k][at[k][e]] = part;
      else c->grad[k][at[k][e]] += part;
    }
  }
}

static void run_compare(call_state *c) {
  int64_t shape[MAX_RANK];
  const int64_t *at[3];
  const int rank = join(c, 2, shape, at);
  array *y = result(c, 0, ETALON_BOOL, rank, shape);
  const char *name = c->call->operation;
  for (int64_t e = 0; e < y->n; ++e) {
    int less, equal;
    if (c->in[0].d) {
      const wide a = c->in[0].d[at[0][e]], b = c->in[1].d[at[1][e]];
      less = a < b;
      equal = a == b;
      if (defect("ge-as-not-lt") && name[0] == 'g') { y->i[e] = !less; continue; }
      if (name[0] == 'g') { y->i[e] = a >= b; continue; }
    } else {
      const int64_t a = c->in[0].i[at[0][e]], b = c->in[1].i[at[1][e]];
      less = a < b;
      equal = defect("eq-i64-in-double") ? (double)a == (double)b : a == b;
      if (name[0] == 'g') { y->i[e] = !less; continue; }
    }
    y->i[e] = name[0] == 'e' ? equal : less;
  }
}

static void run_where(call_state *c) {
  int64_t shape[MAX_RANK];
  const int64_t *at[3];
  const int rank = join(c, 3, shape, at);
  array *y = result(c, 0, c->in[1].dtype, rank, shape);
  const wide *g = c->mode == ETALON_VJP && y->d ? seed(c, 0) : NULL;
  for (int64_t e = 0; e < y->n; ++e) {
    const int64_t chosen = c->in[0].i[at[0][e]];
    const int k = chosen ? 1 : 2;
    const int64_t p = at[k][e];
    if (!y->d) { y->i[e] = c->in[k].i[p]; continue; }
    y->d[e] = c->in[k].d[p];
    if (defect("where-by-multiplication")) y->d[e] = (wide)chosen * c->in[1].d[at[1][e]] + (wide)!chosen * c->in[2].d[at[2][e]];
    if (c->mode == ETALON_JVP) c->out_tangent[0].d[e] = c->tangent[k].d[p];
    if (c->grad[k]) c->grad[k][p] += g[e];
    if (defect("where-gradient-unmasked") && c->grad[2] && k == 1) c->grad[2][at[2][e]] += g[e];
  }
}

static int64_t real_to_integer(wide x, wide low, wide high, int64_t least, int64_t most) {
  if (x != x) return 0;
  return x <= low ? least : x >= high ? most : (int64_t)x;
}

static void run_cast(call_state *c) {
  const array *x = &c->in[0];
  const char *to = attr_symbol(c, "dtype", "f32");
  const int32_t dtype = strcmp(to, "f32") == 0 ? ETALON_F32 : strcmp(to, "f64") == 0 ? ETALON_F64 : strcmp(to, "i32") == 0 ? ETALON_I32
                        : strcmp(to, "i64") == 0 ? ETALON_I64 : strcmp(to, "bool") == 0 ? ETALON_BOOL : -1;
  if (dtype < 0) { refuse(c, "dtype", to); return; }
  array *y = result(c, 0, dtype, x->rank, x->shape);
  for (int64_t e = 0; e < x->n; ++e) {
    if (y->d) y->d[e] = x->d ? x->d[e] : (wide)x->i[e];
    else if (dtype == ETALON_BOOL) y->i[e] = x->d ? x->d[e] != 0 : x->i[e] != 0;
    else if (!x->d) y->i[e] = defect("cast-i64-to-i32-saturates") && dtype == ETALON_I32 ? (x->i[e] > INT32_MAX ? INT32_MAX : x->i[e] < INT32_MIN ? INT32_MIN : x->i[e]) : x->i[e];
    else if (dtype == ETALON_I32) y->i[e] = defect("cast-to-i32-wraps") ? real_to_integer(x->d[e], -9e18Q, 9e18Q, 0, 0) : real_to_integer(x->d[e], -2147483648.0Q, 2147483647.0Q, INT32_MIN, INT32_MAX);
    else y->i[e] = real_to_integer(defect("cast-rounds-to-nearest") ? rintl(x->d[e]) : x->d[e], -9223372036854775808.0Q, 9223372036854775807.0Q, INT64_MIN, INT64_MAX);
    if (c->mode == ETALON_JVP && y->d && x->d) c->out_tangent[0].d[e] = c->tangent[0].d[e];
  }
  if (c->grad[0] && y->d) {
    const wide *g = seed(c, 0);
    for (int64_t e = 0; e < x->n; ++e) c->grad[0][e] += g[e];
  }
}

#define U(name) {name, run_unary, 1}
#define M(name) {name, run_many, 1}
const kernel_row elementwise_rows[] = {
    U("neg"), U("abs"), U("sign"), U("square"), U("sqrt"), U("reciprocal"), U("exp"), U("expm1"), U("log"), U("log1p"), U("sin"),
    U("cos"), U("tanh"), U("sigmoid"), U("softplus"), U("erf"), U("relu"), U("leaky_relu"), U("elu"), U("gelu"), U("silu"),
    U("floor"), U("ceil"), U("round"), U("trunc"), U("scale"), U("clamp"), U("power"), M("add"), M("sub"), M("mul"), M("div"),
    M("maximum"), M("minimum"), M("remainder"), M("floor_divide"), M("atan2"), M("pow"), M("fma"),
    {"eq", run_compare, 0}, {"lt", run_compare, 0}, {"ge", run_compare, 0}, {"where", run_where, 1}, {"cast", run_cast, 1}, {0, 0, 0}};
