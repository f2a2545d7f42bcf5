/// \file
/// Systems whose point is where elements are read and written: reductions, reshapes, windows, gathers and scans.
#include "tests/spec/calculus/example_list.hpp"
#include "tests/spec/calculus/system_builder.hpp"

namespace etalon::test {

using namespace by_hand;

namespace {

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

}  // namespace

void add_systems_of_indices(ExampleList& to) {
  to.add("sum over axes", sum_over_axes());
  to.add("broadcasting add", broadcasting_add());
  to.add("matmul", matmul(4, 3, 5));
  to.add("concat", concat());
  to.add("interleave", interleave());
  to.add("transpose", transpose());
  to.add("slice", slice());
  to.add("reshape", reshape());
  to.add("reshape to three", reshape_to_three());
  to.add("roll and upsample", roll_and_upsample());
  to.add("conv", convolution({1, 2, 5, 2, 3, 1, 0, 1, 1}));
  to.add("conv with stride and padding", convolution({1, 1, 6, 2, 3, 2, 1, 1, 1}));
  to.add("conv with dilation", convolution({1, 1, 7, 1, 3, 1, 2, 2, 1}));
  to.add("conv with stride, dilation and groups", convolution({1, 4, 6, 4, 2, 2, 1, 3, 2}));
  to.add("max_pool", max_pool(4, 2, 2, 0));
  to.add("max_pool with padding", max_pool(5, 3, 2, 1));
  to.add("average_pool", average_pool());
  to.add("gather", gather(), -2, 6);
  to.add("scatter_add", scatter_add(), -1, 5);
  to.add("cumsum", cumsum());
  to.add("cumprod", cumprod());
  to.add("product over two", product_over_two());
}

}  // namespace etalon::test
