/// \file
/// Systems built by hand for the tests of the bounds, each what an elaborated operation looks like.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::bounds_test {

using spec::Binder;
using spec::Expr;
using spec::Primitive;
using spec::Reduction;
using spec::System;
using spec::TensorId;

inline Expr always() { return spec::boolean(true); }
inline Expr function(Primitive p, Expr x) { return spec::apply(p, {std::move(x)}); }
inline Expr number(double x) { return spec::binary64(x); }

/// Shorthand for building one system.
struct Builder {
  System s;
  DType dtype = DType::f32;

  explicit Builder(DType type) : dtype(type) {}
  TensorId input(const std::string& name, const Dims& dims) {
    const TensorId t = s.add_tensor(name, dtype, dims);
    s.inputs.push_back(t);
    return t;
  }
  TensorId integers(const std::string& name, const Dims& dims) {
    const TensorId t = s.add_tensor(name, DType::i64, dims);
    s.inputs.push_back(t);
    return t;
  }
  TensorId local(const std::string& name, const Dims& dims) { return s.add_tensor(name, dtype, dims); }
  TensorId output(const std::string& name, const Dims& dims) {
    const TensorId t = local(name, dims);
    s.outputs.push_back(t);
    return t;
  }
  Binder bind(std::int64_t n) { return s.bind("i", n); }
  template <class... I>
  Expr at(TensorId t, const I&... index) {
    return s.at(t, {spec::variable(index)...});
  }
  static Expr sum(const Binder& k, Expr body) { return spec::reduce(Reduction::sum, {k}, always(), std::move(body)); }
  static Expr max(const Binder& k, Expr body) { return spec::reduce(Reduction::max, {k}, always(), std::move(body)); }
};

inline System sum_system(DType dtype, std::int64_t n) {
  Builder b(dtype);
  const auto x = b.input("x", {n});
  const auto y = b.output("y", {});
  const auto k = b.bind(n);
  b.s.define(y, {}, Builder::sum(k, b.at(x, k)));
  return b.s;
}

inline System matmul_system(DType dtype, std::int64_t m, std::int64_t n, std::int64_t p, bool bias = false) {
  Builder b(dtype);
  const auto a = b.input("a", {m, n});
  const auto w = b.input("w", {n, p});
  const auto c = bias ? b.input("c", {p}) : -1;
  const auto y = b.output("y", {m, p});
  const auto i = b.bind(m);
  const auto j = b.bind(p);
  const auto k = b.bind(n);
  const Expr dot = Builder::sum(k, b.at(a, i, k) * b.at(w, k, j));
  b.s.define(y, {i, j}, bias ? b.at(c, j) + dot : dot);
  return b.s;
}

inline System softmax_system(DType dtype, std::int64_t rows, std::int64_t n) {
  Builder b(dtype);
  const auto x = b.input("x", {rows, n});
  const auto top = b.local("top", {rows});
  const auto e = b.local("e", {rows, n});
  const auto y = b.output("y", {rows, n});
  auto r = b.bind(rows);
  auto k = b.bind(n);
  b.s.define(top, {r}, spec::detach(Builder::max(k, b.at(x, r, k))));
  r = b.bind(rows);
  auto i = b.bind(n);
  b.s.define(e, {r, i}, function(Primitive::exp, b.at(x, r, i) - b.at(top, r)));
  r = b.bind(rows);
  i = b.bind(n);
  k = b.bind(n);
  b.s.define(y, {r, i}, b.at(e, r, i) / Builder::sum(k, b.at(e, r, k)));
  return b.s;
}

inline System log_softmax_system(DType dtype, std::int64_t rows, std::int64_t n) {
  Builder b(dtype);
  const auto x = b.input("x", {rows, n});
  const auto top = b.local("top", {rows});
  const auto z = b.local("z", {rows, n});
  const auto l = b.local("l", {rows});
  const auto y = b.output("y", {rows, n});
  auto r = b.bind(rows);
  auto k = b.bind(n);
  b.s.define(top, {r}, spec::detach(Builder::max(k, b.at(x, r, k))));
  r = b.bind(rows);
  auto i = b.bind(n);
  b.s.define(z, {r, i}, b.at(x, r, i) - b.at(top, r));
  r = b.bind(rows);
  k = b.bind(n);
  b.s.define(l, {r}, function(Primitive::log, Builder::sum(k, function(Primitive::exp, b.at(z, r, k)))));
  r = b.bind(rows);
  i = b.bind(n);
  b.s.define(y, {r, i}, b.at(z, r, i) - b.at(l, r));
  return b.s;
}

/// `eps` may be 0: the mutant that forgets it.
inline System layer_norm_system(DType dtype, std::int64_t rows, std::int64_t n, double eps = 1e-5) {
  Builder b(dtype);
  const auto x = b.input("x", {rows, n});
  const auto gamma = b.input("gamma", {n});
  const auto beta = b.input("beta", {n});
  const auto mu = b.local("mu", {rows});
  const auto d = b.local("d", {rows, n});
  const auto v = b.local("v", {rows});
  const auto y = b.output("y", {rows, n});
  const Expr size = spec::as_real(spec::integer(n));
  auto r = b.bind(rows);
  auto k = b.bind(n);
  b.s.define(mu, {r}, Builder::sum(k, b.at(x, r, k)) / size);
  r = b.bind(rows);
  k = b.bind(n);
  b.s.define(d, {r, k}, b.at(x, r, k) - b.at(mu, r));
  r = b.bind(rows);
  k = b.bind(n);
  b.s.define(v, {r}, Builder::sum(k, b.at(d, r, k) * b.at(d, r, k)) / size);
  r = b.bind(rows);
  k = b.bind(n);
  const Expr root = function(Primitive::sqrt, b.at(v, r) + number(eps));
  b.s.define(y, {r, k}, b.at(gamma, k) * (b.at(d, r, k) / root) + b.at(beta, k));
  return b.s;
}

/// Functions, quotients and products in one chain.
inline System chain_system(DType dtype, std::int64_t n) {
  Builder b(dtype);
  const auto x = b.input("x", {n});
  const auto h = b.local("h", {n});
  const auto y = b.output("y", {n});
  const auto z = b.output("z", {n});
  auto i = b.bind(n);
  b.s.define(h, {i}, function(Primitive::tanh, b.at(x, i) * spec::decimal(3, -1)) + function(Primitive::erf, b.at(x, i)));
  i = b.bind(n);
  b.s.define(y, {i}, function(Primitive::exp, b.at(h, i)) / (spec::decimal(1) + b.at(h, i) * b.at(h, i)));
  i = b.bind(n);
  const Expr positive = b.at(h, i) * b.at(h, i) + spec::decimal(1, -1);
  b.s.define(z, {i}, function(Primitive::log, positive) * function(Primitive::sin, b.at(x, i)) *
                         function(Primitive::cos, b.at(h, i)) / function(Primitive::sqrt, positive));
  return b.s;
}

/// Functions of operands that err themselves: tan on both sides of its poles, angles in every quadrant, remainders.
inline System functions_system(DType dtype, std::int64_t n) {
  Builder b(dtype);
  const auto x = b.input("x", {n});
  const auto h = b.local("h", {n});
  const auto g = b.local("g", {n});
  auto i = b.bind(n);
  b.s.define(h, {i}, function(Primitive::tanh, b.at(x, i)) * spec::decimal(9, -1));
  i = b.bind(n);
  b.s.define(g, {i}, b.at(x, i) * spec::decimal(3, -1));
  const auto add = [&](const char* name, const std::function<Expr(const Expr&, const Expr&)>& value) {
    const auto y = b.output(name, {n});
    const auto k = b.bind(n);
    b.s.define(y, {k}, value(b.at(h, k), b.at(g, k)));
  };
  const auto both = [](Primitive p, const Expr& u, const Expr& v) { return spec::apply(p, {u, v}); };
  const auto positive = [](const Expr& u) { return u * u + spec::decimal(5, -1); };
  add("hyperbolic", [&](const Expr& u, const Expr&) { return function(Primitive::sinh, u) + function(Primitive::cosh, u); });
  add("binary", [&](const Expr& u, const Expr&) { return function(Primitive::exp2, u) * function(Primitive::log2, positive(u)); });
  add("tangent", [&](const Expr& u, const Expr& v) { return function(Primitive::tan, v) + function(Primitive::tan, u); });
  add("angle", [&](const Expr& u, const Expr& v) { return both(Primitive::atan2, u, function(Primitive::cos, v)); });
  add("behind", [&](const Expr& u, const Expr& v) { return both(Primitive::atan2, v, -positive(u)); });
  add("rest", [&](const Expr& u, const Expr& v) { return both(Primitive::modulo, v, positive(u)); });
  add("negative_rest", [&](const Expr& u, const Expr& v) { return both(Primitive::modulo, v, -positive(u)); });
  return b.s;
}

/// Mean over rows of -(log-softmax at the label).
inline System cross_entropy_system(DType dtype, std::int64_t rows, std::int64_t n) {
  Builder b(dtype);
  const auto x = b.input("x", {rows, n});
  const auto t = b.integers("t", {rows});
  const auto top = b.local("top", {rows});
  const auto z = b.local("z", {rows, n});
  const auto each = b.local("each", {rows});
  const auto y = b.output("y", {});
  auto r = b.bind(rows);
  auto k = b.bind(n);
  b.s.define(top, {r}, spec::detach(Builder::max(k, b.at(x, r, k))));
  r = b.bind(rows);
  k = b.bind(n);
  b.s.define(z, {r, k}, b.at(x, r, k) - b.at(top, r));
  r = b.bind(rows);
  k = b.bind(n);
  const Expr log_sum = function(Primitive::log, Builder::sum(k, function(Primitive::exp, b.at(z, r, k))));
  const Expr label = b.s.at(t, {spec::variable(r)});
  b.s.define(each, {r}, -(b.s.at(z, {spec::variable(r), label}) - log_sum));
  r = b.bind(rows);
  b.s.define(y, {}, Builder::sum(r, b.at(each, r)) / spec::as_real(spec::integer(rows)));
  return b.s;
}

inline System adam_system(DType dtype, std::int64_t n) {
  Builder b(dtype);
  const auto p = b.input("p", {n});
  const auto g = b.input("g", {n});
  const auto m = b.input("m", {n});
  const auto v = b.input("v", {n});
  const auto t = b.integers("t", {});
  const auto c1 = b.local("c1", {});
  const auto c2 = b.local("c2", {});
  const auto q = b.output("q", {n});
  const auto m1 = b.output("m1", {n});
  const auto v1 = b.output("v1", {n});
  const Expr one = spec::decimal(1);
  const auto correction = [&](double beta) {
    return one - spec::apply(Primitive::pow, {number(beta), spec::as_real(b.s.at(t, {}))});
  };
  b.s.define(c1, {}, correction(0.9));
  b.s.define(c2, {}, correction(0.999));
  auto i = b.bind(n);
  b.s.define(m1, {i}, number(0.9) * b.at(m, i) + (one - number(0.9)) * b.at(g, i));
  i = b.bind(n);
  b.s.define(v1, {i}, number(0.999) * b.at(v, i) + (one - number(0.999)) * b.at(g, i) * b.at(g, i));
  i = b.bind(n);
  const Expr step = (b.at(m1, i) / b.s.at(c1, {})) / (function(Primitive::sqrt, b.at(v1, i) / b.s.at(c2, {})) + number(1e-8));
  b.s.define(q, {i}, b.at(p, i) - number(1e-3) * step);
  return b.s;
}

/// Cotangent of x in the hinge max(0, 1 - t·x), a decision on a computed value.
inline System hinge_vjp_system(DType dtype, std::int64_t n) {
  Builder b(dtype);
  const auto x = b.input("x", {n});
  const auto t = b.input("t", {n});
  const auto y = b.output("y", {n});
  const auto dx = b.output("dx", {n});
  const auto margin = [&](const Binder& i) { return spec::decimal(1) - b.at(t, i) * b.at(x, i); };
  const auto positive = [&](const Binder& i) { return spec::apply(Primitive::gt, {margin(i), spec::decimal(0)}); };
  auto i = b.bind(n);
  b.s.define(y, {i}, spec::select(positive(i), margin(i), spec::decimal(0)));
  i = b.bind(n);
  b.s.define(dx, {i}, spec::select(positive(i), -b.at(t, i), spec::decimal(0)));
  return b.s;
}

/// Product of all elements, and a chain of products and quotients.
inline System product_system(DType dtype, std::int64_t n) {
  Builder b(dtype);
  const auto x = b.input("x", {n});
  const auto w = b.input("w", {n});
  const auto y = b.output("y", {});
  const auto z = b.output("z", {n});
  const auto k = b.bind(n);
  b.s.define(y, {}, spec::reduce(Reduction::prod, {k}, always(), b.at(x, k)));
  const auto i = b.bind(n);
  b.s.define(z, {i}, b.at(x, i) * b.at(w, i) / b.at(x, i) * (b.at(w, i) * b.at(w, i)) / (b.at(x, i) * spec::decimal(7, -1)));
  return b.s;
}

}  // namespace etalon::bounds_test
