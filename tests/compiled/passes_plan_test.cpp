#include <catch2/catch.hpp>

#include "compiled/memory/homes.hpp"
#include "compiled/ir/plan.hpp"
#include "passes_build.hpp"
#include "passes_checked_plan.hpp"
#include "spec/error.hpp"

using namespace etalon;
using namespace etalon::spec;
using etalon::compiled::Home;
using etalon::compiled::KernelKind;
using etalon::compiled::Plan;
using etalon::compiled::PlanOptions;
using etalon::test::Build;
using etalon::test::checked_plan;
using etalon::test::exp_of;
using etalon::test::Indices;

namespace {

Home home(const Plan& plan, TensorId t) { return plan.residences[static_cast<std::size_t>(t)].home; }

Expr row_max(Build& b, TensorId x, const Expr& row, std::int64_t extent) {
  const Binder k = b.system.bind("k", extent);
  return reduce(Reduction::max, {k}, boolean(true), b.at(x, {row, variable(k)}));
}

}  // namespace

TEST_CASE("rows_of_a_softmax_become_one_kernel", "[plan]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {3, 5});
  const TensorId top = b.local("top", DType::f32, {3}, [&](const Indices& i) { return row_max(b, x, i[0], 5); });
  const TensorId e =
      b.local("e", DType::f32, {3, 5}, [&](const Indices& i) { return exp_of(b.at(x, i) - b.at(top, {i[0]})); });
  const TensorId s = b.local("s", DType::f32, {3}, [&](const Indices& i) {
    return b.sum(5, [&](const Expr& k) { return b.at(e, {i[0], k}); });
  });
  const TensorId y = b.local("y", DType::f32, {3, 5}, [&](const Indices& i) { return b.at(e, i) / b.at(s, {i[0]}); });
  b.system.outputs = {y};
  const Plan plan = checked_plan(b.system);
  REQUIRE(plan.kernels.size() == 1);
  CHECK(plan.kernels[0].loops == std::vector<std::int64_t>{3});
  CHECK(home(plan, top) == Home::in_register);
  CHECK(home(plan, s) == Home::in_register);
  CHECK(home(plan, e) == Home::turn);
  CHECK(plan.arena_bytes == 0);
  CHECK(home(plan, y) == Home::output);
}

TEST_CASE("an_elementwise_chain_stays_in_registers", "[plan]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {2, 3});
  const TensorId t = b.local("t", DType::f32, {2, 3}, [&](const Indices& i) { return exp_of(b.at(x, i)); });
  const TensorId u = b.local("u", DType::f32, {2, 3}, [&](const Indices& i) { return b.at(t, i) * b.at(t, i); });
  const TensorId y = b.local("y", DType::f32, {2, 3}, [&](const Indices& i) { return b.at(u, i) + b.at(t, i); });
  b.system.outputs = {y};
  const Plan plan = checked_plan(b.system);
  CHECK(plan.kernels.size() == 1);
  CHECK(home(plan, t) == Home::in_register);
  CHECK(home(plan, u) == Home::in_register);
  CHECK(plan.arena_bytes == 0);
  PlanOptions apart;
  apart.fuse = false;
  const Plan separate = checked_plan(b.system, apart);
  CHECK(separate.kernels.size() == 3);
  CHECK(separate.arena_bytes > 0);
}

TEST_CASE("a_contraction_takes_its_epilogue_along", "[plan]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {4, 5});
  const TensorId w = b.input("w", DType::f32, {5, 6});
  const TensorId bias = b.input("bias", DType::f32, {6});
  const TensorId z = b.local("z", DType::f32, {4, 6}, [&](const Indices& i) {
    return b.sum(5, [&](const Expr& k) { return b.at(x, {i[0], k}) * b.at(w, {k, i[1]}); });
  });
  const TensorId y =
      b.local("y", DType::f32, {4, 6}, [&](const Indices& i) { return b.at(z, i) + b.at(bias, {i[1]}); });
  const TensorId rows = b.local("rows", DType::f32, {4}, [&](const Indices& i) {
    return b.sum(6, [&](const Expr& k) { return b.at(y, {i[0], k}); });
  });
  b.system.outputs = {y, rows};
  const Plan plan = checked_plan(b.system);
  REQUIRE(plan.kernels.size() == 2);
  CHECK(plan.kernels[0].loops == std::vector<std::int64_t>{4, 6});
  CHECK(plan.kernels[0].statements.size() == 2);
  CHECK(home(plan, z) == Home::in_register);
}

TEST_CASE("fusion_refuses_reads_of_other_iterations", "[plan]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {4, 4});
  const TensorId t = b.local("t", DType::f32, {4, 4}, [&](const Indices& i) { return exp_of(b.at(x, i)); });
  SECTION("transposed") {
    b.system.outputs = {b.local("y", DType::f32, {4, 4}, [&](const Indices& i) {
      return b.at(t, i) + b.at(t, {i[1], i[0]});
    })};
  }
  SECTION("shifted") {
    b.system.outputs = {b.local("y", DType::f32, {3, 4}, [&](const Indices& i) {
      return b.at(t, {i[0] + integer(1), i[1]});
    })};
  }
  SECTION("a part of the range") {
    b.system.outputs = {b.local("y", DType::f32, {3, 4}, [&](const Indices& i) { return b.at(t, i); })};
  }
  SECTION("down the columns") {
    b.system.outputs = {b.local("y", DType::f32, {}, [&](const Indices&) {
      return b.sum(4, [&](const Expr& k) { return b.at(t, {k, integer(0)}); });
    })};
  }
  SECTION("one row for all") {
    b.system.outputs = {b.local("y", DType::f32, {4, 4}, [&](const Indices& i) {
      return b.at(t, {integer(2), i[1]});
    })};
  }
  const Plan plan = checked_plan(b.system);
  CHECK(plan.kernels.size() == 2);
  CHECK(home(plan, t) == Home::arena);
}

TEST_CASE("independent_equations_of_equal_extents_share_loops", "[plan]") {
  Build b;
  const TensorId g = b.input("g", DType::f32, {4});
  const TensorId m = b.input("m", DType::f32, {4});
  const TensorId v = b.input("v", DType::f32, {4});
  const TensorId m1 = b.local("m1", DType::f32, {4}, [&](const Indices& i) { return b.at(m, i) + b.at(g, i); });
  const TensorId v1 =
      b.local("v1", DType::f32, {4}, [&](const Indices& i) { return b.at(v, i) + b.at(g, i) * b.at(g, i); });
  b.system.outputs = {m1, v1};
  PlanOptions options;
  options.updates = {{1, 0}, {2, 1}};
  const Plan plan = checked_plan(b.system, options);
  CHECK(plan.kernels.size() == 1);
  CHECK(home(plan, m1) == Home::in_place);
  CHECK(home(plan, v1) == Home::in_place);
  CHECK(plan.commits.empty());
}

TEST_CASE("updates_are_copied_where_the_old_value_is_still_read", "[plan]") {
  Build b;
  const TensorId p = b.input("p", DType::f32, {4});
  PlanOptions options;
  options.updates = {{0, 0}};
  SECTION("by a later kernel") {
    const TensorId q = b.local("q", DType::f32, {4}, [&](const Indices& i) { return b.at(p, i) * decimal(2); });
    const TensorId y =
        b.local("y", DType::f32, {4}, [&](const Indices& i) { return b.at(q, {integer(3) - i[0]}) - b.at(p, i); });
    b.system.outputs = {q, y};
  }
  SECTION("at another element by the same equation") {
    const TensorId q = b.local("q", DType::f32, {4}, [&](const Indices& i) { return b.at(p, {integer(3) - i[0]}); });
    b.system.outputs = {q};
  }
  SECTION("at another element by an earlier statement of the same kernel") {
    const TensorId t = b.local("t", DType::f32, {4}, [&](const Indices& i) { return b.at(p, {integer(3) - i[0]}); });
    const TensorId q = b.local("q", DType::f32, {4}, [&](const Indices& i) { return b.at(t, i) + b.at(p, i); });
    b.system.outputs = {q};
  }
  SECTION("by a later statement of the same kernel") {
    const TensorId q = b.local("q", DType::f32, {4}, [&](const Indices& i) { return b.at(p, i) * decimal(2); });
    const TensorId y = b.local("y", DType::f32, {4}, [&](const Indices& i) { return b.at(q, i) - b.at(p, i); });
    b.system.outputs = {q, y};
  }
  SECTION("because in place is off") {
    options.in_place = false;
    const TensorId q = b.local("q", DType::f32, {4}, [&](const Indices& i) { return b.at(p, i) * decimal(2); });
    b.system.outputs = {q};
  }
  const Plan plan = checked_plan(b.system, options);
  REQUIRE(plan.commits.size() == 1);
  CHECK(home(plan, b.system.outputs[0]) == Home::arena);
}

TEST_CASE("two_parameters_may_change_places", "[plan]") {
  Build b;
  const TensorId p = b.input("p", DType::f32, {4});
  const TensorId q = b.input("q", DType::f32, {4});
  const TensorId p1 = b.local("p1", DType::f32, {4}, [&](const Indices& i) { return b.at(q, i); });
  const TensorId q1 = b.local("q1", DType::f32, {4}, [&](const Indices& i) { return b.at(p, i); });
  b.system.outputs = {p1, q1};
  PlanOptions options;
  options.updates = {{0, 0}, {1, 1}};
  const Plan plan = checked_plan(b.system, options);
  CHECK(plan.commits.size() == 1);
}

TEST_CASE("arena_bytes_are_used_again", "[plan]") {
  Build b;
  TensorId t = b.input("x", DType::f32, {16, 16});
  for (int n = 0; n < 10; ++n) {
    t = b.local("t" + std::to_string(n), DType::f32, {16, 16}, [&](const Indices& i) {
      return exp_of(b.at(t, {integer(15) - i[0], i[1]}));
    });
  }
  b.system.outputs = {t};
  constexpr std::size_t one = 16 * 16 * 4;
  CHECK(checked_plan(b.system).arena_bytes == 2 * one);
  PlanOptions wasteful;
  wasteful.reuse = false;
  CHECK(checked_plan(b.system, wasteful).arena_bytes == 9 * one);
}

TEST_CASE("a_tensor_may_take_the_place_of_the_one_it_is_computed_from", "[plan]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {16, 16});
  const TensorId t = b.local("t", DType::f32, {16, 16}, [&](const Indices& i) {
    return exp_of(b.at(x, {i[1], i[0]}));
  });
  const TensorId s = b.local("s", DType::f32, {}, [&](const Indices&) {
    return b.sum(16, [&](const Expr& k) { return b.at(t, {k, k}); });
  });
  const TensorId u = b.local("u", DType::f32, {16, 16}, [&](const Indices& i) { return b.at(t, i) / b.at(s, {}); });
  b.system.outputs = {b.local("y", DType::f32, {16, 16}, [&](const Indices& i) {
    return b.at(u, {integer(15) - i[0], i[1]});
  })};
  const Plan plan = checked_plan(b.system);
  const auto residence = [&](TensorId tensor) { return plan.residences[static_cast<std::size_t>(tensor)]; };
  REQUIRE(residence(u).home == Home::arena);
  CHECK(residence(u).offset == residence(t).offset);
}

namespace {

/// y[n] = sum[j where guards and t[j] == n] g[j]
System scatter_system(bool with_precondition) {
  Build b;
  const TensorId t = b.input("t", DType::i64, {7});
  const TensorId g = b.input("g", DType::f32, {7, 2});
  const TensorId y = b.system.add_tensor("y", DType::f32, {4, 2});
  const Binder n = b.system.bind("n", 4);
  const Binder d = b.system.bind("d", 2);
  const Binder j = b.system.bind("j", 7);
  const Expr at = with_precondition ? variable(j) + integer(1) : variable(j);
  Expr guard = apply(Primitive::eq, {b.at(t, {at}), variable(n)});
  if (with_precondition) guard = apply(Primitive::lt, {at, integer(7)}) && guard;
  const Expr rest = apply(Primitive::ne, {variable(n), variable(d)});
  b.system.define(
      y, {n, d},
      reduce(Reduction::sum, {j}, guard && rest, b.at(g, {variable(j), variable(d)}) * as_real(variable(n))));
  b.system.outputs = {y};
  return b.system;
}

}  // namespace

TEST_CASE("a_sum_where_a_read_equals_a_binder_is_a_scatter", "[plan]") {
  for (const bool with_precondition : {false, true}) {
    const System system = scatter_system(with_precondition);
    const Plan plan = checked_plan(system);
    REQUIRE(plan.kernels.size() == 1);
    REQUIRE(plan.kernels[0].kind == KernelKind::scatter);
    REQUIRE(plan.kernels[0].scatter.hits.size() == 1);
    CHECK(plan.kernels[0].scatter.hits[0].binder == 0);
    CHECK((plan.kernels[0].scatter.precondition == boolean(true)) != with_precondition);
  }
}

TEST_CASE("scatter_refuses", "[plan]") {
  Build b;
  const TensorId t = b.input("t", DType::i64, {5});
  const Binder n = b.system.bind("n", 5);
  const Binder j = b.system.bind("j", 5);
  const TensorId g = b.input("g", DType::f32, {5});
  const Expr body = b.at(g, {variable(j)});
  const auto defined = [&](const Expr& value) {
    const TensorId y = b.system.add_tensor("y", DType::f32, {5});
    b.system.define(y, {n}, value);
    b.system.outputs = {y};
    return checked_plan(b.system).kernels.at(0).kind;
  };
  const Expr hit = apply(Primitive::eq, {b.at(t, {variable(j)}), variable(n)});
  SECTION("an equality without a read") {
    CHECK(defined(reduce(Reduction::sum, {j}, apply(Primitive::eq, {variable(j), variable(n)}), body)) ==
          KernelKind::loops);
  }
  SECTION("a read that depends on the binder") {
    const Expr own = apply(Primitive::eq, {b.at(t, {variable(n)}), variable(n)});
    CHECK(defined(reduce(Reduction::sum, {j}, own, body)) == KernelKind::loops);
  }
  SECTION("another reduction") { CHECK(defined(reduce(Reduction::prod, {j}, hit, body)) == KernelKind::loops); }
  SECTION("a sum that is not the whole right side") {
    CHECK(defined(-reduce(Reduction::sum, {j}, hit, body)) == KernelKind::loops);
  }
  SECTION("an order") {
    const Expr below = apply(Primitive::lt, {b.at(t, {variable(j)}), variable(n)});
    CHECK(defined(reduce(Reduction::sum, {j}, below, body)) == KernelKind::loops);
  }
}

TEST_CASE("a_recurrence_runs_in_order", "[plan]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {5});
  const TensorId y = b.system.add_tensor("y", DType::f32, {5});
  const Binder i = b.system.bind("i", 5);
  const Expr v = variable(i);
  const Expr previous = select(apply(Primitive::le, {integer(1), v}), b.at(y, {v - integer(1)}), decimal(0));
  b.system.define(y, {i}, previous + b.at(x, {v}));
  const TensorId z = b.local("z", DType::f32, {5}, [&](const Indices& k) { return -b.at(y, k); });
  b.system.outputs = {z};
  const Plan plan = checked_plan(b.system);
  REQUIRE(plan.kernels.size() == 2);
  CHECK(plan.kernels[0].kind == KernelKind::sequence);
}

TEST_CASE("a_plan_says_why", "[plan]") {
  const System system = scatter_system(false);
  const std::string text = compiled::to_text(system, compiled::plan(system));
  CHECK(text.find("scatter") != std::string::npos);
  CHECK(text.find("y in output 0: asked for by the caller") != std::string::npos);
}

TEST_CASE("a_consistent_permutation_shares_permuted_loops", "[plan]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {2, 3});
  const TensorId t = b.local("t", DType::f32, {2, 3}, [&](const Indices& i) { return exp_of(b.at(x, i)); });
  const TensorId y = b.local("y", DType::f32, {3, 2}, [&](const Indices& i) { return -b.at(t, {i[1], i[0]}); });
  b.system.outputs = {t, y};
  const Plan plan = checked_plan(b.system);
  REQUIRE(plan.kernels.size() == 1);
  CHECK(plan.kernels[0].statements[1].shared == std::vector<std::size_t>{1, 0});
}

TEST_CASE("an_input_that_is_an_output_is_refused", "[plan]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {2});
  b.system.outputs = {x};
  CHECK_THROWS_AS(compiled::plan(b.system), InternalError);
}
