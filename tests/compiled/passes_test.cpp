#include "compiled/rewrite/passes.hpp"

#include <catch2/catch.hpp>

#include "passes_build.hpp"
#include "passes_execution.hpp"
#include "spec/system/simplify.hpp"

using namespace etalon;
using namespace etalon::spec;
using etalon::test::Build;
using etalon::test::Indices;

namespace {

void check_same_values(const System& before, const System& after) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const std::vector<HostTensor> inputs = test::draw_inputs(before, seed);
    REQUIRE(test::same_bits(test::execute(before, inputs), test::execute(after, inputs)));
  }
}

/// The system after a pass and the removal of what it made superfluous, with the values checked.
System after(void (*pass)(System&), const System& before) {
  System result = before;
  pass(result);
  check_same_values(before, result);
  remove_dead(result);
  check_same_values(before, result);
  return result;
}

std::size_t count_reductions(const Expr& e) {
  std::size_t n = 0;
  for_each(e, [&](const Expr& x) { n += x.form() == Form::reduce; });
  return n;
}

}  // namespace

TEST_CASE("common_definitions_are_shared_up_to_their_binders_names", "[passes]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {3, 4});
  const auto row_sum = [&](const Indices& i) { return b.sum(4, [&](const Expr& k) { return b.at(x, {i[0], k}); }); };
  const TensorId s = b.local("s", DType::f32, {3}, row_sum);
  const TensorId t = b.local("t", DType::f32, {3}, row_sum);
  const TensorId y = b.local("y", DType::f32, {3}, [&](const Indices& i) { return b.at(s, i) - b.at(t, i); });
  b.system.outputs = {y};
  const System shared = after(compiled::share_common, b.system);
  REQUIRE(shared.equations.size() == 2);
  CHECK(shared.equations[1].value == b.at(s, {shared.equations[1].place[0]}) - b.at(s, {shared.equations[1].place[0]}));
}

TEST_CASE("sharing_follows_what_has_become_equal", "[passes]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {3});
  const auto square = [&](const Indices& i) { return b.at(x, i) * b.at(x, i); };
  const TensorId s = b.local("s", DType::f32, {3}, square);
  const TensorId t = b.local("t", DType::f32, {3}, square);
  const TensorId u = b.local("u", DType::f32, {3}, [&](const Indices& i) { return -b.at(s, i); });
  const TensorId v = b.local("v", DType::f32, {3}, [&](const Indices& i) { return -b.at(t, i); });
  const TensorId y = b.local("y", DType::f32, {3}, [&](const Indices& i) { return b.at(u, i) / b.at(v, i); });
  b.system.outputs = {y};
  CHECK(after(compiled::share_common, b.system).equations.size() == 3);
}

TEST_CASE("equal_outputs_stay_two_tensors", "[passes]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {3});
  const auto square = [&](const Indices& i) { return b.at(x, i) * b.at(x, i); };
  const TensorId s = b.local("s", DType::f32, {3}, square);
  const TensorId t = b.local("t", DType::f32, {3}, square);
  b.system.outputs = {s, t};
  const System shared = after(compiled::share_common, b.system);
  REQUIRE(shared.equations.size() == 2);
  CHECK(shared.outputs == std::vector<TensorId>{s, t});
  CHECK(shared.equations[1].value.form() == Form::read);
}

TEST_CASE("sharing_refuses_what_differs", "[passes]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {4, 4});
  const TensorId plain = b.local("plain", DType::f32, {4, 4}, [&](const Indices& i) { return b.at(x, i); });
  SECTION("in an index") {
    const TensorId turned = b.local("t", DType::f32, {4, 4}, [&](const Indices& i) { return b.at(x, {i[1], i[0]}); });
    b.system.outputs = {
        b.local("y", DType::f32, {4, 4}, [&](const Indices& i) { return b.at(plain, i) + b.at(turned, i); })};
  }
  SECTION("in the type in which it is computed") {
    const TensorId wide = b.local("w", DType::f64, {4, 4}, [&](const Indices& i) { return b.at(x, i); });
    b.system.outputs = {
        b.local("y", DType::f64, {4, 4}, [&](const Indices& i) { return b.at(plain, i) + b.at(wide, i); })};
  }
  SECTION("in a constant") {
    const TensorId scaled = b.local("c", DType::f32, {4, 4}, [&](const Indices& i) { return b.at(x, i) * decimal(1); });
    b.system.outputs = {
        b.local("y", DType::f32, {4, 4}, [&](const Indices& i) { return b.at(plain, i) + b.at(scaled, i); })};
  }
  CHECK(after(compiled::share_common, b.system).equations.size() == 3);
}

TEST_CASE("elementwise_locals_read_once_are_inlined", "[passes]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {3, 4});
  const TensorId t = b.local("t", DType::f32, {3, 4}, [&](const Indices& i) { return b.at(x, i) * b.at(x, i); });
  const TensorId u = b.local("u", DType::f32, {4, 3}, [&](const Indices& i) { return -b.at(t, {i[1], i[0]}); });
  const TensorId y = b.local("y", DType::f32, {4}, [&](const Indices& i) {
    return b.sum(3, [&](const Expr& k) { return b.at(u, {i[0], k}); });
  });
  b.system.outputs = {y};
  const System inlined = after(compiled::inline_locals, b.system);
  REQUIRE(inlined.equations.size() == 1);
  const Expr k = variable(inlined.equations[0].value->binders[0]);
  const Expr read = b.at(x, {k, inlined.equations[0].place[0]});
  CHECK(inlined.equations[0].value->args[1] == -(read * read));
}

TEST_CASE("views_and_constants_are_inlined_everywhere", "[passes]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {6});
  const TensorId front = b.local("front", DType::f32, {3}, [&](const Indices& i) { return b.at(x, i); });
  const TensorId back =
      b.local("back", DType::f32, {3}, [&](const Indices& i) { return b.at(x, {i[0] + integer(3)}); });
  const TensorId two = b.local("two", DType::f32, {}, [&](const Indices&) { return decimal(2); });
  const TensorId y = b.local("y", DType::f32, {3, 3}, [&](const Indices& i) {
    return b.at(front, {i[0]}) * b.at(back, {i[1]}) + b.at(front, {i[1]}) * b.at(two, {});
  });
  b.system.outputs = {y};
  CHECK(after(compiled::inline_locals, b.system).equations.size() == 1);
}

TEST_CASE("inlining_refuses", "[passes]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {4});
  const TensorId w = b.input("w", DType::f64, {4});
  SECTION("a value read twice") {
    const TensorId t = b.local("t", DType::f32, {4}, [&](const Indices& i) { return b.at(x, i) + b.at(x, i); });
    b.system.outputs = {
        b.local("y", DType::f32, {4}, [&](const Indices& i) { return b.at(t, i) * b.at(t, {integer(3) - i[0]}); })};
  }
  SECTION("a value that would be computed more often") {
    const TensorId t =
        b.local("t", DType::f32, {4}, [&](const Indices& i) { return apply(Primitive::exp, {b.at(x, i)}); });
    b.system.outputs = {b.local("y", DType::f32, {4, 5}, [&](const Indices& i) { return b.at(t, {i[0]}); })};
  }
  SECTION("a reduction") {
    const TensorId t = b.local("t", DType::f32, {},
                               [&](const Indices&) { return b.sum(4, [&](const Expr& k) { return b.at(x, {k}); }); });
    b.system.outputs = {b.local("y", DType::f32, {}, [&](const Indices&) { return -b.at(t, {}); })};
  }
  SECTION("a value that is rounded to a narrower type") {
    const TensorId t = b.local("t", DType::f32, {4}, [&](const Indices& i) { return b.at(w, i) * b.at(w, i); });
    b.system.outputs = {b.local("y", DType::f64, {4}, [&](const Indices& i) { return b.at(t, i) + b.at(w, i); })};
  }
  SECTION("a copy that rounds") {
    const TensorId t = b.local("t", DType::f32, {4}, [&](const Indices& i) { return b.at(w, i); });
    b.system.outputs = {b.local("y", DType::f64, {4}, [&](const Indices& i) { return b.at(t, i) + b.at(w, i); })};
  }
  SECTION("a value whose comparison would be done in another type") {
    const TensorId t = b.local("t", DType::f32, {4}, [&](const Indices& i) { return b.at(w, i) * decimal(3); });
    b.system.outputs = {b.local("y", DType::boolean, {4}, [&](const Indices& i) {
      return apply(Primitive::lt, {b.at(t, i), b.at(x, i)});
    })};
  }
  SECTION("an integer that wraps when it is stored") {
    const TensorId t = b.local("t", DType::i32, {4}, [&](const Indices& i) { return i[0] * integer(1'000'000'007); });
    b.system.outputs = {b.local("y", DType::i64, {4}, [&](const Indices& i) { return b.at(t, i) * integer(2); })};
  }
  SECTION("an output") {
    const TensorId t = b.local("t", DType::f32, {4}, [&](const Indices& i) { return -b.at(x, i); });
    b.system.outputs = {t, b.local("y", DType::f32, {4}, [&](const Indices& i) { return -b.at(t, i); })};
  }
  SECTION("a tensor of several equations") {
    const TensorId t = b.system.add_tensor("t", DType::f32, {4});
    for (const std::int64_t half : {0, 2}) {
      const Binder i = b.system.bind("i", 2);
      const Expr at = variable(i) + integer(half);
      b.system.equations.push_back({t, {i}, {at}, half == 0 ? -b.at(x, {at}) : b.at(x, {at}), -1});
    }
    b.system.outputs = {b.local("y", DType::f32, {4}, [&](const Indices& i) { return -b.at(t, i); })};
    CHECK(after(compiled::inline_locals, b.system).equations.size() == 3);
    return;
  }
  CHECK(after(compiled::inline_locals, b.system).equations.size() == 2);
}

TEST_CASE("inlining_stops_before_expressions_grow_too_long", "[passes]") {
  Build b;
  TensorId t = b.input("x", DType::f32, {2});
  for (int n = 0; n < 500; ++n) {
    t = b.local("t" + std::to_string(n), DType::f32, {2}, [&](const Indices& i) { return b.at(t, i) + decimal(1); });
  }
  b.system.outputs = {t};
  const System inlined = after(compiled::inline_locals, b.system);
  CHECK(inlined.equations.size() > 1);
  CHECK(inlined.equations.size() < 50);
}

TEST_CASE("nested_reductions_get_their_own_equation", "[passes]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {3, 4});
  const TensorId y = b.local("y", DType::f32, {3, 4}, [&](const Indices& i) {
    return b.at(x, i) / b.sum(4, [&](const Expr& k) { return b.at(x, {i[0], k}); });
  });
  b.system.outputs = {y};
  const System named = after(compiled::name_reductions, b.system);
  REQUIRE(named.equations.size() == 2);
  CHECK(named.equations[0].value.form() == Form::reduce);
  CHECK(named[named.equations[0].target].dims == Dims{3});
  CHECK(count_reductions(named.equations[1].value) == 0);
}

TEST_CASE("a_reduction_that_is_reached_only_under_a_condition_stays", "[passes]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {3, 4});
  const TensorId y = b.local("y", DType::f32, {3}, [&](const Indices& i) {
    const Expr inside = apply(Primitive::lt, {i[0], integer(2)});
    return select(inside, b.sum(4, [&](const Expr& k) { return b.at(x, {i[0] + integer(1), k}); }), decimal(0));
  });
  b.system.outputs = {y};
  const System named = after(compiled::name_reductions, b.system);
  REQUIRE(named.equations.size() == 1);
  CHECK(count_reductions(named.equations[0].value) == 1);
}

TEST_CASE("a_reduction_over_anothers_binder_stays", "[passes]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {3, 4});
  const TensorId y = b.local("y", DType::f32, {}, [&](const Indices&) {
    return b.sum(3, [&](const Expr& i) { return b.sum(4, [&](const Expr& k) { return b.at(x, {i, k}); }); });
  });
  b.system.outputs = {y};
  CHECK(after(compiled::name_reductions, b.system).equations.size() == 1);
}

TEST_CASE("outputs_become_distinct_tensors", "[passes]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {3});
  const TensorId y = b.local("y", DType::f32, {3}, [&](const Indices& i) { return -b.at(x, i); });
  b.system.outputs = {y, x, y};
  const System separate = after(compiled::separate_outputs, b.system);
  REQUIRE(separate.equations.size() == 3);
  CHECK(separate.outputs[0] == y);
  CHECK(separate.outputs[1] != x);
  CHECK(separate.outputs[2] != y);
  CHECK(separate.outputs[1] != separate.outputs[2]);
}

TEST_CASE("distinct_outputs_are_left_alone", "[passes]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {3});
  const TensorId y = b.local("y", DType::f32, {3}, [&](const Indices& i) { return -b.at(x, i); });
  const TensorId z = b.local("z", DType::f32, {3}, [&](const Indices& i) { return -b.at(y, i); });
  b.system.outputs = {z, y};
  const System separate = after(compiled::separate_outputs, b.system);
  CHECK(separate.equations.size() == 2);
  CHECK(separate.outputs == b.system.outputs);
}

namespace {

/// y = x cut off at zero, z = w where x is above zero, else 0; with `more`, something that needs x itself.
System cut_off(bool below, bool more) {
  Build b;
  const TensorId u = b.input("u", DType::f32, {6});
  const TensorId w = b.input("w", DType::f32, {6});
  const TensorId x = b.local("x", DType::f32, {6}, [&](const Indices& i) { return b.at(u, i) * b.at(u, i) * b.at(u, i); });
  const auto cut = [&](const Expr& value, const Expr& kept) {
    const Expr zero = decimal(0);
    return below ? select(apply(Primitive::le, {value, zero}), zero, kept) : select(apply(Primitive::lt, {zero, value}), kept, zero);
  };
  const TensorId y = b.local("y", DType::f32, {6}, [&](const Indices& i) { return cut(b.at(x, i), b.at(x, i)); });
  const TensorId z = b.local("z", DType::f32, {6}, [&](const Indices& i) { return cut(b.at(x, i), b.at(w, i)); });
  b.system.outputs = {y, z};
  if (more) b.system.outputs.push_back(b.local("n", DType::f32, {6}, [&](const Indices& i) { return -b.at(x, i); }));
  return b.system;
}

/// How many equations read the tensor of this name.
std::size_t readers_of(const System& system, const std::string& name) {
  std::size_t readers = 0;
  for (const Equation& e : system.equations) {
    bool reads = false;
    for_each(e.value, [&](const Expr& x) { reads = reads || (x.form() == Form::read && system[x->tensor].name == name); });
    readers += reads;
  }
  return readers;
}

}  // namespace

TEST_CASE("what is cut off at zero is asked instead of what it was cut from", "[passes]") {
  for (const bool below : {true, false}) {
    const System before = cut_off(below, false);
    REQUIRE(readers_of(before, "x") == 2);
    const System asked = after(compiled::ask_results, before);
    CHECK(readers_of(asked, "x") == 1);
    CHECK(readers_of(asked, "y") == 1);
    CHECK(readers_of(after(compiled::ask_results, cut_off(below, true)), "x") == 3);
  }
}
