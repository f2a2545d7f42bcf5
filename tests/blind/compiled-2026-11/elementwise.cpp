/// \file
/// Calls that work element by element.
#include <cmath>

#include "call.hpp"
#include "defect.hpp"

namespace blind {

/// 1/(1 + e^-x), by powers of e that do not overflow.
V logistic(V x) {
  const V e = unary(Op::exp, select(x < 0, x, -x));
  if (PLANTED("sigmoid-overflows-below")) return unary(Op::exp, store(x)) / store(1 + store(unary(Op::exp, x)));
  return select(x < 0, e / (1 + e), 1 / (1 + e));
}

namespace {

constexpr Wide root_two = 1.41421356237309504880168872420969808L;
constexpr Wide root_two_over_pi = 0.797884560802865355879892119868763737L;

V whole_number(Op op, V x) { return is_real(x.type()) ? unary(op, x) : x; }

/// x where the condition holds and a harmless number elsewhere, so that no branch meets what is not its own.
V guarded(V condition, V x, Wide harmless) {
  if (PLANTED("branches-are-not-guarded")) return x;
  return select(condition, x, like(x, harmless));
}

/// log(1 + e^z), by powers that do not overflow.
V log_one_plus_exp(V z) {
  const V below = z <= 0;
  const V low = unary(Op::log1p, unary(Op::exp, guarded(below, z, 0)));
  const V high = select(below, like(z, 0), z);
  if (PLANTED("softplus-linear-beyond-ten")) return select(z > 10, z, unary(Op::log1p, unary(Op::exp, z)));
  return select(below, low, high + unary(Op::log1p, unary(Op::exp, -high)));
}

Results softplus(const Call& c) {
  const V x = c.x();
  const V beta = c.scalar("beta", x);
  const V y = log_one_plus_exp(beta * x);
  return {PLANTED("softplus-not-divided-by-beta") ? y : y / beta};
}

Results elu(const Call& c) {
  const V x = c.x();
  const V up = PLANTED("elu-slope-at-zero") ? x >= 0 : x > 0;
  const V below = select(up, like(x, 0), x);
  const V low = c.scalar("alpha", x) * unary(Op::expm1, PLANTED("branches-are-not-guarded") ? x : below);
  return {select(up, x, low)};
}

Results gelu(const Call& c) {
  const V x = c.x();
  const bool by_tanh = c.word("approximate") == "tanh";
  if (by_tanh != PLANTED("gelu-forms-exchanged")) {
    const V cube = x * x * x;
    return {x * ((1 + unary(Op::tanh, root_two_over_pi * (x + 0.044715L * cube))) / 2)};
  }
  const V below = (1 + unary(Op::erf, x / root_two)) / 2;
  return {x * (PLANTED("gelu-slope-is-the-distribution-alone") ? unary(Op::detach, below) : below)};
}

Results power(const Call& c) {
  const V x = c.x();
  if (c.is_value("p")) throw Unsupported("attribute", "p is no constant");
  const Wide p = c.real("p");
  if (p == 0)
    return {PLANTED("power-of-zero-keeps-nan") ? unary(Op::detach, x * 0 + 1) : constant(c.g, x.type(), 1, x.shape())};
  return {binary(Op::pow, x, like(x, p))};
}

Results clamp(const Call& c) {
  const V x = c.x();
  const V low = c.scalar("low", x);
  const V high = c.scalar("high", x);
  if (PLANTED("clamp-drops-nan")) {
    const V z = select(x >= low, x, low);
    return {select(z > high, high, z)};
  }
  if (PLANTED("clamp-slope-at-bounds-is-zero")) {
    const V z = select(x <= low, low, x);
    return {select(z >= high, high, z)};
  }
  const V z = select(x < low, low, x);
  return {select(z > high, high, z)};
}

Results relu(const Call& c) {
  const V x = c.x();
  const V zero = like(x, 0);
  if (PLANTED("relu-drops-nan")) return {select(x > 0, x, zero)};
  return {select(x <= 0, zero, x)};
}

Results leaky_relu(const Call& c) {
  const V x = c.x();
  const V low = c.scalar("slope", x) * x;
  return {select(x > 0, x, low)};
}

Results sat01(const Call& c) {
  const V x = c.x();
  const V low = PLANTED("saturation-slope-at-zero") ? x < 0 : x <= 0;
  return {select(low, like(x, 0), select(x >= 1, like(x, 1), x))};
}

Results square(const Call& c) {
  const V x = c.x();
  return {x * x};
}

Results cast_to(const Call& c) {
  const Type type = type_named(c.word("dtype"));
  const V x = c.x();
  return {x.type() == type ? x : cast(x, type)};
}

Results quotient(const Call& c) {
  const V a = c.x();
  const V b = c.x(1);
  return {a / b};
}

/// Whether each element is so; of integers the answer is known.
Lowering test(Op op, bool of_integers) {
  return [op, of_integers](const Call& c) -> Results {
    const V x = c.x();
    if (is_real(x.type())) return {unary(op, x)};
    return {constant(c.g, Type::boolean, of_integers, x.shape())};
  };
}

Lowering of_one(Op op) {
  return [op](const Call& c) -> Results { return {unary(op, c.x())}; };
}

Lowering of_two(Op op) {
  return [op](const Call& c) -> Results { return {binary(op, c.x(), c.x(1))}; };
}

void add_functions(Table& t) {
  const std::map<std::string, Op> ones = {
      {"neg", Op::neg},     {"abs", Op::abs}, {"sign", Op::sign},     {"exp", Op::exp},         {"exp2", Op::exp2},
      {"expm1", Op::expm1}, {"log", Op::log}, {"log2", Op::log2},     {"log1p", Op::log1p},     {"sqrt", Op::sqrt},
      {"sin", Op::sin},     {"cos", Op::cos}, {"tan", Op::tan},       {"sinh", Op::sinh},       {"cosh", Op::cosh},
      {"tanh", Op::tanh},   {"erf", Op::erf}, {"detach", Op::detach}, {"logical_not", Op::lnot}};
  for (const auto& [name, op] : ones) t[name] = of_one(op);
  const std::map<std::string, Op> twos = {{"add", Op::add},
                                          {"sub", Op::sub},
                                          {"mul", Op::mul},
                                          {"pow", Op::pow},
                                          {"floor_divide", Op::fdiv},
                                          {"remainder", Op::rem},
                                          {"atan2", Op::atan2},
                                          {"maximum", Op::maximum},
                                          {"minimum", Op::minimum},
                                          {"eq", Op::eq},
                                          {"ne", Op::ne},
                                          {"lt", Op::lt},
                                          {"le", Op::le},
                                          {"gt", Op::gt},
                                          {"ge", Op::ge},
                                          {"logical_and", Op::land},
                                          {"logical_or", Op::lor},
                                          {"logical_xor", Op::lxor}};
  for (const auto& [name, op] : twos) t[name] = of_two(op);
  for (const auto& [name, op] : std::map<std::string, Op>{
           {"floor", Op::floor}, {"ceil", Op::ceil}, {"trunc", Op::trunc}, {"round", Op::round}}) {
    t[name] = [op = op](const Call& c) -> Results { return {whole_number(op, c.x())}; };
  }
  t["isnan"] = test(Op::isnan, false);
  t["isinf"] = test(Op::isinf, false);
  t["isfinite"] = test(Op::isfinite, true);
}

}  // namespace

void add_elementwise(Table& t) {
  add_functions(t);
  t["div"] = quotient;
  t["square"] = square;
  t["scale"] = [](const Call& c) -> Results { return {c.scalar("by", c.x()) * c.x()}; };
  t["clamp"] = clamp;
  t["cast"] = cast_to;
  t["rsqrt"] = [](const Call& c) -> Results { return {1 / unary(Op::sqrt, c.x())}; };
  t["reciprocal"] = [](const Call& c) -> Results { return {1 / c.x()}; };
  t["smooth_abs"] = [](const Call& c) -> Results { return {unary(Op::sqrt, c.x() * c.x() + c.scalar("eps", c.x()))}; };
  t["power"] = power;
  t["sigmoid"] = [](const Call& c) -> Results { return {logistic(c.x())}; };
  t["silu"] = [](const Call& c) -> Results { return {c.x() * logistic(c.x())}; };
  t["softplus"] = softplus;
  t["relu"] = relu;
  t["leaky_relu"] = leaky_relu;
  t["elu"] = elu;
  t["gelu"] = gelu;
  t["sat01"] = sat01;
  t["fma"] = [](const Call& c) -> Results { return {c.x() * c.x(1) + c.x(2)}; };
  t["where"] = [](const Call& c) -> Results { return {select(c.x(), c.x(1), c.x(2))}; };
}

}  // namespace blind
