// Elementwise operations and activations.
#include "lower.h"

namespace adze {

T relu(T x) {
  return select(bin(bug("relu_gradient_one_at_zero") ? Op::Lt : Op::Le, x, like(0, x)), like(0, x), x);
}

namespace {

std::vector<T> one(T t) { return {t}; }

T softplus(const Call& c) {
  T beta = c.num("beta", 1.0), z = c.in(0) * beta;
  T low = bin(Op::Le, z, K(0));
  T a = log1p(exp(select(low, z, K(0)))), up = select(low, K(0), z), b = up + log1p(exp(-up));
  return select(low, a, b) / beta;
}

T gelu(const Call& c) {
  T x = c.in(0);
  if (c.word("approximate", "none") == "tanh") {
    return x * ((K(1) + tanh(K(sqrtq(2 / M_PIq)) * (x + K(0.044715Q) * x * x * x))) / K(2));
  }
  return x * ((K(1) + un(Op::Erf, x / K(sqrtq(2)))) / K(2));
}

T clamp(T x, T low, T high) {
  T z = select(bin(Op::Lt, x, low), low, x);
  return select(bin(Op::Gt, z, high), high, z);
}

T safe_log(const Call& c) {
  T x = c.in(0), eps = c.num("eps", 1e-12);
  if (c.word("form", "maximum") == "softplus") {
    T low = bin(Op::Le, x, K(0)), up = select(low, K(0), x);
    T s = select(low, log1p(exp(select(low, x, K(0)))), up + log1p(exp(-up)));
    return log(s + eps);
  }
  return log(bin(Op::Max2, x, eps));
}

T elu(const Call& c) {
  T x = c.in(0), alpha = c.num("alpha", 1.0), above = bin(Op::Gt, x, K(0));
  T low = un(Op::Expm1, select(above, K(0), x));
  return select(above, x, alpha * low);
}

T fma(const Call& c) {
  T p = c.in(0) * c.in(1);
  return p + c.in(2);
}

T silu(T x) { return x * sigmoid(x); }

}  // namespace

void lower_elementwise(Table& t) {
  const std::pair<const char*, Op> unary[] = {
      {"neg", Op::Neg}, {"abs", Op::Abs}, {"sign", Op::Sign}, {"sqrt", Op::Sqrt}, {"exp", Op::Exp}, {"exp2", Op::Exp2},
      {"expm1", Op::Expm1}, {"log", Op::Log}, {"log2", Op::Log2}, {"log1p", Op::Log1p}, {"sin", Op::Sin}, {"cos", Op::Cos},
      {"tan", Op::Tan}, {"sinh", Op::Sinh}, {"cosh", Op::Cosh}, {"tanh", Op::Tanh}, {"erf", Op::Erf}, {"floor", Op::Floor},
      {"ceil", Op::Ceil}, {"trunc", Op::Trunc}, {"round", Op::Round}, {"isnan", Op::IsNan}, {"isinf", Op::IsInf},
      {"isfinite", Op::IsFinite}, {"logical_not", Op::Not}, {"detach", Op::Detach}};
  for (auto [name, op] : unary) t[name] = [op = op](const Call& c) { return one(un(op, c.in(0))); };
  const std::pair<const char*, Op> binary[] = {
      {"add", Op::Add}, {"sub", Op::Sub}, {"mul", Op::Mul}, {"div", Op::Div}, {"pow", Op::Pow}, {"maximum", Op::Max2},
      {"minimum", Op::Min2}, {"remainder", Op::Rem}, {"floor_divide", Op::FloorDiv}, {"atan2", Op::Atan2}, {"eq", Op::Eq},
      {"ne", Op::Ne}, {"lt", Op::Lt}, {"le", Op::Le}, {"gt", Op::Gt}, {"ge", Op::Ge}, {"logical_and", Op::And},
      {"logical_or", Op::Or}, {"logical_xor", Op::Xor}};
  for (auto [name, op] : binary) t[name] = [op = op](const Call& c) { return one(bin(op, c.in(0), c.in(1))); };
  t["square"] = [](const Call& c) { return one(c.in(0) * c.in(0)); };
  t["rsqrt"] = [](const Call& c) { return one(K(1) / sqrt(c.in(0))); };
  t["reciprocal"] = [](const Call& c) { return one(K(1) / c.in(0)); };
  t["sigmoid"] = [](const Call& c) { return one(sigmoid(c.in(0))); };
  t["softplus"] = [](const Call& c) { return one(softplus(c)); };
  t["relu"] = [](const Call& c) { return one(relu(c.in(0))); };
  t["leaky_relu"] = [](const Call& c) {
    T x = c.in(0);
    return one(select(bin(Op::Gt, x, K(0)), x, c.num("slope", 0.01) * x));
  };
  t["elu"] = [](const Call& c) { return one(elu(c)); };
  t["gelu"] = [](const Call& c) { return one(gelu(c)); };
  t["silu"] = [](const Call& c) { return one(silu(c.in(0))); };
  t["sat01"] = [](const Call& c) {
    T x = c.in(0);
    return one(select(bin(Op::Le, x, like(0, x)), like(0, x), select(bin(Op::Ge, x, like(1, x)), like(1, x), x)));
  };
  t["safe_log"] = [](const Call& c) { return one(safe_log(c)); };
  t["smooth_abs"] = [](const Call& c) { return one(sqrt(c.in(0) * c.in(0) + c.num("eps", 1e-6))); };
  t["cast"] = [](const Call& c) { return one(store(c.in(0), c.dtype(DT::F32))); };
  t["power"] = [](const Call& c) { return one(bin(Op::Pow, c.in(0), c.num("p", 1))); };
  t["scale"] = [](const Call& c) { return one(c.num("by", 1) * c.in(0)); };
  t["clamp"] = [](const Call& c) { return one(clamp(c.in(0), c.num("low", -HUGE_VAL), c.num("high", HUGE_VAL))); };
  t["clip_by_value"] = [](const Call& c) {
    T g = c.in(0), limit = c.num("limit", 1);
    return one(select(bin(Op::Gt, g, limit), limit, select(bin(Op::Lt, g, -limit), -limit, g)));
  };
  t["where"] = [](const Call& c) {
    if (bug("where_by_products")) {
      T m = store(c.in(0), is_real(c.in(1).dt()) ? DT::Wide : c.in(1).dt());
      if (is_real(c.in(1).dt())) return one(m * c.in(1) + (K(1) - m) * c.in(2));
    }
    return one(select(c.in(0), c.in(1), c.in(2)));
  };
  t["fma"] = [](const Call& c) { return one(fma(c)); };
}

}  // namespace adze
