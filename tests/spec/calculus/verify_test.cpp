#include <catch2/catch.hpp>

#include "spec/error.hpp"
#include "tests/spec/calculus/systems.hpp"

using namespace etalon;
using namespace etalon::spec;
using namespace etalon::test;
using P = Primitive;

namespace {

Expr call(P p, std::vector<Expr> args) { return apply(p, std::move(args)); }

/// y[i < n] = value(x, i) with x of 5 elements.
struct Small {
  System s;
  TensorId x = -1, t = -1, y = -1;
  Binder i;

  explicit Small(std::int64_t n = 5) {
    x = s.add_tensor("x", DType::f32, {5});
    t = s.add_tensor("t", DType::i64, {5});
    y = s.add_tensor("y", DType::f32, {n});
    s.inputs = {x, t};
    s.outputs = {y};
    i = s.bind("i", n);
  }
  Expr v() const { return variable(i); }
  System is(const Expr& value) const {
    System whole = s;
    whole.equations.push_back({y, {i}, {v()}, value});
    return whole;
  }
};

Expr inside(const Expr& e, std::int64_t n) { return call(P::le, {integer(0), e}) && call(P::lt, {e, integer(n)}); }

}  // namespace

TEST_CASE("every example verifies", "[calculus][verify]") {
  for (const Example& e : examples()) {
    CAPTURE(e.name);
    CHECK_NOTHROW(verify(e.system));
  }
}

TEST_CASE("a read must be in range wherever it is reached", "[calculus][verify]") {
  const Small a;
  CHECK_NOTHROW(verify(a.is(a.s.at(a.x, {a.v()}))));
  CHECK_THROWS_WITH(verify(a.is(a.s.at(a.x, {a.v() + integer(1)}))),
                    Catch::Contains("index 0 of x is 5, wanted 0..4"));
  const Expr next = a.v() + integer(1);
  CHECK_NOTHROW(verify(a.is(select(call(P::lt, {next, integer(5)}), a.s.at(a.x, {next}), decimal(0)))));
  CHECK_THROWS_AS(verify(a.is(select(call(P::lt, {next, integer(6)}), a.s.at(a.x, {next}), decimal(0)))), SpecViolation);
  CHECK_NOTHROW(verify(a.is(select(call(P::ge, {next, integer(5)}), decimal(0), a.s.at(a.x, {next})))));
}

TEST_CASE("a read at data needs a guard on that data", "[calculus][verify]") {
  const Small a;
  const Expr k = a.s.at(a.t, {a.v()});
  CHECK_THROWS_WITH(verify(a.is(a.s.at(a.x, {k}))), Catch::Contains("index 0 of x is in -inf..inf"));
  CHECK_NOTHROW(verify(a.is(select(inside(k, 5), a.s.at(a.x, {k}), decimal(0)))));
  CHECK_THROWS_AS(verify(a.is(select(inside(k, 6), a.s.at(a.x, {k}), decimal(0)))), SpecViolation);
  System promised = a.is(a.s.at(a.x, {k}));
  promised.tensors[static_cast<std::size_t>(a.t)].range = {0, 4};
  CHECK_NOTHROW(verify(promised));
  promised.tensors[static_cast<std::size_t>(a.t)].range = {0, 5};
  CHECK_THROWS_AS(verify(promised), SpecViolation);
}

TEST_CASE("a read under conditions that contradict each other is never reached", "[calculus][verify]") {
  System s;
  const TensorId x = s.add_tensor("x", DType::f64, {0});
  const TensorId y = s.add_tensor("y", DType::f64, {2});
  s.inputs = {x};
  s.outputs = {y};
  const Binder i = s.bind("i", 2);
  const Expr at = variable(i) - integer(1);
  const auto below = [&](std::int64_t n) { return call(P::le, {integer(0), at}) && call(P::lt, {at, integer(n)}); };
  s.define(y, {i}, select(below(0), s.at(x, {at}), decimal(0)));
  CHECK_NOTHROW(verify(s));
  s.equations[0].value = select(below(1), s.at(x, {at}), decimal(0));
  CHECK_THROWS_AS(verify(s), SpecViolation);
}

TEST_CASE("each element is written exactly once", "[calculus][verify]") {
  System s;
  const TensorId x = s.add_tensor("x", DType::f32, {6});
  const TensorId y = s.add_tensor("y", DType::f32, {6});
  s.inputs = {x};
  s.outputs = {y};
  const auto write = [&](System& to, std::int64_t n, std::int64_t step, std::int64_t first) {
    const Binder i = to.bind("i", n);
    to.equations.push_back({y, {i}, {variable(i) * integer(step) + integer(first)}, to.at(x, {variable(i)})});
  };
  System good = s;
  write(good, 3, 2, 0);
  write(good, 3, 2, 1);
  CHECK_NOTHROW(verify(good));
  System gap = s;
  write(gap, 3, 2, 0);
  write(gap, 2, 2, 1);
  CHECK_THROWS_WITH(verify(gap), Catch::Contains("y: an element is never written"));
  System twice = s;
  write(twice, 3, 2, 0);
  write(twice, 4, 1, 2);
  CHECK_THROWS_WITH(verify(twice), Catch::Contains("written twice"));
  System beyond = s;
  write(beyond, 6, 1, 1);
  CHECK_THROWS_WITH(verify(beyond), Catch::Contains("outside"));
  System reversed = s;
  write(reversed, 6, -1, 5);
  CHECK_NOTHROW(verify(reversed));
  System mixed = s;
  const Binder a = mixed.bind("a", 2), b = mixed.bind("b", 3);
  mixed.equations.push_back({y, {a, b}, {variable(a) * integer(3) + variable(b)}, mixed.at(x, {variable(b)})});
  CHECK_NOTHROW(verify(mixed));
  System same = s;
  const Binder c = same.bind("c", 6), d = same.bind("d", 2);
  same.equations.push_back({y, {c, d}, {variable(c)}, same.at(x, {variable(c)})});
  CHECK_THROWS_AS(verify(same), SpecViolation);
  CHECK_THROWS_WITH(verify(s), Catch::Contains("the output is neither an input nor written"));
}

TEST_CASE("big tensors are checked by axes, and transposed axes by enumeration", "[calculus][verify]") {
  System s;
  const TensorId x = s.add_tensor("x", DType::f32, {4000, 5000});
  const TensorId y = s.add_tensor("y", DType::f32, {5000, 4000});
  s.inputs = {x};
  s.outputs = {y};
  s.define(y, s.bind_all(y), decimal(1));
  CHECK_NOTHROW(verify(s));
  System diagonal;
  const TensorId z = diagonal.add_tensor("z", DType::f32, {3, 3});
  diagonal.outputs = {z};
  const Binder i = diagonal.bind("i", 3), j = diagonal.bind("j", 3);
  const Expr around = call(P::modulo, {variable(i) + variable(j), integer(3)});
  diagonal.equations.push_back({z, {i, j}, {variable(i), around}, decimal(1)});
  CHECK_NOTHROW(verify(diagonal));
}

TEST_CASE("an extremum of nothing needs an else", "[calculus][verify]") {
  const Small a;
  System s = a.is(decimal(0));
  const auto largest = [&](const Expr& guard, std::int64_t n, bool otherwise) {
    System whole = a.s;
    const Binder k = whole.bind("k", n);
    const Expr body = select(call(P::lt, {variable(k), integer(5)}), whole.at(a.x, {variable(k)}), decimal(0));
    const Expr g = guard.valid() ? guard : call(P::le, {variable(k), a.v()});
    whole.equations.push_back(
        {a.y, {a.i}, {a.v()}, reduce(Reduction::max, {k}, g, body, otherwise ? decimal(-1) : Expr{})});
    return whole;
  };
  CHECK_NOTHROW(verify(largest(boolean(true), 5, false)));
  CHECK_NOTHROW(verify(largest({}, 5, false)));  // k = 0 always satisfies k <= i
  CHECK_THROWS_WITH(verify(largest(boolean(true), 0, false)), Catch::Contains("max may be over nothing and has no else"));
  CHECK_THROWS_AS(verify(largest(call(P::lt, {a.v(), integer(3)}), 5, false)), SpecViolation);
  CHECK_NOTHROW(verify(largest(call(P::lt, {a.v(), integer(3)}), 5, true)));
}

TEST_CASE("order, kinds, ranks and scopes are checked", "[calculus][verify]") {
  const Small a;
  System early = a.is(a.s.at(a.y, {a.v()}));
  CHECK_THROWS_WITH(verify(early), Catch::Contains("y: no axis along which every read of itself"));
  CHECK_THROWS_WITH(verify(a.is(a.v())), Catch::Contains("not of the target's kind"));
  CHECK_THROWS_WITH(verify(a.is(as_real(variable(Binder{77, 3, "q"})))), Catch::Contains("index variable q is not bound"));
  CHECK_THROWS_WITH(verify(a.is(read(a.x, Kind::real, {}))), Catch::Contains("wrong rank"));
  CHECK_THROWS_WITH(verify(a.is(as_real(read(a.x, Kind::integer, {a.v()})))), Catch::Contains("not of the tensor's kind"));
  System written = a.is(decimal(0));
  written.inputs.push_back(a.y);
  CHECK_THROWS_WITH(verify(written), Catch::Contains("an input is written"));
  System at_data = a.s;
  at_data.equations.push_back({a.y, {a.i}, {a.s.at(a.t, {a.v()})}, decimal(0)});
  CHECK_THROWS_WITH(verify(at_data), Catch::Contains("a place depends on data"));
}

TEST_CASE("empty tensors verify", "[calculus][verify]") {
  const Small a(0);
  CHECK_NOTHROW(verify(a.is(a.s.at(a.x, {a.v() + integer(9)}))));
}

TEST_CASE("a recurrence reads strictly earlier or strictly later steps", "[calculus][verify]") {
  const Small a;
  const auto previous = [&](const Expr& e, const Expr& when) { return select(when, a.s.at(a.y, {e}), decimal(0)); };
  const Expr i = a.v();
  CHECK_NOTHROW(verify(a.is(previous(i - integer(1), call(P::ge, {i, integer(1)})))));
  CHECK_NOTHROW(verify(a.is(previous(i + integer(1), call(P::lt, {i, integer(4)})))));
  CHECK_NOTHROW(verify(a.is(previous(call(P::floor_div, {i, integer(2)}), call(P::ge, {i, integer(1)})))));
  CHECK_THROWS_WITH(verify(a.is(a.s.at(a.y, {i}))), Catch::Contains("no axis along which every read of itself is proved"));
  const Expr both = previous(i - integer(1), call(P::ge, {i, integer(1)})) + previous(i + integer(1), call(P::lt, {i, integer(4)}));
  CHECK_THROWS_WITH(verify(a.is(both)), Catch::Contains("no axis along which"));
  const Expr at = a.s.at(a.t, {i});
  const Expr data = previous(at, inside(at, 5));
  CHECK_THROWS_WITH(verify(a.is(data)), Catch::Contains("no axis along which"));
  CHECK_NOTHROW(verify(a.is(previous(at, call(P::le, {integer(0), at}) && call(P::lt, {at, i})))));
}

TEST_CASE("tensors that depend on each other need one order of steps, and equations that stand together", "[calculus][verify]") {
  System s = example("recurrent network");
  CHECK_NOTHROW(verify(s));
  std::swap(s.equations[0], s.equations[1]);  // h reads a at its own step
  CHECK_THROWS_WITH(verify(s), Catch::Contains("depend on each other"));
  System t = example("recurrent network");
  const Equation last = t.equations.back();
  t.equations.pop_back();
  t.equations.insert(t.equations.begin() + 1, last);
  CHECK_THROWS_AS(verify(t), SpecViolation);
}
