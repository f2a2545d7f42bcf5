#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <random>

#include "reference/evaluate.hpp"
#include "spec/system/loop_rules.hpp"
#include "spec/system/simplify.hpp"
#include "tests/spec/calculus/systems.hpp"

using namespace etalon;
using namespace etalon::spec;
using namespace etalon::test;
using P = Primitive;
using Array = reference::Array<double>;

namespace {

constexpr std::int64_t table_size = 97;

Expr call(P p, std::vector<Expr> args) { return apply(p, std::move(args)); }

/// y[o, u] = reduction[k, l where guard] table[a position that tells all index values apart], over integers held as
/// doubles, so that every order of summation gives the same number.
struct Probe {
  System s;
  TensorId table = -1, positions = -1, y = -1;
  std::vector<Binder> outer, inner;

  Probe(std::int64_t k, std::int64_t l, std::int64_t o, std::int64_t u) {
    table = s.add_tensor("table", DType::f64, {table_size});
    positions = s.add_tensor("positions", DType::i64, {4});
    s.inputs = {table, positions};
    y = s.add_tensor("y", DType::f64, {o, u});
    s.outputs = {y};
    outer = {s.bind("o", o), s.bind("u", u)};
    inner = {s.bind("k", k), s.bind("l", l)};
  }

  Expr body() {
    const auto at = [](const Binder& b, std::int64_t by) { return integer(by) * variable(b); };
    const Expr where = at(inner[0], 1) + at(inner[1], 13) + at(outer[0], 29) + at(outer[1], 53);
    return s.at(table, {call(P::modulo, {where, integer(table_size)})});
  }

  System with(const Expr& value) const {
    System whole = s;
    whole.equations.push_back({y, outer, variables(outer), value});
    return whole;
  }
};

std::vector<double> evaluated(const System& s) {
  Array table(Kind::real, {table_size});
  for (std::size_t i = 0; i < table.real.size(); ++i) table.real[i] = static_cast<double>((i * i * 31 + 7 * i) % 1009);
  const std::vector<Array> inputs{table, Array::of_integers({4}, {2, 0, -1, 2})};
  return reference::evaluate<double>(s, std::span<const Array>(inputs)).front().real;
}

/// a*k + b*l + c*o + d*u + e
Expr combination(const Probe& p, const std::array<std::int64_t, 5>& by) {
  const auto times = [](std::int64_t a, const Binder& b) { return integer(a) * variable(b); };
  return times(by[0], p.inner[0]) + times(by[1], p.inner[1]) + times(by[2], p.outer[0]) + times(by[3], p.outer[1]) +
         integer(by[4]);
}

Expr guard_of(const std::vector<Expr>& parts) {
  Expr all;
  for (const Expr& g : parts) all = all.valid() ? all && g : g;
  return all.valid() ? all : boolean(true);
}

/// Applies one rule once to `sum[k, l where guard] body`; counts where it applied and compares the values.
struct RuleCheck {
  std::string_view name;
  int fired = 0;
  int tried = 0;

  void operator()(Probe p, const Expr& guard) {
    ++tried;
    Ranges known;
    known.bind(p.outer);
    known.bind(p.inner);
    known.assume(guard);
    Loop loop{p.inner, conjuncts(guard), p.body()};
    const System before = p.with(reduce(Reduction::sum, p.inner, guard, loop.body));
    for (const LoopRule& rule : loop_rules()) {
      if (rule.name != name || !rule.apply(p.s, loop, known)) continue;
      ++fired;
      System after = p.with(reduce(Reduction::sum, loop.binders, guard_of(loop.guards), loop.body));
      after.next_variable = p.s.next_variable;
      CAPTURE(name, to_text(before), to_text(after));
      REQUIRE(evaluated(after) == evaluated(before));
    }
  }
};

/// Every small comparison of `a*k + b*l + c*o + d*u + e`, its quotient or its remainder.
void for_each_guard(const std::function<void(const Probe&, const Expr&)>& visit) {
  const Probe p(5, 3, 4, 3);
  for (const std::int64_t a : {-3, -2, -1, 1, 2, 4}) {
    for (const std::int64_t b : {0, 1, -2}) {
      for (const std::int64_t c : {0, 1, -2}) {
        for (const std::int64_t e : {-3, 0, 1}) {
          const Expr form = combination(p, {a, b, c, 0, e});
          visit(p, call(P::eq, {form, integer(0)}));
          visit(p, call(P::le, {integer(0), form}) && call(P::le, {form, integer(2)}));
          for (const std::int64_t m : {2, 3, 6}) {
            visit(p, call(P::eq, {call(P::floor_div, {form, integer(m)}), variable(p.outer[1])}));
            visit(p, call(P::eq, {call(P::modulo, {form, integer(m)}), integer(1)}));
            visit(p, call(P::le, {call(P::floor_div, {form, integer(m)}), integer(0)}) &&
                         call(P::le, {integer(-1), form}));
          }
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("each rule of the solver keeps the values, by enumeration", "[calculus][rules]") {
  for (const LoopRule& rule : loop_rules()) {
    if (rule.name == "substitute_single" || rule.name == "substitute_gathered") continue;
    RuleCheck check{rule.name};
    for_each_guard([&](const Probe& p, const Expr& guard) { check(p, guard); });
    CAPTURE(rule.name, check.tried, check.fired);
    CHECK(check.fired >= 20);
  }
}

TEST_CASE("substitute_single and substitute_gathered keep the values", "[calculus][rules]") {
  RuleCheck single{"substitute_single"};
  single(Probe(1, 3, 2, 2), boolean(true));
  single(Probe(4, 1, 2, 2), boolean(true));
  CHECK(single.fired == 2);
  RuleCheck gathered{"substitute_gathered"};
  for (const std::int64_t extent : {2, 3, 5}) {
    const Probe p(extent, 3, 4, 2);
    const Expr at = p.s.at(p.positions, {variable(p.outer[0])});
    gathered(p, call(P::eq, {at, variable(p.inner[0])}));
    gathered(p, call(P::le, {integer(0), at}) && call(P::eq, {variable(p.inner[0]) + integer(1), at}));
  }
  CHECK(gathered.fired == 6);
}

TEST_CASE("solving a reduction of any kind keeps its values", "[calculus][rules]") {
  int compared = 0;
  for_each_guard([&](const Probe& p, const Expr& guard) {
    if (++compared % 7 != 0) return;
    Probe q = p;
    const Expr body = q.body();
    std::vector<Expr> values{
        reduce(Reduction::sum, q.inner, guard, body),
        reduce(Reduction::max, q.inner, guard, body, decimal(-5)),
        reduce(Reduction::prod, q.inner, guard, call(P::minimum, {body, decimal(3)})),
        as_real(reduce(Reduction::argmin, q.inner, guard, body, integer(-1))),
        select(reduce(Reduction::any, q.inner, guard, call(P::gt, {body, decimal(900)})), decimal(1), decimal(0)),
        select(reduce(Reduction::all, q.inner, guard, call(P::gt, {body, decimal(200)})), decimal(1), decimal(0)),
    };
    for (const Expr& value : values) {
      const System before = q.with(value);
      System after = before;
      solve_guards(after);
      CAPTURE(to_text(before), to_text(after));
      REQUIRE_NOTHROW(verify(after));
      REQUIRE(evaluated(after) == evaluated(before));
    }
  });
  CHECK(compared > 500);
}

namespace {

/// A random conjunction of one to three index guards, with quotients, remainders and reads.
Expr random_guard(const Probe& p, std::mt19937& engine) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
  };
  const auto form = [&] { return combination(p, {pick(-4, 4), pick(-3, 3), pick(-2, 2), pick(-2, 2), pick(-6, 6)}); };
  const auto one = [&]() -> Expr {
    Expr left = form();
    switch (pick(0, 5)) {
      case 0: left = call(P::floor_div, {left, integer(pick(1, 5))}); break;
      case 1: left = call(P::modulo, {left, integer(pick(1, 5))}); break;
      case 2: left = call(P::floor_div, {left, integer(2)}) + call(P::modulo, {form(), integer(3)}); break;
      default: break;
    }
    Expr right = pick(0, 2) == 0 ? integer(pick(-2, 3)) : integer(pick(1, 2)) * variable(p.outer[0]);
    if (pick(0, 7) == 0) right = p.s.at(p.positions, {variable(p.outer[0])});
    constexpr P relations[] = {P::eq, P::eq, P::eq, P::le, P::lt, P::ge, P::gt, P::ne};
    return call(relations[pick(0, 7)], {left, right});
  };
  Expr guard = one();
  for (std::int64_t n = pick(0, 2); n > 0; --n) guard = guard && one();
  return guard;
}

}  // namespace

TEST_CASE("a remainder of a sum that may leave 64 bits stays one remainder", "[calculus][rules]") {
  Probe p(3, 5, 1, 1);
  const Expr at = p.s.at(p.positions, {variable(p.outer[0])});
  const Expr guard = call(P::eq, {combination(p, {1, 3, 0, -2, 2}), at});
  const System before = p.with(reduce(Reduction::sum, p.inner, guard, p.body()));
  System after = before;
  solve_guards(after);
  CAPTURE(to_text(before), to_text(after));
  REQUIRE_NOTHROW(verify(after));
  CHECK(evaluated(after) == evaluated(before));
}

TEST_CASE("solving random guards keeps the values", "[calculus][rules]") {
  const bool holds = rc::check("literal evaluation before and after", [] {
    const auto seed = *rc::gen::arbitrary<unsigned>();
    std::mt19937 engine(seed);
    const auto extent = [&](int high) { return std::uniform_int_distribution<std::int64_t>(1, high)(engine); };
    Probe p(extent(7), extent(5), extent(4), extent(3));
    const Expr guard = random_guard(p, engine);
    const System before = p.with(reduce(Reduction::sum, p.inner, guard, p.body()));
    System after = before;
    solve_guards(after);
    RC_LOG() << to_text(before) << to_text(after);
    verify(after);
    RC_ASSERT(evaluated(after) == evaluated(before));
    RC_ASSERT(points(after) <= 2 * points(before));
  });
  CHECK(holds);
}

TEST_CASE("a reduction is named once for equal uses and behind the conditions it needs", "[calculus][naming]") {
  const System s = example("attention");
  System named = s;
  name_reductions(named);
  REQUIRE_NOTHROW(verify(named));
  for (const Equation& e : named.equations) {
    for (const Expr& below : e.value->args) {
      for_each(below, [&](const Expr& x) {
        if (x.form() == Form::reduce && e.value.form() == Form::reduce) FAIL("nested: " + to_text(named));
      });
    }
  }
  System twice;
  const TensorId x = twice.add_tensor("x", DType::f64, {4});
  const TensorId y = twice.add_tensor("y", DType::f64, {3});
  twice.inputs = {x};
  twice.outputs = {y};
  const auto total = [&] {
    const Binder k = twice.bind("k", 4);
    return reduce(Reduction::sum, {k}, boolean(true), twice.at(x, {variable(k)}));
  };
  twice.define(y, twice.bind_all(y), call(P::exp, {total()}) * total());
  name_reductions(twice);
  CHECK(twice.equations.size() == 2);
  CHECK(points(twice) == 1 + 4 + 3);
}

TEST_CASE("equations that no output needs are removed", "[calculus][dead]") {
  System s = example("layer_norm");
  const std::size_t count = s.equations.size();
  s.outputs = {s.find("v")};
  remove_dead(s);
  CHECK(s.equations.size() == count - 1);
  CHECK(s.inputs.size() == 3);
  s.outputs = {s.find("mu")};
  remove_dead(s);
  CHECK(s.equations.size() == 1);
  REQUIRE_NOTHROW(verify(s));
}
