// Elementwise operations as primitive instructions.
#include "core.h"

namespace {

using R = std::vector<V>;

template <Fn fn> R unary(const Call& c) { return {un(fn, c.x[0])}; }
template <Fn fn> R binary(const Call& c) { return {ew(fn, c.x[0].dt(), {c.x[0], c.x[1]})}; }
template <Fn fn> R comparison(const Call& c) { return {cmp(fn, c.x[0], c.x[1])}; }
template <Fn fn> R test(const Call& c) { return {ew(fn, DT::boolean, {c.x[0]})}; }

V zero(V x) { return lit(0, x); }

R square(const Call& c) { return {c.x[0] * c.x[0]}; }
R reciprocal(const Call& c) { return {1 / c.x[0]}; }
R rsqrt(const Call& c) { return {1 / un(Fn::sqrt, c.x[0])}; }
R softplus(const Call& c) {
  V x = c.x[0];
  Real beta = c.a.num("beta", 1);
  V y = un(Fn::softplus, x * beta) / beta;
  if (BUG(softplus_threshold_ignores_beta)) y = select(cmp(Fn::gt, x, lit(20, x)), x, y);
  return {y};
}
R relu(const Call& c) {
  V x = c.x[0];
  return {select(cmp(Fn::le, x, zero(x)), zero(x), x)};
}
R leaky_relu(const Call& c) {
  V x = c.x[0];
  return {select(cmp(Fn::gt, x, zero(x)), x, x * c.a.num("slope", 0.01))};
}
R elu(const Call& c) {
  V x = c.x[0], above = cmp(Fn::gt, x, zero(x));
  return {select(above, x, un(Fn::expm1, select(above, zero(x), x)) * c.a.num("alpha", 1))};
}
R gelu(const Call& c) {
  V x = c.x[0];
  bool by_tanh = c.a.sym("approximate", "none") == "tanh";
  if (by_tanh) return {x * ((1 + un(Fn::tanh, sqrtq(2 / M_PIq) * (x + 0.044715Q * x * x * x))) / 2)};
  return {x * ((1 + un(Fn::erf, x / sqrtq(2))) / 2)};
}
R sat01(const Call& c) {
  V x = c.x[0];
  return {select(cmp(Fn::le, x, zero(x)), zero(x), select(cmp(Fn::ge, x, lit(1, x)), lit(1, x), x))};
}
R safe_log(const Call& c) {
  V x = c.x[0], eps = lit(c.a.num("eps", 1e-12), x);
  if (c.a.sym("form", "maximum") == "maximum") return {un(Fn::log, ew(Fn::maximum, x.dt(), {x, eps}))};
  return {un(Fn::log, un(Fn::softplus, x) + eps)};
}
R smooth_abs(const Call& c) { return {un(Fn::sqrt, c.x[0] * c.x[0] + c.a.num("eps", 1e-6))}; }
R logical_not(const Call& c) { return {un(Fn::lnot, c.x[0])}; }
R cast(const Call& c) { return {convert(c.x[0], c.a.dtype("dtype", c.x[0].dt()))}; }
R scale(const Call& c) { return {c.a.num("by") * c.x[0]}; }
V clamped(V x, Real low, Real high) {
  V l = lit(low, x), h = lit(high, x);
  if (BUG(clamp_upper_bound_first)) {
    V z = select(cmp(Fn::gt, x, h), h, x);
    return select(cmp(Fn::lt, z, l), l, z);
  }
  V z = select(cmp(Fn::lt, x, l), l, x);
  return select(cmp(Fn::gt, z, h), h, z);
}
R clamp(const Call& c) { return {clamped(c.x[0], c.a.num("low", -HUGE_VALQ), c.a.num("high", HUGE_VALQ))}; }
R clip_by_value(const Call& c) {
  V x = c.x[0];
  Real limit = c.a.num("limit");
  V h = lit(limit, x), l = lit(-limit, x);
  return {select(cmp(Fn::gt, x, h), h, select(cmp(Fn::lt, x, l), l, x))};
}
R power(const Call& c) { return {ew(Fn::pow, c.x[0].dt(), {c.x[0], lit(c.a.num("p"), c.x[0])})}; }
R where(const Call& c) { return {select(c.x[0], c.x[1], c.x[2])}; }
R fma(const Call& c) { return {ew(Fn::fma, c.x[0].dt(), {c.x[0], c.x[1], c.x[2]})}; }

const Register rows{
    {"neg", unary<Fn::neg>}, {"abs", unary<Fn::abs>}, {"sign", unary<Fn::sign>}, {"square", square},
    {"sqrt", unary<Fn::sqrt>}, {"rsqrt", rsqrt}, {"reciprocal", reciprocal}, {"exp", unary<Fn::exp>},
    {"exp2", unary<Fn::exp2>}, {"expm1", unary<Fn::expm1>}, {"log", unary<Fn::log>}, {"log2", unary<Fn::log2>},
    {"log1p", unary<Fn::log1p>}, {"sin", unary<Fn::sin>}, {"cos", unary<Fn::cos>}, {"tan", unary<Fn::tan>},
    {"sinh", unary<Fn::sinh>}, {"cosh", unary<Fn::cosh>}, {"tanh", unary<Fn::tanh>}, {"sigmoid", unary<Fn::sigmoid>},
    {"softplus", softplus}, {"erf", unary<Fn::erf>}, {"relu", relu}, {"leaky_relu", leaky_relu}, {"elu", elu},
    {"gelu", gelu}, {"silu", unary<Fn::silu>}, {"sat01", sat01}, {"safe_log", safe_log}, {"smooth_abs", smooth_abs},
    {"floor", unary<Fn::floor>}, {"ceil", unary<Fn::ceil>}, {"round", unary<Fn::round>}, {"trunc", unary<Fn::trunc>},
    {"isnan", test<Fn::isnan>}, {"isinf", test<Fn::isinf>}, {"isfinite", test<Fn::isfinite>},
    {"logical_not", logical_not}, {"detach", unary<Fn::detach>}, {"cast", cast}, {"add", binary<Fn::add>},
    {"sub", binary<Fn::sub>}, {"mul", binary<Fn::mul>}, {"div", binary<Fn::div>}, {"pow", binary<Fn::pow>},
    {"power", power}, {"maximum", binary<Fn::maximum>}, {"minimum", binary<Fn::minimum>},
    {"remainder", binary<Fn::rem>}, {"floor_divide", binary<Fn::fdiv>}, {"atan2", binary<Fn::atan2>},
    {"scale", scale}, {"clamp", clamp}, {"clip_by_value", clip_by_value}, {"where", where}, {"fma", fma},
    {"eq", comparison<Fn::eq>}, {"ne", comparison<Fn::ne>}, {"lt", comparison<Fn::lt>}, {"le", comparison<Fn::le>},
    {"gt", comparison<Fn::gt>}, {"ge", comparison<Fn::ge>}, {"logical_and", comparison<Fn::land>},
    {"logical_or", comparison<Fn::lor>}, {"logical_xor", comparison<Fn::lxor>}};

}  // namespace
