/// \file
/// Calls that work element by element.
#include <cmath>

#include "call.hpp"
#include "defect.hpp"

namespace weft {

/// 1/(1 + e^-x), by powers of e that do not overflow.
V logistic(V x) {
  const V e = unary(Op::exp, select(x < 0, x, -x));
  return select(x < 0, e / (1 + e), 1 / (1 + e));
}

namespace {

constexpr Wide root_two = 1.41421356237309504880168872420969808L;
constexpr Wide root_two_over_pi = 0.797884560802865355879892119868763737L;

V whole_number(Op op, V x) { return is_real(x.type()) ? unary(op, x) : x; }

/// x where the condition holds and a harmless number elsewhere, so that no branch meets what is not its own.
V guarded(V condition, V x, Wide harmless) {
  return select(condition, x, like(x, harmless));
}

/// log(1 + e^z), by powers that do not overflow.
V log_one_plus_exp(V z) {
  const V below = z <= 0;
  const V low = unary(Op::log1p, unary(Op::exp, guarded(below, z, 0)));
  const V high = select(below, like(z, 0), z);
  return select(below, low, high + unary(Op::log1p, unary(Op::exp, -high)));
}

Results softplus(const Call& c) {
  const V x = c.x();
  const V beta = c.scalar("beta", x);
  const V y = log_one_plus_exp(beta * x) / beta;
  // Backward the division by beta and the factor of the argument cancel.
  const bool twice = defect("softplus-backward-keeps-its-beta");
  return {by_hand(y, {x}, [=](V g) -> std::vector<V> {
    const V slope = g * logistic(beta * x);
    return {twice ? slope * beta : slope};
  })};
}

Results elu(const Call& c) {
  const V x = c.x();
  const V up = x > 0;
  const V below = select(up, like(x, 0), x);
  const V alpha = c.scalar("alpha", x);
  const V y = select(up, x, alpha * unary(Op::expm1, below));
  if (c.is_value("alpha")) return {y};
  return {by_hand(y, {x}, [=](V g) -> std::vector<V> {
    // From the result: alpha e^x is y + alpha.
    return {select(up, g, g * (defect("elu-backward-adds-one") ? y + 1 : alpha * unary(Op::exp, below)))};
  })};
}

Results gelu(const Call& c) {
  const V x = c.x();
  const bool by_tanh = c.word("approximate") == "tanh";
  if (by_tanh) {
    const V cube = x * x * x;
    return {x * ((1 + unary(Op::tanh, root_two_over_pi * (x + 0.044715L * cube))) / 2)};
  }
  const Wide root = defect("root-of-two-in-single") ? static_cast<Wide>(1.41421356F) : root_two;
  const V below = (1 + unary(Op::erf, x / root)) / 2;
  return {x * (below)};
}

Results safe_log(const Call& c) {
  const V x = c.x();
  const V eps = c.scalar("eps", x);
  if (c.word("form") == "softplus") return {unary(Op::log, log_one_plus_exp(x) + eps)};
  if (defect("safe-log-adds-eps")) return {unary(Op::log, x + eps)};
  return {unary(Op::log, binary(Op::maximum, x, eps))};
}

Results power(const Call& c) {
  const V x = c.x();
  if (c.is_value("p")) throw Unsupported("attribute", "p is no constant");
  const Wide p = c.real("p");
  if (p == 0)
    return {constant(c.g, x.type(), 1, x.shape())};
  return {binary(Op::pow, x, like(x, p))};
}

Results clamp(const Call& c) {
  const V x = c.x();
  const V low = c.scalar("low", x);
  const V high = c.scalar("high", x);
  if (defect("clamp-from-above-first")) {
    const V z = select(x > high, high, x);
    return {select(z < low, low, z)};
  }
  const V z = select(x < low, low, x);
  return {select(z > high, high, z)};
}

Results relu(const Call& c) {
  const V x = c.x();
  const V zero = like(x, 0);
  return {select(x <= 0, zero, x)};
}

Results leaky_relu(const Call& c) {
  const V x = c.x();
  const V slope = c.scalar("slope", x);
  const V low = slope * x;
  if (defect("leaky-relu-as-maximum")) return {select(binary(Op::lor, low > x, unary(Op::isnan, x)), low, x)};
  const V y = select(x > 0, x, low);
  if (c.is_value("slope")) return {y};
  // The kernel works in place, and has the result alone when it goes back.
  const bool by_result = defect("leaky-relu-backward-by-the-results-sign");
  return {by_hand(y, {x}, [=](V g) -> std::vector<V> { return {select((by_result ? y : x) > 0, g, slope * g)}; })};
}

Results sat01(const Call& c) {
  const V x = c.x();
  const V low = x <= 0;
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

void scaled(const Node&, const Kernel::Operands& in, std::vector<Wide>& y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = (*in[1])[0] * (*in[0])[i];
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
  t["scale"] = [](const Call& c) -> Results {
    const V x = c.x();
    if (!c.is_value("by") || c.g.composed || c.g.reverse) return {c.scalar("by", x) * x};
    // A kernel whose factor is bound when it runs.
    const V by = c.scalar("by", x);
    std::string key = "scale;" + std::to_string(size_of(x.shape()));
    if (!defect("factor-bound-when-the-kernel-is-made")) return {custom(key, {x, by}, x.type(), x.shape(), scaled)};
    const auto bound = std::make_shared<std::vector<Wide>>();
    return {custom(key + ";bound", {x, by}, x.type(), x.shape(), [bound](const Node& n, const Kernel::Operands& in, std::vector<Wide>& y) {
      if (bound->empty()) *bound = *in[1];
      scaled(n, {in[0], bound.get()}, y);
    })};
  };
  t["clamp"] = clamp;
  t["cast"] = cast_to;
  t["rsqrt"] = [](const Call& c) -> Results {
    const V x = c.x();
    const V y = 1 / unary(Op::sqrt, x);
    // An estimate and one step of Newton's.
    if (defect("reciprocal-root-refined-by-newton")) return {y * (1.5L - 0.5L * (x * y * y))};
    return {y};
  };
  t["safe_log"] = safe_log;
  t["reciprocal"] = [](const Call& c) -> Results { return {1 / c.x()}; };
  t["smooth_abs"] = [](const Call& c) -> Results {
    const V x = c.x();
    const V y = unary(Op::sqrt, x * x + c.scalar("eps", x));
    if (c.g.composed && defect("smooth-slope-is-the-sign")) return {unary(Op::detach, y - unary(Op::abs, x)) + unary(Op::abs, x)};
    return {y};
  };
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

}  // namespace weft
