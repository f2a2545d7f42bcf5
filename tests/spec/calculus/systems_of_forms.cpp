/// \file
/// Systems that hold what derivatives easily get wrong: primitives, kinks, shared outputs, computed places, recurrences.
#include "tests/spec/calculus/example_list.hpp"
#include "tests/spec/calculus/system_builder.hpp"

namespace etalon::test {

using namespace by_hand;

namespace {

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

void add_systems_of_forms(ExampleList& to) {
  to.add("scalars", scalars());
  to.add("shared output", shared_output());
  to.add("gather at argmax", gather_at_argmax());
  to.add("max plus", max_plus());
  to.add("running product", running_product(false));
  to.add("running product from the end", running_product(true));
  to.add("recurrent network", recurrent_network());
  to.add("all earlier steps", all_earlier());
}

}  // namespace etalon::test
