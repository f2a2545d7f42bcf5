#include "reference/evaluate.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "reference/number.hpp"
#include "spec/error.hpp"

namespace {

using namespace etalon;
using namespace etalon::spec;
using reference::Array;
using reference::Dual;
using reference::Rational;
using reference::Real50;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan_value = std::numeric_limits<double>::quiet_NaN();
const Expr no_guard = boolean(true);

/// A system with one real input vector `x` and one output of the given shape, to be defined by the test.
struct Unary {
  System s;
  TensorId x;
  TensorId y;
  Unary(std::int64_t n, const Dims& out, DType out_type = DType::f64) {
    x = s.add_tensor("x", DType::f64, {n});
    y = s.add_tensor("y", out_type, out);
    s.inputs = {x};
    s.outputs = {y};
  }
  template <class T>
  Array<T> run(const std::vector<T>& values) const {
    const std::vector<Array<T>> in{Array<T>::of_reals({static_cast<std::int64_t>(values.size())}, values)};
    return reference::evaluate<T>(s, in).at(0);
  }
};

/// y[i] = f(x[i]) over vectors.
template <class F>
std::vector<double> map(const std::vector<double>& values, F f) {
  const auto n = static_cast<std::int64_t>(values.size());
  Unary u(n, {n});
  const std::vector<Binder> i = u.s.bind_all(u.y);
  u.s.define(u.y, i, f(u.s.at(u.x, variables(i))));
  return u.run<double>(values).real;
}

}  // namespace

TEST_CASE("a matrix product is exact over the rationals", "[evaluate]") {
  System s;
  const TensorId a = s.add_tensor("a", DType::f64, {2, 3});
  const TensorId b = s.add_tensor("b", DType::f64, {3, 2});
  const TensorId y = s.add_tensor("y", DType::f64, {2, 2});
  s.inputs = {a, b};
  s.outputs = {y};
  const std::vector<Binder> i = s.bind_all(y);
  const Binder k = s.bind("k", 3);
  s.define(y, i, reduce(Reduction::sum, {k}, no_guard,
                        s.at(a, {variable(i[0]), variable(k)}) * s.at(b, {variable(k), variable(i[1])})));
  const Rational third(1, 3);
  const std::vector<Array<Rational>> in{
      Array<Rational>::of_reals({2, 3}, {1, 2, 3, third, 0, -1}),
      Array<Rational>::of_reals({3, 2}, {1, -1, third, 2, 5, third}),
  };
  const auto out = reference::evaluate<Rational>(s, in).at(0).real;
  REQUIRE(out == std::vector<Rational>{1 + Rational(2, 3) + 15, -1 + 4 + 1, third - 5, -third - third});
}

TEST_CASE("the untaken branch of if is not evaluated", "[evaluate]") {
  // Rational log(0) would throw; the guard keeps it from being reached.
  Unary u(2, {2});
  const std::vector<Binder> i = u.s.bind_all(u.y);
  const Expr x = u.s.at(u.x, variables(i));
  u.s.define(u.y, i, select(apply(Primitive::eq, {x, decimal(1)}), apply(Primitive::log, {x}), decimal(7)));
  REQUIRE(u.run<Rational>({1, 0}).real == std::vector<Rational>{0, 7});
}

TEST_CASE("a guard keeps the reads behind it in range", "[evaluate]") {
  // y[i] = sum[k where 0 <= i + k - 1 and i + k - 1 < 3] x[i + k - 1], k < 3: a window of three with a padded border
  Unary u(3, {3});
  const std::vector<Binder> i = u.s.bind_all(u.y);
  const Binder k = u.s.bind("k", 3);
  const Expr p = variable(i[0]) + variable(k) - integer(1);
  const Expr inside = apply(Primitive::le, {integer(0), p}) && apply(Primitive::lt, {p, integer(3)});
  u.s.define(u.y, i, reduce(Reduction::sum, {k}, inside, u.s.at(u.x, {p})));
  REQUIRE(u.run<double>({1, 10, 100}).real == std::vector<double>{11, 111, 110});
}

TEST_CASE("a read out of range is refused, not executed", "[evaluate]") {
  Unary u(3, {3});
  const std::vector<Binder> i = u.s.bind_all(u.y);
  u.s.define(u.y, i, u.s.at(u.x, {variable(i[0]) + integer(1)}));
  REQUIRE_THROWS_AS(u.run<double>({1, 2, 3}), InternalError);
}

TEST_CASE("empty reductions have their neutral elements, extrema need a value", "[evaluate]") {
  const auto over_nothing = [](Reduction r, Expr body, Expr otherwise) {
    Unary u(1, {});
    const Binder k = u.s.bind("k", 0);
    u.s.define(u.y, {}, reduce(r, {k}, no_guard, std::move(body), std::move(otherwise)));
    return u.run<double>({5}).real.at(0);
  };
  REQUIRE(over_nothing(Reduction::sum, decimal(3), {}) == 0);
  REQUIRE(over_nothing(Reduction::prod, decimal(3), {}) == 1);
  REQUIRE(over_nothing(Reduction::max, decimal(3), decimal(-2)) == -2);
  REQUIRE_THROWS_AS(over_nothing(Reduction::max, decimal(3), {}), SpecViolation);
}

TEST_CASE("around a loop over nothing no other one runs, however long", "[evaluate]") {
  constexpr std::int64_t many = std::int64_t{1} << 50;
  Unary u(1, {many, 0});
  const std::vector<Binder> i = u.s.bind_all(u.y);
  u.s.define(u.y, i, u.s.at(u.x, {integer(0)}));
  const Array<double> none = u.run<double>({5});
  REQUIRE(none.dims == Dims{many, 0});
  REQUIRE(none.real.empty());

  Unary sum(1, {});
  const Binder outer = sum.s.bind("k", many), inner = sum.s.bind("j", 0);
  sum.s.define(sum.y, {}, reduce(Reduction::sum, {outer, inner}, no_guard, decimal(3)));
  REQUIRE(sum.run<double>({5}).real == std::vector<double>{0});
}

TEST_CASE("argmax takes the first of equals and the first NaN", "[evaluate]") {
  const auto argmax = [](const std::vector<double>& values) {
    const auto n = static_cast<std::int64_t>(values.size());
    Unary u(n, {}, DType::i64);
    const Binder k = u.s.bind("k", n);
    u.s.define(u.y, {}, reduce(Reduction::argmax, {k}, no_guard, u.s.at(u.x, {variable(k)})));
    return u.run<double>(values).integer.at(0);
  };
  REQUIRE(argmax({1, 4, 4, 2}) == 1);
  REQUIRE(argmax({1, nan_value, 9, nan_value}) == 1);
  REQUIRE(argmax({-inf, -inf}) == 0);
}

TEST_CASE("special values behave as in IEEE 754", "[evaluate]") {
  const auto twice = map({inf, -inf, nan_value, 1}, [](const Expr& x) { return x * decimal(0); });
  REQUIRE(std::isnan(twice[0]));
  REQUIRE(std::isnan(twice[1]));
  REQUIRE(std::isnan(twice[2]));
  REQUIRE(twice[3] == 0);
  const auto larger =
      map({nan_value, -1, 1}, [](const Expr& x) { return apply(Primitive::maximum, {x, decimal(0)}); });
  REQUIRE(std::isnan(larger[0]));
  REQUIRE(larger[1] == 0);
  REQUIRE(larger[2] == 1);
  const auto other = map({1}, [](const Expr& x) {
    return apply(Primitive::maximum, {x, binary64(std::numeric_limits<double>::quiet_NaN())});
  });
  REQUIRE(std::isnan(other[0]));
  for (const Primitive p : {Primitive::eq, Primitive::lt, Primitive::le, Primitive::gt, Primitive::ge}) {
    REQUIRE(map({nan_value}, [&](const Expr& x) { return select(apply(p, {x, x}), decimal(1), decimal(2)); })[0] == 2);
  }
  REQUIRE(map({nan_value}, [](const Expr& x) {
            return select(apply(Primitive::ne, {x, x}), decimal(1), decimal(2));
          })[0] == 1);
}

TEST_CASE("wide numbers compare NaN as IEEE does", "[evaluate]") {
  Unary u(1, {1});
  const std::vector<Binder> i = u.s.bind_all(u.y);
  const Expr x = u.s.at(u.x, variables(i));
  Expr count = decimal(0);
  for (const Primitive p : {Primitive::eq, Primitive::lt, Primitive::le, Primitive::gt, Primitive::ge}) {
    count = count + select(apply(p, {x, decimal(1)}), decimal(1), decimal(0));
    count = count + select(apply(p, {x, x}), decimal(1), decimal(0));
  }
  u.s.define(u.y, i, count);
  REQUIRE(u.run<Real50>({std::numeric_limits<Real50>::quiet_NaN()}).real.at(0) == 0);
  REQUIRE(u.run<Real50>({Real50(2)}).real.at(0) == 3 + 2);  // ==, <=, >= of itself; > and >= of one
}

TEST_CASE("integers of i32 tensors wrap and floor division rounds down", "[evaluate]") {
  System s;
  const TensorId x = s.add_tensor("x", DType::i32, {4});
  const TensorId wrapped = s.add_tensor("wrapped", DType::i32, {4});
  const TensorId quotient = s.add_tensor("quotient", DType::i64, {4});
  const TensorId rest = s.add_tensor("rest", DType::i64, {4});
  s.inputs = {x};
  s.outputs = {wrapped, quotient, rest};
  const auto define = [&](TensorId t, Primitive p, std::int64_t by) {
    const std::vector<Binder> i = s.bind_all(t);
    s.define(t, i, apply(p, {s.at(x, variables(i)), integer(by)}));
  };
  define(wrapped, Primitive::mul, 3);
  define(quotient, Primitive::floor_div, -2);
  define(rest, Primitive::modulo, -2);
  const std::vector<Array<double>> in{Array<double>::of_integers({4}, {1500000000, 7, -7, 0})};
  const auto out = reference::evaluate<double>(s, in);
  REQUIRE(out[0].integer == std::vector<std::int64_t>{205032704, 21, -21, 0});  // 4500000000 - 2^32
  REQUIRE(out[1].integer == std::vector<std::int64_t>{-750000000, -4, 3, 0});
  REQUIRE(out[2].integer == std::vector<std::int64_t>{0, -1, -1, 0});
}

TEST_CASE("a recurrence runs along or against its axis", "[evaluate]") {
  for (const bool forwards : {true, false}) {
    Unary u(4, {4});
    const std::vector<Binder> i = u.s.bind_all(u.y);
    const Expr at = variable(i[0]);
    const Expr previous = forwards ? at - integer(1) : at + integer(1);
    const Expr inside = apply(Primitive::le, {integer(0), previous}) && apply(Primitive::lt, {previous, integer(4)});
    u.s.define(u.y, i, select(inside, u.s.at(u.y, {previous}), decimal(0)) + u.s.at(u.x, {at}));
    const std::vector<double> expected = forwards ? std::vector<double>{1, 3, 7, 15} : std::vector<double>{15, 14, 12, 8};
    REQUIRE(u.run<double>({1, 2, 4, 8}).real == expected);
  }
}

TEST_CASE("several equations write the places of one result", "[evaluate]") {
  Unary u(2, {4});
  for (int part = 0; part < 2; ++part) {
    const Binder i = u.s.bind("i", 2);
    const Expr place = integer(2) * variable(i) + integer(part);
    u.s.equations.push_back({u.y, {i}, {place}, u.s.at(u.x, {variable(i)}) * decimal(part == 0 ? 1 : -1), -1});
  }
  REQUIRE(u.run<double>({3, 5}).real == std::vector<double>{3, -3, 5, -5});
}

TEST_CASE("decimals are exact and binary constants are the float64 they name", "[evaluate]") {
  Unary u(1, {2});
  const Binder none = u.s.bind("i", 1);
  u.s.equations.push_back({u.y, {none}, {variable(none)}, decimal(999, -3), -1});
  const Binder other = u.s.bind("j", 1);
  u.s.equations.push_back({u.y, {other}, {variable(other) + integer(1)}, binary64(0.999), -1});
  const auto out = u.run<Rational>({0}).real;
  REQUIRE(out[0] == Rational(999, 1000));
  // 0.999 is 8998192055486251 / 2^53 in binary64.
  REQUIRE(out[1] == Rational(8998192055486251LL, 9007199254740992LL));
}

TEST_CASE("an input of the wrong shape, kind or range is refused", "[evaluate]") {
  Unary u(3, {3});
  const std::vector<Binder> i = u.s.bind_all(u.y);
  u.s.define(u.y, i, u.s.at(u.x, variables(i)));
  REQUIRE_THROWS_AS(u.run<double>({1, 2}), SpecViolation);
  const std::vector<Array<double>> integers{Array<double>::of_integers({3}, {1, 2, 3})};
  REQUIRE_THROWS_AS(reference::evaluate<double>(u.s, integers), SpecViolation);
  System s;
  const TensorId n = s.add_tensor("n", DType::i64, {});
  s.tensors[0].range = {0, 79};
  s.inputs = {n};
  s.outputs = {n};
  const std::vector<Array<double>> high{Array<double>::of_integers({}, {80})};
  REQUIRE_THROWS_WITH(reference::evaluate<double>(s, high), "evaluate: n is 80, promised in 0..79");
}
