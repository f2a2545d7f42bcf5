#include <catch2/catch.hpp>
#include <limits>

#include "compiled/rewrite/passes.hpp"
#include "compiled/rewrite/simplify.hpp"
#include "passes_execution.hpp"

using namespace etalon;
using namespace etalon::spec;

namespace {

/// y[i] = value(x[i], u[i], n[i], m[i], c[i], i) over five elements.
struct Elementwise {
  System system;
  Expr x, u, n, m, c, i;
  Binder binder;

  explicit Elementwise(DType real = DType::f64) {
    const TensorId tx = system.add_tensor("x", real, {5});
    const TensorId tu = system.add_tensor("u", real, {5});
    const TensorId tn = system.add_tensor("n", DType::i64, {5});
    const TensorId tm = system.add_tensor("m", DType::i64, {5});
    const TensorId tc = system.add_tensor("c", DType::boolean, {5});
    system.inputs = {tx, tu, tn, tm, tc};
    binder = system.bind("i", 5);
    i = variable(binder);
    x = system.at(tx, {i});
    u = system.at(tu, {i});
    n = system.at(tn, {i});
    m = system.at(tm, {i});
    // A truth value that is not an input, since garbage is none.
    c = apply(Primitive::lt, {n, m});
  }

  System with(const Expr& value) const {
    System s = system;
    const DType real = s.tensors[0].dtype;
    const DType dtype = value.kind() == Kind::real ? real : value.kind() == Kind::integer ? DType::i64 : DType::boolean;
    const TensorId y = s.add_tensor("y", dtype, {5});
    s.define(y, {binder}, value);
    s.outputs = {y};
    return s;
  }

  /// The value after the pass, having checked on special values that not a bit has changed.
  Expr after(void (*pass)(System&), const Expr& value) const {
    const System before = with(value);
    System system_after = before;
    pass(system_after);
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
      std::vector<HostTensor> inputs = test::draw_inputs(before, seed);
      REQUIRE(test::same_bits(test::execute(before, inputs), test::execute(system_after, inputs)));
    }
    REQUIRE(system_after.equations.size() == 1);
    return system_after.equations[0].value;
  }
};

Expr not_(const Expr& e) { return apply(Primitive::logical_not, {e}); }
Expr less(const Expr& a, const Expr& b) { return apply(Primitive::lt, {a, b}); }

}  // namespace

TEST_CASE("simplification_fires_where_no_bit_changes", "[passes]") {
  const Elementwise e;
  const Expr one = decimal(1);
  const Expr zero = decimal(0);
  const Expr minus_zero = binary64(-0.0);
  struct Row {
    const char* claim;
    Expr before;
    Expr after;
  };
  const Row rows[] = {
      {"times one", e.x * one, e.x},
      {"one times", one * e.x, e.x},
      {"over one", e.x / one, e.x},
      {"minus zero", e.x - zero, e.x},
      {"plus negative zero", e.x + minus_zero, e.x},
      {"twice negated", -(-e.x), e.x},
      {"plus negated", e.x + (-e.u), e.x - e.u},
      {"negated plus", (-e.u) + e.x, e.x - e.u},
      {"minus negated", e.x - (-e.u), e.x + e.u},
      {"integer plus zero", e.n + integer(0), e.n},
      {"integer minus itself", e.n - e.n, integer(0)},
      {"integer times zero", e.n * integer(0), integer(0)},
      {"modulo one", apply(Primitive::modulo, {e.n, integer(1)}), integer(0)},
      {"extremum of same", apply(Primitive::maximum, {e.n, e.n}), e.n},
      {"true and", boolean(true) && e.c, e.c},
      {"and false", e.c && boolean(false), boolean(false)},
      {"false or", apply(Primitive::logical_or, {boolean(false), e.c}), e.c},
      {"twice not", not_(not_(e.c)), e.c},
      {"not of comparison", not_(less(e.n, e.m)), apply(Primitive::ge, {e.n, e.m})},
      {"not of comparison", not_(apply(Primitive::eq, {e.x, e.u})), apply(Primitive::ne, {e.x, e.u})},
      {"integer compared with itself", less(e.n, e.n), boolean(false)},
      {"decided select", select(boolean(false), e.x, e.u), e.u},
      {"select of same", select(e.c, e.x, e.x), e.x},
      {"select on not", select(not_(less(e.x, e.u)), e.x, e.u), select(less(e.x, e.u), e.u, e.x)},
      {"value of detach", detach(e.x) + e.u, e.x + e.u},
      {"rules chain", (e.x * one) - (-(e.u - zero)), e.x + e.u},
  };
  for (const Row& row : rows) {
    INFO(row.claim);
    CHECK(e.after(compiled::simplify, row.before) == row.after);
  }
}

TEST_CASE("simplification_refuses_what_changes_a_bit", "[passes]") {
  const Elementwise e;
  struct Row {
    const char* claim;
    Expr value;
  };
  const Row rows[] = {
      {"x + 0 is not x for -0", e.x + decimal(0)},
      {"x * 0 is not 0 for NaN", e.x * decimal(0)},
      {"x - x is not 0 for infinities", e.x - e.x},
      {"x / x is not 1", e.x / e.x},
      {"c1 - (c2 + x) is not (c1 - c2) + x", decimal(3) - (decimal(2) + e.x)},
      {"(x + 1) + 2 is not x + 3", (e.x + decimal(1)) + decimal(2)},
      {"x - -0 is not x for -0", e.x - binary64(-0.0)},
      {"0 - x is not -x for 0", decimal(0) - e.x},
      {"not x < u is not x >= u for NaN", not_(less(e.x, e.u))},
      {"x == x is not true for NaN", apply(Primitive::eq, {e.x, e.x})},
      {"x^2 is not x*x for every implementation of powers", e.x * apply(Primitive::exp, {e.u * decimal(2)})},
      {"x * 0.1 is not x / 10", e.x * decimal(1, -1)},
  };
  for (const Row& row : rows) {
    INFO(row.claim);
    CHECK(e.after(compiled::simplify, row.value) == row.value);
  }
}

TEST_CASE("reductions_over_nothing_and_one_element", "[passes]") {
  Elementwise e;
  const auto over = [&](Reduction r, std::int64_t extent, const Expr& guard, const Expr& otherwise) {
    const Binder k = e.system.bind("k", extent);
    return reduce(r, {k}, guard, e.x + as_real(variable(k)), otherwise);
  };
  const Expr yes = boolean(true);
  CHECK(e.after(compiled::simplify, over(Reduction::sum, 0, yes, {})) == decimal(0));
  CHECK(e.after(compiled::simplify, over(Reduction::prod, 3, boolean(false), {})) == decimal(1));
  CHECK(e.after(compiled::simplify, over(Reduction::max, 0, yes, decimal(7))) == decimal(7));
  CHECK(e.after(compiled::simplify, over(Reduction::max, 1, yes, {})) == e.x + as_real(integer(0)));
  CHECK(e.after(compiled::simplify, over(Reduction::argmax, 1, yes, {})) == integer(0));
  INFO("a sum over one element -0 is 0");
  CHECK(e.after(compiled::simplify, over(Reduction::sum, 1, yes, {})).form() == Form::reduce);
  CHECK(e.after(compiled::simplify, over(Reduction::max, 2, yes, {})).form() == Form::reduce);
  CHECK(e.after(compiled::simplify, over(Reduction::max, 1, less(e.n, e.m), decimal(1))).form() == Form::reduce);
}

TEST_CASE("every_simplification_rule_has_a_name_and_an_equation", "[passes]") {
  const auto rules = compiled::simplification_rules();
  REQUIRE(rules.size() > 15);
  for (const auto& r : rules) {
    CHECK(!r.name.empty());
    CHECK(r.equation.find('=') != std::string_view::npos);
  }
}

TEST_CASE("constants_fold_where_the_result_is_exact", "[passes]") {
  for (const DType real : {DType::f32, DType::f64}) {
    const Elementwise e(real);
    struct Row {
      const char* claim;
      Expr before;
      Expr after;
    };
    const Row rows[] = {
        {"integers", integer(2) + integer(3) * integer(4), integer(14)},
        {"floor division rounds down", apply(Primitive::floor_div, {integer(-7), integer(2)}), integer(-4)},
        {"modulo has the divisor's sign", apply(Primitive::modulo, {integer(-7), integer(2)}), integer(1)},
        {"truth values", boolean(true) && boolean(false), boolean(false)},
        {"order", less(integer(2), integer(3)), boolean(true)},
        {"real order", less(decimal(5, -1), decimal(25, -2)), boolean(false)},
        {"exact sum", decimal(5, -1) + decimal(25, -2), binary64(0.75)},
        {"exact product", decimal(3) * decimal(7), decimal(21)},
        {"exact quotient", decimal(1) / decimal(4), binary64(0.25)},
        {"exact root", apply(Primitive::sqrt, {decimal(64)}), decimal(8)},
        {"conversion", as_real(integer(12)), decimal(12)},
        {"negated constant", -decimal(1, -1), decimal(-1, -1)},
        {"negated zero keeps its sign", -decimal(0), binary64(-0.0)},
        {"index offsets", (e.n + integer(5)) - integer(7), e.n - integer(2)},
        {"index offsets cancel", (e.n - integer(5)) + integer(5), e.n},
        {"constants move right", integer(5) + e.n, e.n + integer(5)},
    };
    for (const Row& row : rows) {
      INFO(row.claim);
      CHECK(e.after(compiled::fold_constants, row.before) == row.after);
    }
  }
}

TEST_CASE("constants_that_would_round_stay", "[passes]") {
  for (const DType real : {DType::f32, DType::f64}) {
    const Elementwise e(real);
    struct Row {
      const char* claim;
      Expr value;
    };
    const Row rows[] = {
        {"0.1 is rounded before it is added", decimal(1, -1) + decimal(2, -1)},
        {"1/3 rounds", decimal(1) / decimal(3)},
        {"the sum needs 25 bits", decimal(16777216) + decimal(1)},
        {"division by zero", decimal(1) / decimal(0)},
        {"infinity", binary64(std::numeric_limits<double>::infinity()) - decimal(1)},
        {"a root that rounds", apply(Primitive::sqrt, {decimal(2)})},
        {"the exponential rounds", apply(Primitive::exp, {decimal(1)})},
        {"a real sum does not reassociate", (e.x + decimal(5)) - decimal(7)},
        {"maximum of equal constants: their zeros may differ", apply(Primitive::maximum, {decimal(0), binary64(-0.0)})},
    };
    for (const Row& row : rows) {
      INFO(row.claim);
      CHECK(e.after(compiled::fold_constants, row.value) == row.value);
    }
  }
  const Elementwise e;
  const Expr largest = integer(std::numeric_limits<std::int64_t>::max());
  CHECK(e.after(compiled::fold_constants, largest + integer(1)) == largest + integer(1));
}

TEST_CASE("integer_division_by_zero_is_not_folded", "[passes]") {
  const Elementwise e;
  // Evaluated by nothing here: an integer division by zero has no value, and folding must not invent one.
  System s = e.with(apply(Primitive::floor_div, {integer(1), integer(0)}));
  const Expr before = s.equations[0].value;
  compiled::fold_constants(s);
  CHECK(s.equations[0].value == before);
}
