// Every form of expression, compiled, against the reference on numbers for which both are exact.
#include <catch2/catch.hpp>

#include "spec/derivative/derivative.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;
using spec::Reduction;

namespace {

Expr var(const Binder& b) { return spec::variable(b); }
Expr num(std::int64_t v) { return spec::integer(v); }
Expr between(const Expr& e, std::int64_t n) {
  return apply(Primitive::le, {num(0), e}) && apply(Primitive::lt, {e, num(n)});
}

/// Compares all outputs with the reference's, element by element; at least one is compared.
void check_same(const System& s, const std::vector<HostTensor>& inputs, const compiled::CompileOptions& o = options()) {
  spec::verify(s);
  const auto got = compiled_values(s, inputs, o);
  const auto want = reference_values(s, inputs);
  REQUIRE(got.size() == want.size());
  std::size_t compared = 0;
  for (std::size_t t = 0; t < got.size(); ++t) {
    REQUIRE(got[t].dims == want[t].dims);
    for (std::size_t i = 0; i < static_cast<std::size_t>(got[t].dims.count()); ++i, ++compared) {
      INFO(to_text(s) << "output " << t << " element " << i << ": got " << at(got[t], i) << ", want " << at(want[t], i));
      REQUIRE(same_number(at(got[t], i), at(want[t], i)));
    }
  }
  CHECK(compared > 0);
}

/// c[i, j] = sum[k] a[i, k] · b[k, j], or with b transposed.
System product(DType dtype, std::int64_t m, std::int64_t k, std::int64_t n, bool transposed) {
  System s;
  const TensorId a = input(s, "a", dtype, {m, k});
  const TensorId b = input(s, "b", dtype, transposed ? Dims{n, k} : Dims{k, n});
  const TensorId c = output(s, "c", dtype, {m, n});
  const auto out = s.bind_all(c);
  const Binder t = s.bind("k", k);
  const Expr right = transposed ? s.at(b, {var(out[1]), var(t)}) : s.at(b, {var(t), var(out[1])});
  s.define(c, out, reduce(Reduction::sum, {t}, spec::boolean(true), s.at(a, {var(out[0]), var(t)}) * right));
  return s;
}

}  // namespace

TEST_CASE("matrix products of many shapes", "[compiled][forms]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const auto& [m, k, n] : std::vector<std::array<std::int64_t, 3>>{
             {1, 1, 1}, {2, 3, 4}, {5, 17, 3}, {3, 7, 33}, {4, 64, 64}, {7, 130, 2}, {1, 100, 1}, {2, 0, 3}, {16, 5, 1}}) {
      for (const bool transposed : {false, true}) {
        const System s = product(dtype, m, k, n, transposed);
        check_same(s, {small_integers(dtype, {m, k}, 3), small_integers(dtype, transposed ? Dims{n, k} : Dims{k, n}, 4)});
      }
    }
  }
}

TEST_CASE("every reduction over every position of the lanes", "[compiled][forms]") {
  for (const Reduction r : {Reduction::sum, Reduction::max, Reduction::min, Reduction::argmax, Reduction::argmin,
                            Reduction::prod}) {
    for (const DType dtype : {DType::f32, DType::f64, DType::i64}) {
      for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 5}, {40, 3}, {2, 37}, {1, 1}}) {
        for (const bool inner : {true, false}) {
          System s;
          const TensorId x = input(s, "x", dtype, {m, n});
          const bool position = r == Reduction::argmax || r == Reduction::argmin;
          const TensorId y = output(s, "y", position ? DType::i64 : dtype, {inner ? m : n});
          const Binder i = s.bind("i", inner ? m : n);
          const Binder k = s.bind("k", inner ? n : m);
          const Expr read = inner ? s.at(x, {var(i), var(k)}) : s.at(x, {var(k), var(i)});
          s.define(y, {i}, reduce(r, {k}, spec::boolean(true), read));
          // Ones and minus ones keep long products exact.
          HostTensor in = dtype == DType::i64 ? HostTensor(DType::i64, {m, n}) : small_integers(dtype, {m, n}, 5);
          std::mt19937 draw(6);
          for (std::size_t e = 0; e < static_cast<std::size_t>(m * n); ++e) {
            const auto value = static_cast<std::int64_t>(draw() % 3) - 1;
            const std::int64_t unit = value == 0 ? 1 : value;
            if (dtype == DType::i64) in.view<std::int64_t>()[e] = r == Reduction::prod ? unit : value * 7;
            if (dtype == DType::f32 && r == Reduction::prod) in.view<float>()[e] = static_cast<float>(unit);
            if (dtype == DType::f64 && r == Reduction::prod) in.view<double>()[e] = static_cast<double>(unit);
          }
          check_same(s, {in});
        }
      }
    }
  }
}

TEST_CASE("any and all, with a guard", "[compiled][forms]") {
  for (const Reduction r : {Reduction::any, Reduction::all}) {
    System s;
    const TensorId x = input(s, "x", DType::boolean, {4, 35});
    const TensorId y = output(s, "y", DType::boolean, {4});
    const Binder i = s.bind("i", 4);
    const Binder k = s.bind("k", 35);
    s.define(y, {i}, reduce(r, {k}, apply(Primitive::le, {var(k), var(i) * num(11)}), s.at(x, {var(i), var(k)})));
    HostTensor in(DType::boolean, {4, 35});
    for (const std::size_t e : {0UL, 35UL + 34UL, 70UL + 22UL, 105UL + 33UL, 105UL + 34UL}) in.view<std::uint8_t>()[e] = 1;
    for (std::size_t e = 105; e < 105 + 34; ++e) in.view<std::uint8_t>()[e] = 1;
    check_same(s, {in});
  }
}

TEST_CASE("extrema over nothing give their other value", "[compiled][forms]") {
  for (const Reduction r : {Reduction::max, Reduction::min, Reduction::argmax, Reduction::argmin}) {
    System s;
    const TensorId x = input(s, "x", DType::f32, {20});
    const bool position = r == Reduction::argmax || r == Reduction::argmin;
    const TensorId y = output(s, "y", position ? DType::i64 : DType::f32, {6});
    const Binder i = s.bind("i", 6);
    const Binder k = s.bind("k", 20);
    const Expr guard = apply(Primitive::lt, {var(k), (var(i) - num(2)) * num(5)});
    const Expr other = position ? num(-1) : spec::decimal(-99);
    s.define(y, {i}, reduce(r, {k}, guard, s.at(x, {var(k)}), other));
    check_same(s, {small_integers(DType::f32, {20}, 8)});
  }
}

TEST_CASE("the first NaN is the largest and the smallest", "[compiled][forms]") {
  for (const std::int64_t n : {5, 40}) {
    for (const Reduction r : {Reduction::max, Reduction::min, Reduction::argmax, Reduction::argmin}) {
      System s;
      const TensorId x = input(s, "x", DType::f32, {n});
      const bool position = r == Reduction::argmax || r == Reduction::argmin;
      const TensorId y = output(s, "y", position ? DType::i64 : DType::f32, {});
      const Binder k = s.bind("k", n);
      s.define(y, {}, reduce(r, {k}, spec::boolean(true), s.at(x, {var(k)})));
      HostTensor in = small_integers(DType::f32, {n}, 9);
      in.view<float>()[3] = NAN;
      in.view<float>()[static_cast<std::size_t>(n) - 1] = NAN;
      const double got = at(compiled_values(s, {in})[0], 0);
      CHECK((position ? got == 3 : std::isnan(got)));
    }
  }
}

TEST_CASE("an untaken branch reads nothing and leaks nothing", "[compiled][forms]") {
  // y[i] = if 0 <= i - 2 < 3 then x[i - 2] else -1.
  for (const std::int64_t n : {3, 6, 40}) {
    System s;
    const TensorId x = input(s, "x", DType::f64, {3});
    const TensorId y = output(s, "y", DType::f64, {n});
    const Binder i = s.bind("i", n);
    const Expr e = var(i) - num(2);
    s.define(y, {i}, select(between(e, 3), s.at(x, {e}), spec::decimal(-1)));
    check_same(s, {real_tensor(DType::f64, {3}, {5, 6, 7})});
  }
  System s;
  const TensorId x = input(s, "x", DType::f32, {0});
  const TensorId y = output(s, "y", DType::f32, {9});
  const Binder i = s.bind("i", 9);
  s.define(y, {i}, select(between(var(i) + num(0) * var(i), 0), s.at(x, {var(i)}), spec::decimal(4)));
  check_same(s, {HostTensor(DType::f32, {0})});
}

TEST_CASE("gather reads with indices out of range are guarded", "[compiled][forms]") {
  for (const bool wide : {false, true}) {
    System s;
    const TensorId x = input(s, "x", DType::f32, {5, 3});
    const TensorId t = input(s, "t", wide ? DType::i64 : DType::i32, {7});
    const TensorId y = output(s, "y", DType::f32, {7, 3});
    const auto b = s.bind_all(y);
    const Expr at_t = s.at(t, {var(b[0])});
    s.define(y, b, select(between(at_t, 5), s.at(x, {at_t, var(b[1])}), spec::decimal(0)));
    const HostTensor index = wide ? HostTensor::of<std::int64_t>({7}, {0, 4, -1, 5, 2, 1LL << 40, -(1LL << 40)})
                                  : HostTensor::of<std::int32_t>({7}, {0, 4, -1, 5, 2, 1 << 30, -(1 << 30)});
    check_same(s, {small_integers(DType::f32, {5, 3}, 1), index});
  }
}

TEST_CASE("a scattered sum keeps the order of the written sum", "[compiled][forms]") {
  // x~[v, d] = sum[n where t[n] == v] g[n, d]
  for (const std::int64_t d : {1, 3, 20}) {
    System s;
    const TensorId g = input(s, "g", DType::f32, {9, d});
    const TensorId t = input(s, "t", DType::i64, {9});
    const TensorId y = output(s, "y", DType::f32, {4, d});
    const auto b = s.bind_all(y);
    const Binder n = s.bind("n", 9);
    s.define(y, b, reduce(Reduction::sum, {n}, apply(Primitive::eq, {s.at(t, {var(n)}), var(b[0])}), s.at(g, {var(n), var(b[1])})));
    check_same(s, {small_integers(DType::f32, {9, d}, 2), HostTensor::of<std::int64_t>({9}, {0, 3, 3, -1, 4, 1, 0, 0, 3})});
  }
}

TEST_CASE("a convolution with padding and stride", "[compiled][forms]") {
  for (const std::int64_t w : {5, 21}) {
    System s;
    const std::int64_t out = (w + 2 - 3) / 2 + 1;
    const TensorId x = input(s, "x", DType::f32, {2, 3, w});
    const TensorId k = input(s, "k", DType::f32, {4, 3, 3});
    const TensorId y = output(s, "y", DType::f32, {2, 4, out});
    const auto b = s.bind_all(y);
    const Binder c = s.bind("c", 3);
    const Binder u = s.bind("u", 3);
    const Expr e = var(b[2]) * num(2) + var(u) - num(1);
    const Expr padded = select(between(e, w), s.at(x, {var(b[0]), var(c), e}), spec::decimal(0));
    s.define(y, b, reduce(Reduction::sum, {c, u}, spec::boolean(true), s.at(k, {var(b[1]), var(c), var(u)}) * padded));
    check_same(s, {small_integers(DType::f32, {2, 3, w}, 1), small_integers(DType::f32, {4, 3, 3}, 2)});
  }
}

TEST_CASE("reductions inside expressions, nested and shared", "[compiled][forms]") {
  // y[i, j] = (x[i, j] - max[k] x[i, k]) · sum[k] (x[i, k] + sum[l] x[l, k])
  for (const std::int64_t n : {3, 19}) {
    System s;
    const TensorId x = input(s, "x", DType::f64, {4, n});
    const TensorId y = output(s, "y", DType::f64, {4, n});
    const auto b = s.bind_all(y);
    const Binder k = s.bind("k", n);
    const Binder q = s.bind("q", n);
    const Binder l = s.bind("l", 4);
    const Expr top = reduce(Reduction::max, {k}, spec::boolean(true), s.at(x, {var(b[0]), var(k)}));
    const Expr column = reduce(Reduction::sum, {l}, spec::boolean(true), s.at(x, {var(l), var(q)}));
    const Expr total = reduce(Reduction::sum, {q}, spec::boolean(true), s.at(x, {var(b[0]), var(q)}) + column);
    s.define(y, b, (s.at(x, {var(b[0]), var(b[1])}) - detach(top)) * total);
    check_same(s, {small_integers(DType::f64, {4, n}, 3)});
    compiled::CompileOptions plain = options();
    plain.off = {"all"};
    plain.plan.fuse = plain.plan.reuse = plain.plan.in_place = false;
    check_same(s, {small_integers(DType::f64, {4, n}, 3)}, plain);
  }
}

TEST_CASE("a reduction reached only under a condition reads nothing elsewhere", "[compiled][forms]") {
  // y[i] = if i < 3 then sum[k] x[i, k] else 7
  System s;
  const TensorId x = input(s, "x", DType::f32, {3, 21});
  const TensorId y = output(s, "y", DType::f32, {50000});
  const Binder i = s.bind("i", 50000);
  const Binder k = s.bind("k", 21);
  const Expr sum = reduce(Reduction::sum, {k}, spec::boolean(true), s.at(x, {var(i), var(k)}));
  s.define(y, {i}, select(apply(Primitive::lt, {var(i), num(3)}), sum, spec::decimal(7)));
  check_same(s, {small_integers(DType::f32, {3, 21}, 3)});
}

TEST_CASE("copies by several equations: parts, reversal, interleaving, reshape", "[compiled][forms]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    System s;
    const TensorId x = input(s, "x", dtype, {6, 5});
    const TensorId parts = output(s, "parts", dtype, {8, 5});
    const TensorId woven = output(s, "woven", dtype, {30, 2});
    const TensorId flat = output(s, "flat", dtype, {30});
    const auto whole = std::vector<Binder>{s.bind("i", 6), s.bind("j", 5)};
    s.equations.push_back({parts, whole, {var(whole[0]) + num(2), var(whole[1])},
                           s.at(x, {num(5) - var(whole[0]), num(4) - var(whole[1])}), -1});
    const auto head = std::vector<Binder>{s.bind("i", 2), s.bind("j", 5)};
    s.equations.push_back({parts, head, {var(head[0]), var(head[1])}, spec::decimal(5, -1), -1});
    for (const std::int64_t side : {0, 1}) {
      const Binder i = s.bind("i", 30);
      const Expr read = s.at(x, {apply(Primitive::floor_div, {var(i), num(5)}), apply(Primitive::modulo, {var(i), num(5)})});
      s.equations.push_back({woven, {i}, {var(i), num(side)}, side == 0 ? read : -read, -1});
    }
    const Binder f = s.bind("f", 30);
    s.define(flat, {f}, s.at(x, {apply(Primitive::floor_div, {var(f), num(5)}), apply(Primitive::modulo, {var(f), num(5)})}));
    check_same(s, {small_integers(dtype, {6, 5}, 3)});
  }
}

TEST_CASE("empty tensors", "[compiled][forms]") {
  System s;
  const TensorId x = input(s, "x", DType::f32, {0, 3});
  const TensorId y = output(s, "y", DType::f32, {3});
  const TensorId z = output(s, "z", DType::f32, {0, 3});
  const Binder j = s.bind("j", 3);
  const Binder k = s.bind("k", 0);
  s.define(y, {j}, reduce(Reduction::sum, {k}, spec::boolean(true), s.at(x, {var(k), var(j)})));
  const auto b = s.bind_all(z);
  s.define(z, b, s.at(x, variables(b)) + spec::decimal(1));
  check_same(s, {HostTensor(DType::f32, {0, 3})});
}

TEST_CASE("values and indices as numbers, truth values as numbers", "[compiled][forms]") {
  System s;
  const TensorId t = input(s, "t", DType::i32, {});
  const TensorId y = output(s, "y", DType::f32, {20});
  const TensorId z = output(s, "z", DType::i32, {20});
  const Binder i = s.bind("i", 20);
  s.define(y, {i}, as_real(var(i)) * spec::decimal(25, -2) +
                       as_real(apply(Primitive::lt, {var(i), s.at(t, {})})) * as_real(s.at(t, {})));
  const Binder j = s.bind("j", 20);
  s.define(z, {j}, s.at(t, {}) * s.at(t, {}) * s.at(t, {}) + apply(Primitive::to_integer, {apply(Primitive::gt, {var(j), num(4)})}));
  check_same(s, {HostTensor::of<std::int32_t>({}, {7})});
  check_same(s, {HostTensor::of<std::int32_t>({}, {2000000000})});
}

namespace {

/// h[s, k] = x[s, k] + sum[j] w[k, j] · before(j) - g[s, k] with g[s, k] = v[k] · before(k), where before is h at the
/// step before (after, when backwards) and 1 at the first: two tensors that depend on each other.
System network(DType dtype, std::int64_t steps, std::int64_t size, bool backwards) {
  System s;
  const TensorId x = input(s, "x", dtype, {steps, size});
  const TensorId w = input(s, "w", dtype, {size, size});
  const TensorId v = input(s, "v", dtype, {size});
  const TensorId g = s.add_tensor("g", dtype, {steps, size});
  const TensorId h = output(s, "h", dtype, {steps, size});
  const auto before = [&](const Expr& step, const Expr& k) {
    const Expr at = backwards ? step + num(1) : step - num(1);
    return select(between(at, steps), s.at(h, {at, k}), spec::decimal(1));
  };
  const auto i = s.bind_all(g);
  s.define(g, i, s.at(v, {var(i[1])}) * before(var(i[0]), var(i[1])));
  const auto k = s.bind_all(h);
  const Binder j = s.bind("j", size);
  const Expr sum = reduce(Reduction::sum, {j}, spec::boolean(true), s.at(w, {var(k[1]), var(j)}) * before(var(k[0]), var(j)));
  s.define(h, k, s.at(x, {var(k[0]), var(k[1])}) + sum - s.at(g, {var(k[0]), var(k[1])}));
  return s;
}

}  // namespace

TEST_CASE("recurrences run their steps in order, with all that belongs to a step", "[compiled][forms]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const auto& [steps, size] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 3}, {3, 2}, {2, 17}, {4, 1}}) {
      for (const bool backwards : {false, true}) {
        const System s = network(dtype, steps, size, backwards);
        const std::vector<HostTensor> inputs{small_integers(dtype, {steps, size}, 7), small_integers(dtype, {size, size}, 8),
                                             small_integers(dtype, {size}, 9)};
        check_same(s, inputs);
        std::vector<HostTensor> more = inputs;
        more.push_back(small_integers(dtype, {steps, size}, 10));
        check_same(spec::vjp(s, std::vector<std::size_t>{0, 1, 2}), more);
        check_same(spec::jvp(s, std::vector<std::size_t>{0}), more);
      }
    }
  }
}
