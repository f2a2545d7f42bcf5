/// \file
/// Systems of several equations, as layers, losses and optimizers have them.
#include "tests/spec/calculus/example_list.hpp"
#include "tests/spec/calculus/system_builder.hpp"

namespace etalon::test {

using namespace by_hand;

namespace {

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

}  // namespace

void add_systems_of_layers(ExampleList& to) {
  to.add("softmax", softmax(3, 4));
  to.add("cross_entropy", cross_entropy(), 0, 3);
  to.add("layer_norm", layer_norm());
  to.add("attention", attention());
  to.add("adam", adam(), 1, 5);
}

}  // namespace etalon::test
