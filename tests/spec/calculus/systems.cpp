#include "tests/spec/calculus/systems.hpp"

#include <stdexcept>

namespace etalon::test {

using namespace etalon::spec;
using P = Primitive;

namespace {

Expr call(P p, std::vector<Expr> args) { return apply(p, std::move(args)); }
Expr operator+(const Expr& a, std::int64_t b) { return a + integer(b); }
Expr operator-(const Expr& a, std::int64_t b) { return a - integer(b); }
Expr operator*(const Expr& a, std::int64_t b) { return a * integer(b); }
Expr quotient(const Expr& a, std::int64_t b) { return call(P::floor_div, {a, integer(b)}); }
Expr remainder(const Expr& a, std::int64_t b) { return call(P::modulo, {a, integer(b)}); }
Expr inside(const Expr& e, std::int64_t n) { return call(P::le, {integer(0), e}) && call(P::lt, {e, integer(n)}); }
Expr always() { return boolean(true); }

/// Builds one system: inputs, locals, outputs.
struct Builder {
  System s;

  TensorId input(const std::string& name, Dims dims, DType dtype = DType::f64) {
    const TensorId t = s.add_tensor(name, dtype, dims);
    s.inputs.push_back(t);
    return t;
  }
  TensorId local(const std::string& name, Dims dims, DType dtype = DType::f64) { return s.add_tensor(name, dtype, dims); }
  TensorId output(const std::string& name, Dims dims, DType dtype = DType::f64) {
    const TensorId t = s.add_tensor(name, dtype, dims);
    s.outputs.push_back(t);
    return t;
  }
  Binder bind(const std::string& name, std::int64_t extent) { return s.bind(name, extent); }
  /// target[i…] = value(i…)
  void define(TensorId target, const auto& value) {
    std::vector<Binder> binders = s.bind_all(target);
    const Expr v = value(variables(binders));
    s.define(target, std::move(binders), v);
  }
  Expr at(TensorId t, std::vector<Expr> i) { return s.at(t, std::move(i)); }
  Expr padded(TensorId t, const std::vector<Expr>& i, Expr otherwise = decimal(0)) {
    Expr in;
    for (std::size_t axis = 0; axis < i.size(); ++axis) {
      const Expr c = inside(i[axis], s[t].dims[axis]);
      in = in.valid() ? in && c : c;
    }
    return select(in, at(t, i), std::move(otherwise));
  }
  Expr sum(const std::vector<Binder>& b, Expr body, Expr guard = always()) {
    return reduce(Reduction::sum, b, std::move(guard), std::move(body));
  }
};

Expr v(const Binder& b) { return variable(b); }

System sum_over_axes() {
  Builder b;
  const TensorId x = b.input("x", {3, 4, 2});
  const TensorId y = b.output("y", {4});
  b.define(y, [&](const auto& i) {
    const Binder k = b.bind("k", 3), l = b.bind("l", 2);
    return b.sum({k, l}, b.at(x, {v(k), i[0], v(l)}));
  });
  return b.s;
}

System broadcasting_add() {
  Builder b;
  const TensorId p = b.input("a", {3, 1}), q = b.input("b", {4});
  const TensorId y = b.output("y", {3, 4});
  b.define(y, [&](const auto& i) { return b.at(p, {i[0], integer(0)}) + b.at(q, {i[1]}); });
  return b.s;
}

System matmul(std::int64_t m, std::int64_t k, std::int64_t n) {
  Builder b;
  const TensorId p = b.input("a", {m, k}), q = b.input("b", {k, n});
  const TensorId y = b.output("y", {m, n});
  b.define(y, [&](const auto& i) {
    const Binder j = b.bind("j", k);
    return b.sum({j}, b.at(p, {i[0], v(j)}) * b.at(q, {v(j), i[1]}));
  });
  return b.s;
}

System concat() {
  Builder b;
  const TensorId p = b.input("a", {2, 3}), q = b.input("b", {2, 1}), r = b.input("c", {2, 4});
  const TensorId y = b.output("y", {2, 8});
  std::int64_t before = 0;
  for (const TensorId t : {p, q, r}) {
    const std::vector<Binder> i = b.s.bind_all(t);
    b.s.equations.push_back({y, i, {v(i[0]), v(i[1]) + before}, b.at(t, variables(i))});
    before += b.s[t].dims[1];
  }
  return b.s;
}

System interleave() {
  Builder b;
  const TensorId p = b.input("a", {4}), q = b.input("b", {4});
  const TensorId y = b.output("y", {8});
  const Binder i = b.bind("i", 4), j = b.bind("j", 4);
  b.s.equations.push_back({y, {i}, {v(i) * 2}, call(P::sin, {b.at(p, {v(i)})})});
  b.s.equations.push_back({y, {j}, {v(j) * 2 + 1}, b.at(q, {v(j)})});
  return b.s;
}

System transpose() {
  Builder b;
  const TensorId x = b.input("x", {2, 3, 4});
  const TensorId y = b.output("y", {4, 2, 3});
  b.define(y, [&](const auto& i) { return b.at(x, {i[1], i[2], i[0]}); });
  return b.s;
}

System slice() {
  Builder b;
  const TensorId x = b.input("x", {11});
  const TensorId y = b.output("y", {4}), z = b.output("z", {5});
  b.define(y, [&](const auto& i) { return b.at(x, {i[0] * 3 + 1}); });
  b.define(z, [&](const auto& i) { return b.at(x, {integer(9) - i[0] * 2}); });
  return b.s;
}

System reshape() {
  Builder b;
  const TensorId x = b.input("x", {4, 6});
  const TensorId y = b.output("y", {3, 8}), z = b.output("z", {2, 3, 4});
  b.define(y, [&](const auto& i) {
    const Expr flat = i[0] * 8 + i[1];
    return b.at(x, {quotient(flat, 6), remainder(flat, 6)});
  });
  b.define(z, [&](const auto& i) {
    const Expr flat = (i[0] * 3 + i[1]) * 4 + i[2];
    return b.at(x, {remainder(quotient(flat, 6), 4), remainder(flat, 6)});
  });
  return b.s;
}

System reshape_to_three() {
  Builder b;
  const TensorId x = b.input("x", {2, 3, 4});
  const TensorId y = b.output("y", {6, 4}), z = b.output("z", {24});
  b.define(y, [&](const auto& i) {
    const Expr flat = i[0] * 4 + i[1];
    return b.at(x, {quotient(flat, 12), remainder(quotient(flat, 4), 3), remainder(flat, 4)});
  });
  b.define(z, [&](const auto& i) {
    return b.at(x, {quotient(i[0], 12), remainder(quotient(i[0], 4), 3), remainder(i[0], 4)});
  });
  return b.s;
}

System roll_and_upsample() {
  Builder b;
  const TensorId x = b.input("x", {5});
  const TensorId y = b.output("y", {5}), z = b.output("z", {10});
  b.define(y, [&](const auto& i) { return b.at(x, {remainder(i[0] - 2, 5)}); });
  b.define(z, [&](const auto& i) { return b.at(x, {quotient(i[0], 2)}); });
  return b.s;
}

struct Convolution {
  std::int64_t batch, channels, size, filters, kernel, stride, padding, dilation, groups;
};

System convolution(const Convolution& c) {
  Builder b;
  const std::int64_t e = c.channels / c.groups;
  const std::int64_t n = (c.size + 2 * c.padding - c.dilation * (c.kernel - 1) - 1) / c.stride + 1;
  const TensorId x = b.input("x", {c.batch, c.channels, c.size, c.size});
  const TensorId k = b.input("k", {c.filters, e, c.kernel, c.kernel}), bias = b.input("b", {c.filters});
  const TensorId y = b.output("y", {c.batch, c.filters, n, n});
  b.define(y, [&](const auto& i) {
    const Binder d = b.bind("d", e), p = b.bind("p", c.kernel), q = b.bind("q", c.kernel);
    const Expr channel = quotient(i[1], c.filters / c.groups) * e + v(d);
    const Expr row = i[2] * c.stride + v(p) * c.dilation - c.padding;
    const Expr column = i[3] * c.stride + v(q) * c.dilation - c.padding;
    const Expr value = select(inside(row, c.size) && inside(column, c.size), b.at(x, {i[0], channel, row, column}), decimal(0));
    return b.at(bias, {i[1]}) + b.sum({d, p, q}, b.at(k, {i[1], v(d), v(p), v(q)}) * value);
  });
  return b.s;
}

System max_pool(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  Builder b;
  const std::int64_t n = (size + 2 * padding - kernel) / stride + 1;
  const TensorId x = b.input("x", {2, size, size});
  const TensorId y = b.output("y", {2, n, n});
  b.define(y, [&](const auto& i) {
    const Binder p = b.bind("p", kernel), q = b.bind("q", kernel);
    const Expr row = i[1] * stride + v(p) - padding;
    const Expr column = i[2] * stride + v(q) - padding;
    return reduce(Reduction::max, {p, q}, inside(row, size) && inside(column, size), b.at(x, {i[0], row, column}),
                  decimal(0));
  });
  return b.s;
}

System average_pool() {
  Builder b;
  const TensorId x = b.input("x", {2, 9});
  const TensorId y = b.output("y", {2, 5});
  b.define(y, [&](const auto& i) {
    const Binder p = b.bind("p", 3), q = b.bind("q", 3);
    const Expr column = i[1] * 2 + v(p) - 1;
    const Expr other = i[1] * 2 + v(q) - 1;
    return b.sum({p}, b.padded(x, {i[0], column})) / b.sum({q}, decimal(1), inside(other, 9));
  });
  return b.s;
}

System gather() {
  Builder b;
  const TensorId x = b.input("x", {3, 5}), t = b.input("t", {4}, DType::i64);
  const TensorId y = b.output("y", {3, 4});
  b.define(y, [&](const auto& i) {
    const Expr k = b.at(t, {i[1]});
    return select(inside(k, 5), b.at(x, {i[0], k}), decimal(0));
  });
  return b.s;
}

System scatter_add() {
  Builder b;
  const TensorId x = b.input("x", {5}), t = b.input("t", {4}, DType::i64), u = b.input("u", {4});
  const TensorId y = b.output("y", {5});
  b.define(y, [&](const auto& i) {
    const Binder j = b.bind("j", 4);
    return b.at(x, {i[0]}) + b.sum({j}, b.at(u, {v(j)}), call(P::eq, {b.at(t, {v(j)}), i[0]}));
  });
  return b.s;
}

System cumsum() {
  Builder b;
  const TensorId x = b.input("x", {6});
  const TensorId y = b.output("y", {6});
  b.define(y, [&](const auto& i) {
    const Binder k = b.bind("k", 6);
    return b.sum({k}, b.at(x, {v(k)}), call(P::le, {v(k), i[0]}));
  });
  return b.s;
}

System cumprod() {
  Builder b;
  const TensorId x = b.input("x", {5});
  const TensorId y = b.output("y", {5});
  b.define(y, [&](const auto& i) {
    const Binder k = b.bind("k", 5);
    return reduce(Reduction::prod, {k}, call(P::le, {v(k), i[0]}), b.at(x, {v(k)}));
  });
  return b.s;
}

System product_over_two() {
  Builder b;
  const TensorId x = b.input("x", {2, 2, 3});
  const TensorId y = b.output("y", {2});
  b.define(y, [&](const auto& i) {
    const Binder k = b.bind("k", 2), l = b.bind("l", 3);
    return reduce(Reduction::prod, {k, l}, always(), b.at(x, {i[0], v(k), v(l)}));
  });
  return b.s;
}

/// softmax over the last axis of `x`, into `y`; shared by several examples.
void add_softmax(Builder& b, TensorId x, TensorId y, bool logarithm) {
  const Dims d = b.s[x].dims;
  const TensorId top = b.local("top", {d[0]}), e = b.local("e", d);
  b.define(top, [&](const auto& i) {
    const Binder k = b.bind("k", d[1]);
    return detach(reduce(Reduction::max, {k}, always(), b.at(x, {i[0], v(k)})));
  });
  b.define(e, [&](const auto& i) { return call(P::exp, {b.at(x, i) - b.at(top, {i[0]})}); });
  b.define(y, [&](const auto& i) {
    const Binder k = b.bind("k", d[1]);
    const Expr total = b.sum({k}, b.at(e, {i[0], v(k)}));
    if (logarithm) return b.at(x, i) - b.at(top, {i[0]}) - call(P::log, {total});
    return b.at(e, i) / total;
  });
}

System softmax(std::int64_t rows, std::int64_t n) {
  Builder b;
  const TensorId x = b.input("x", {rows, n});
  const TensorId y = b.output("y", {rows, n});
  add_softmax(b, x, y, false);
  return b.s;
}

System cross_entropy() {
  Builder b;
  const TensorId x = b.input("x", {4, 3}), t = b.input("t", {4}, DType::i64), w = b.input("w", {3});
  const TensorId l = b.local("l", {4, 3}), a = b.local("a", {4}), each = b.local("each", {4});
  const TensorId y = b.output("y", {});
  add_softmax(b, x, l, true);
  const auto ignored = [&](const Expr& i) { return call(P::eq, {b.at(t, {i}), integer(0)}); };
  const auto picked = [&](TensorId from, std::vector<Expr> index, const Expr& i) {
    return select(inside(b.at(t, {i}), 3), b.at(from, std::move(index)), decimal(1));
  };
  b.define(a, [&](const auto& i) { return select(ignored(i[0]), decimal(0), picked(w, {b.at(t, {i[0]})}, i[0])); });
  b.define(each, [&](const auto& i) {
    return select(ignored(i[0]), decimal(0), -(b.at(a, {i[0]}) * picked(l, {i[0], b.at(t, {i[0]})}, i[0])));
  });
  b.define(y, [&](const auto&) {
    const Binder j = b.bind("j", 4), k = b.bind("k", 4);
    return b.sum({j}, b.at(each, {v(j)})) / b.sum({k}, b.at(a, {v(k)}));
  });
  return b.s;
}

System layer_norm() {
  Builder b;
  const TensorId x = b.input("x", {3, 4}), gamma = b.input("gamma", {4}), beta = b.input("beta", {4});
  const TensorId mu = b.local("mu", {3}), d = b.local("d", {3, 4}), var = b.local("v", {3});
  const TensorId y = b.output("y", {3, 4});
  b.define(mu, [&](const auto& i) {
    const Binder k = b.bind("k", 4);
    return b.sum({k}, b.at(x, {i[0], v(k)})) / decimal(4);
  });
  b.define(d, [&](const auto& i) { return b.at(x, i) - b.at(mu, {i[0]}); });
  b.define(var, [&](const auto& i) {
    const Binder k = b.bind("k", 4);
    return b.sum({k}, b.at(d, {i[0], v(k)}) * b.at(d, {i[0], v(k)})) / decimal(4);
  });
  b.define(y, [&](const auto& i) {
    const Expr deviation = call(P::sqrt, {b.at(var, {i[0]}) + decimal(1, -5)});
    return b.at(gamma, {i[1]}) * (b.at(d, i) / deviation) + b.at(beta, {i[1]});
  });
  return b.s;
}

System attention() {
  Builder b;
  const TensorId q = b.input("q", {4, 3}), k = b.input("k", {5, 3}), val = b.input("val", {5, 2});
  const TensorId mask = b.input("mask", {4, 5}, DType::boolean);
  const TensorId s = b.local("s", {4, 5}), top = b.local("top", {4}), w = b.local("w", {4, 5});
  const TensorId y = b.output("y", {4, 2});
  const auto live = [&](const Expr& r, const Expr& c) { return b.at(mask, {r, c}) && call(P::le, {c, r + 1}); };
  b.define(s, [&](const auto& i) {
    const Binder j = b.bind("j", 3);
    return b.sum({j}, b.at(q, {i[0], v(j)}) * b.at(k, {i[1], v(j)})) / call(P::sqrt, {decimal(3)});
  });
  b.define(top, [&](const auto& i) {
    const Binder c = b.bind("c", 5);
    return detach(reduce(Reduction::max, {c}, live(i[0], v(c)), b.at(s, {i[0], v(c)}), decimal(0)));
  });
  b.define(w, [&](const auto& i) {
    return select(live(i[0], i[1]), call(P::exp, {b.at(s, i) - b.at(top, {i[0]})}), decimal(0));
  });
  b.define(y, [&](const auto& i) {
    const Binder a = b.bind("a", 5), c = b.bind("c", 5), e = b.bind("e", 5);
    const Expr any = reduce(Reduction::any, {a}, always(), live(i[0], v(a)));
    const Expr mean = b.sum({c}, b.at(w, {i[0], v(c)}) * b.at(val, {v(c), i[1]})) / b.sum({e}, b.at(w, {i[0], v(e)}));
    return select(any, mean, decimal(0));
  });
  return b.s;
}

System adam() {
  Builder b;
  const Dims d{3};
  const TensorId p = b.input("p", d), g = b.input("g", d), m = b.input("m", d), u = b.input("u", d);
  const TensorId t = b.input("t", {}, DType::i64);
  const TensorId m1 = b.output("m1", d), u1 = b.output("u1", d), q = b.output("q", d);
  const Expr one = decimal(1), beta1 = decimal(9, -1), beta2 = decimal(999, -3);
  b.define(m1, [&](const auto& i) { return beta1 * b.at(m, i) + (one - beta1) * b.at(g, i); });
  b.define(u1, [&](const auto& i) {
    return beta2 * call(P::mul, {b.at(u, i), b.at(u, i)}) + (one - beta2) * b.at(g, i) * b.at(g, i);
  });
  b.define(q, [&](const auto& i) {
    const Expr time = as_real(b.at(t, {}));
    const Expr c1 = one - call(P::pow, {beta1, time}), c2 = one - call(P::pow, {beta2, time});
    return b.at(p, i) - decimal(1, -1) * (b.at(m1, i) / c1 / (call(P::sqrt, {b.at(u1, i) / c2}) + decimal(1, -8)));
  });
  return b.s;
}

/// Every real primitive with a derivative once, and choices that hide a trap on the other side.
System scalars() {
  Builder b;
  const TensorId x = b.input("x", {4}), z = b.input("z", {4});
  const TensorId y = b.output("y", {4}), safe = b.output("safe", {4}), kinks = b.output("kinks", {4});
  b.define(y, [&](const auto& i) {
    const Expr a = b.at(x, i), c = b.at(z, i), positive = a * a + decimal(3, -1);
    Expr sum = call(P::exp, {a}) + call(P::log, {positive}) + call(P::sqrt, {positive}) + call(P::sin, {a}) * c;
    sum = sum + call(P::cos, {a * c}) + call(P::tanh, {c}) + call(P::erf, {a - c}) + call(P::expm1, {c}) / positive;
    sum = sum + call(P::log1p, {positive}) + call(P::pow, {positive, c}) - call(P::pow, {a, decimal(3)});
    sum = sum + call(P::tan, {c}) * call(P::sinh, {a}) - call(P::cosh, {a * c}) + call(P::exp2, {c});
    sum = sum + call(P::log2, {positive}) + call(P::atan2, {a, c + decimal(2)}) + call(P::modulo, {a, positive});
    sum = sum - call(P::ceil, {a}) + call(P::trunc, {c}) - call(P::round, {a});
    return sum + call(P::pow, {c, decimal(2)}) + -call(P::floor, {a}) + call(P::sign, {c});
  });
  b.define(safe, [&](const auto& i) {
    const Expr a = b.at(x, i);
    return select(call(P::gt, {a, decimal(0)}), call(P::sqrt, {a}) + call(P::log, {a}), decimal(0));
  });
  b.define(kinks, [&](const auto& i) {
    const Expr a = b.at(x, i), c = b.at(z, i);
    return call(P::maximum, {a, c}) + call(P::minimum, {a * c, c}) + call(P::abs, {a});
  });
  return b.s;
}

/// An output that another equation also reads, a detached use and a part with no path.
System shared_output() {
  Builder b;
  const TensorId x = b.input("x", {3}), unused = b.input("unused", {2});
  const TensorId y = b.output("y", {3}), z = b.output("z", {});
  static_cast<void>(unused);
  b.define(y, [&](const auto& i) { return b.at(x, i) * b.at(x, i) + detach(b.at(x, i)); });
  b.define(z, [&](const auto&) {
    const Binder k = b.bind("k", 3);
    return b.sum({k}, b.at(y, {v(k)}) * b.at(x, {v(k)}));
  });
  return b.s;
}

/// A gather at positions that the equations compute.
System gather_at_argmax() {
  Builder b;
  const TensorId x = b.input("x", {3, 4}), s = b.input("s", {3, 4});
  const TensorId y = b.output("y", {3});
  b.define(y, [&](const auto& i) {
    const Binder k = b.bind("k", 4);
    const Expr where = reduce(Reduction::argmax, {k}, always(), b.at(s, {i[0], v(k)}));
    return b.at(x, {i[0], where}) * b.at(s, {i[0], integer(0)});
  });
  return b.s;
}

System max_plus() {
  Builder b;
  const TensorId p = b.input("a", {3, 4}), q = b.input("b", {4, 2});
  const TensorId y = b.output("y", {3, 2}), z = b.output("z", {});
  b.define(y, [&](const auto& i) {
    const Binder t = b.bind("t", 4);
    return reduce(Reduction::max, {t}, always(), b.at(p, {i[0], v(t)}) + b.at(q, {v(t), i[1]}));
  });
  b.define(z, [&](const auto&) {
    const Binder i = b.bind("i", 3), j = b.bind("j", 4);
    const Expr e = b.at(p, {v(i), v(j)});
    return reduce(Reduction::min, {i, j}, always(), e * e);
  });
  return b.s;
}

/// y[i, j] = (y[i, j - 1] else 1) * x[i, j], or from the end.
System running_product(bool backwards) {
  Builder b;
  const TensorId x = b.input("x", {2, 4});
  const TensorId y = b.output("y", {2, 4});
  b.define(y, [&](const auto& i) {
    return b.padded(y, {i[0], backwards ? i[1] + 1 : i[1] - 1}, decimal(1)) * b.at(x, {i[0], i[1]});
  });
  return b.s;
}

/// h[s, k] = tanh(x[s, k] + sum[j] w[k, j] * (h[s - 1, j] else h0[j])), with a gate that reads h and that h reads.
System recurrent_network() {
  Builder b;
  const TensorId x = b.input("x", {4, 2}), w = b.input("w", {2, 2}), h0 = b.input("h0", {2});
  const TensorId a = b.local("a", {4, 2}), h = b.output("h", {4, 2}), last = b.output("last", {2});
  const auto before = [&](const Expr& s, const Expr& k) {
    return select(call(P::ge, {s, integer(1)}), b.at(h, {s - 1, k}), b.at(h0, {k}));
  };
  b.define(a, [&](const auto& i) {
    const Binder j = b.bind("j", 2);
    return b.sum({j}, b.at(w, {i[1], v(j)}) * before(i[0], v(j))) * b.at(x, {i[0], i[1]});
  });
  b.define(h, [&](const auto& i) {
    const Binder j = b.bind("j", 2);
    const Expr inner = b.sum({j}, b.at(w, {v(j), i[1]}) * before(i[0], v(j)));
    return call(P::tanh, {b.at(x, {i[0], i[1]}) + inner}) + b.at(a, {i[0], i[1]}) * before(i[0], i[1]);
  });
  b.define(last, [&](const auto& k) { return b.at(h, {integer(3), k[0]}); });
  return b.s;
}

/// y[i] = x[i] + sum over all earlier k of y[k] * x[i - k]: a read at every earlier step.
System all_earlier() {
  Builder b;
  const TensorId x = b.input("x", {5});
  const TensorId y = b.output("y", {5});
  b.define(y, [&](const auto& i) {
    const Binder k = b.bind("k", 5);
    return b.at(x, {i[0]}) + b.sum({k}, b.at(y, {v(k)}) * b.at(x, {i[0] - v(k)}), call(P::lt, {v(k), i[0]}));
  });
  return b.s;
}

}  // namespace

std::vector<Example> examples() {
  std::vector<Example> all;
  const auto add = [&](const char* name, System s, std::int64_t low = 0, std::int64_t high = 1) {
    all.push_back({name, std::move(s), low, high});
  };
  add("sum over axes", sum_over_axes());
  add("broadcasting add", broadcasting_add());
  add("matmul", matmul(4, 3, 5));
  add("concat", concat());
  add("interleave", interleave());
  add("transpose", transpose());
  add("slice", slice());
  add("reshape", reshape());
  add("reshape to three", reshape_to_three());
  add("roll and upsample", roll_and_upsample());
  add("conv", convolution({1, 2, 5, 2, 3, 1, 0, 1, 1}));
  add("conv with stride and padding", convolution({1, 1, 6, 2, 3, 2, 1, 1, 1}));
  add("conv with dilation", convolution({1, 1, 7, 1, 3, 1, 2, 2, 1}));
  add("conv with stride, dilation and groups", convolution({1, 4, 6, 4, 2, 2, 1, 3, 2}));
  add("max_pool", max_pool(4, 2, 2, 0));
  add("max_pool with padding", max_pool(5, 3, 2, 1));
  add("average_pool", average_pool());
  add("gather", gather(), -2, 6);
  add("scatter_add", scatter_add(), -1, 5);
  add("cumsum", cumsum());
  add("cumprod", cumprod());
  add("product over two", product_over_two());
  add("softmax", softmax(3, 4));
  add("cross_entropy", cross_entropy(), 0, 3);
  add("layer_norm", layer_norm());
  add("attention", attention());
  add("adam", adam(), 1, 5);
  add("scalars", scalars());
  add("shared output", shared_output());
  add("gather at argmax", gather_at_argmax());
  add("max plus", max_plus());
  add("running product", running_product(false));
  add("running product from the end", running_product(true));
  add("recurrent network", recurrent_network());
  add("all earlier steps", all_earlier());
  return all;
}

System example(const std::string& name) {
  for (Example& e : examples()) {
    if (e.name == name) return e.system;
  }
  throw std::invalid_argument("no example " + name);
}

namespace {

std::int64_t points_of(const Expr& e) {
  std::int64_t total = 0;
  for (const Expr& a : e->args) total += points_of(a);
  if (e.form() != Form::reduce) return total;
  std::int64_t n = 1;
  for (const Binder& b : e->binders) n *= b.extent;
  return n * (1 + total);
}

}  // namespace

std::int64_t points(const System& system, std::size_t first) {
  std::int64_t total = 0;
  for (std::size_t i = first; i < system.equations.size(); ++i) {
    const Equation& e = system.equations[i];
    std::int64_t n = 1;
    for (const Binder& b : e.binders) n *= b.extent;
    total += n * (1 + points_of(e.value));
  }
  return total;
}

}  // namespace etalon::test
