// What conditions, positions of extrema and detached numbers prove, and what they do not.
#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "tests/adequacy/equivalence.hpp"
#include "tests/adequacy/facts.hpp"
#include "tests/adequacy/points.hpp"

using namespace etalon;
using spec::Expr;
using spec::Primitive;

namespace {

Expr compared(Primitive p, const Expr& a, const Expr& b) { return spec::apply(p, {a, b}); }
Expr le(const Expr& a, const Expr& b) { return compared(Primitive::le, a, b); }

// Whether the changes of that text at places that end so, of the last equation, are proved to change nothing; there is one.
bool is_proved(const spec::System& system, const std::string& place, const std::string& text, std::size_t first_output = 0) {
  adequacy::Reaches reaches(system);
  std::vector<bool> last(system.equations.size(), false);
  last.back() = true;
  std::size_t met = 0;
  bool proved = false;
  for (const adequacy::Site& site : adequacy::sites_of(system, last)) {
    if (!site.place.ends_with(place)) continue;
    for (const adequacy::Alternative& a : adequacy::equation_alternatives(system, site, true)) {
      if (a.text != text) continue;
      proved = !adequacy::why_equivalent(system, site, a, reaches, first_output).empty();
      ++met;
    }
  }
  INFO(place << ": " << text);
  REQUIRE(met == 1);
  return proved;
}

// The window of i begins at 2 i - 1, of x[0] to x[3]: what is left out is never where its extremum is.
struct Windows {
  spec::System system;
  spec::Binder i = system.bind("i", 2);
  Expr at;  ///< where the extremum of the window is, from 2 i

  explicit Windows(bool guarded) {
    const auto x = system.add_tensor("x", DType::f32, {4}), where = system.add_tensor("where", DType::i64, {2});
    system.inputs = {x};
    const spec::Binder k = system.bind("k", 2), u = system.bind("u", 3);
    const Expr place = spec::integer(2) * spec::variable(k) + spec::variable(u);
    const Expr inside = le(spec::integer(1), place) && le(place, spec::integer(4));
    system.define(where, {k}, spec::reduce(spec::Reduction::argmax, {u}, guarded ? inside : spec::boolean(true),
                                           system.at(x, {compared(Primitive::maximum, place - spec::integer(1), spec::integer(0))}), spec::integer(-1)));
    at = spec::integer(2) * spec::variable(i) + system.at(where, {spec::variable(i)});
  }
};

}  // namespace

TEST_CASE("the position of an extremum is one that its guard allows", "[adequacy]") {
  for (const bool guarded : {true, false}) {
    Windows w(guarded);
    const Expr first = le(spec::integer(1), w.at), yes = spec::boolean(true);
    CHECK(adequacy::are_equal_at_all_points(w.system, {w.i}, {}, {{first, yes}}) == guarded);
    CHECK_FALSE(adequacy::are_equal_at_all_points(w.system, {w.i}, {}, {{le(spec::integer(2), w.at), yes}}));
    // Where something else holds, too.
    CHECK(adequacy::are_equal_at_all_points(w.system, {w.i}, {le(spec::integer(1), spec::variable(w.i))}, {{first, yes}}));
  }
}

TEST_CASE("nothing is proved at no points, or at too many", "[adequacy]") {
  spec::System system;
  for (const std::int64_t extent : {std::int64_t{0}, std::int64_t{1} << 40}) {
    const spec::Binder i = system.bind("i", extent);
    CHECK_FALSE(adequacy::are_equal_at_all_points(system, {i}, {}, {{spec::variable(i), spec::variable(i) + spec::integer(0)}}));
  }
}

TEST_CASE("conditions say of others what logic says", "[adequacy]") {
  spec::System system;
  const spec::Binder i = system.bind("i", 9);
  const Expr v = spec::variable(i), a = le(spec::integer(1), v), b = le(v, spec::integer(5)), c = le(v, spec::integer(7));
  const auto no = [](const Expr& e) { return spec::apply(Primitive::logical_not, {e}); };
  const auto either = [](const Expr& one, const Expr& other) { return compared(Primitive::logical_or, one, other); };
  CHECK(adequacy::Facts({a && b}).holds(a) == true);
  CHECK(adequacy::Facts({a && b}).holds(c && b) == std::nullopt);
  CHECK(adequacy::Facts({no(a)}).holds(a && b) == false);
  CHECK(adequacy::Facts({no(a && b)}).holds(a) == std::nullopt);
  CHECK(adequacy::Facts({no(a && b), b}).holds(c && (a && b)) == false);
  CHECK(adequacy::Facts({no(a && b), b}).holds(a) == false);
  CHECK(adequacy::Facts({no(either(a, b))}).holds(b) == false);
  CHECK(adequacy::Facts({either(a, b), no(a)}).holds(b) == true);
  CHECK(adequacy::Facts({a, no(either(a, c))}).contradict());
  CHECK_FALSE(adequacy::Facts({a, no(a && c)}).contradict());
}

TEST_CASE("detached numbers are the same values, and other derivatives", "[adequacy]") {
  spec::System system;
  const auto x = system.add_tensor("x", DType::f32, {}), t = system.add_tensor("t", DType::i64, {}), y = system.add_tensor("y", DType::f32, {});
  system.inputs = {x, t};
  system.outputs = {y};
  const Expr number = system.at(x, {});
  system.define(y, {}, spec::select(compared(Primitive::eq, system.at(t, {}), spec::integer(3)), spec::detach(number), number));
  CHECK(is_proved(system, "==.1", "the constant + 1", 0));
  CHECK_FALSE(is_proved(system, "==.1", "the constant + 1", 1));
}

TEST_CASE("a condition may be another where both arms are 0", "[adequacy]") {
  for (const bool zero : {true, false}) {
    spec::System system;
    const auto x = system.add_tensor("x", DType::f32, {2}), t = system.add_tensor("t", DType::i64, {2}), hit = system.add_tensor("hit", DType::f32, {2}),
               y = system.add_tensor("y", DType::f32, {2});
    system.inputs = {x, t};
    system.outputs = {y};
    const auto inside = [&](const spec::Binder& b) {
      const Expr label = system.at(t, {spec::variable(b)});
      return le(spec::integer(0), label) && le(label, spec::integer(4));
    };
    const spec::Binder i = system.bind("i", 2), j = system.bind("j", 2);
    const Expr read = system.at(x, {spec::variable(i)});
    system.define(hit, {i}, spec::select(inside(i), read, zero ? spec::decimal(0) : read));
    system.define(y, {j}, spec::select(inside(j), system.at(hit, {spec::variable(j)}) * spec::decimal(2), spec::decimal(0)));
    CHECK(is_proved(system, "select.if", "the first condition dropped") == zero);
    CHECK(is_proved(system, "select.if", "the second condition dropped") == zero);
  }
}

TEST_CASE("integers that are read and compared may be any, where conditions let them", "[adequacy]") {
  spec::System system;
  const auto t = system.add_tensor("t", DType::i64, {3}), u = system.add_tensor("u", DType::i64, {3});
  system.inputs = {t, u};
  const spec::Binder i = system.bind("i", 3), j = system.bind("j", 5);
  const Expr label = system.at(t, {spec::variable(i)}), other = system.at(u, {spec::variable(i)}), at = spec::variable(j);
  const Expr low = le(spec::integer(0), label), high = le(label, spec::integer(4)), here = compared(Primitive::eq, label, at);
  const auto equal = [&](const std::vector<Expr>& conditions, const Expr& a, const Expr& b) {
    return adequacy::are_equal_at_all_points(system, {i, j}, conditions, {{a, b}});
  };
  CHECK(equal({here}, low && high, high));
  CHECK(equal({here}, low && high, spec::boolean(true)));
  CHECK(equal({}, low && compared(Primitive::ne, label, spec::integer(-2)), low));
  CHECK_FALSE(equal({}, low && compared(Primitive::ne, label, spec::integer(2)), low));
  CHECK_FALSE(equal({here}, le(spec::integer(1), label), low));
  CHECK_FALSE(equal({}, low && high, high));
  // Of another one nothing is said, nor of one that is more than compared.
  CHECK_FALSE(equal({compared(Primitive::eq, other, at)}, low && high, high));
  CHECK_FALSE(equal({here}, le(spec::integer(0), label + other), low));
  CHECK_FALSE(equal({compared(Primitive::eq, label, other)}, compared(Primitive::eq, label, at), compared(Primitive::eq, other, at)));
}

TEST_CASE("what no data enters is compared by its numbers", "[adequacy]") {
  // cells[i] = how many of i - pad ≤ k ≤ i lie in [0, 4): all windows are alike without padding.
  for (const std::int64_t pad : {0, 1}) {
    spec::System system;
    const auto cells = system.add_tensor("cells", DType::i64, {3});
    const spec::Binder n = system.bind("n", 3), u = system.bind("u", 2), i = system.bind("i", 3);
    const Expr place = spec::variable(n) + spec::variable(u) - spec::integer(pad);
    system.define(cells, {n}, spec::reduce(spec::Reduction::sum, {u}, le(spec::integer(0), place) && compared(Primitive::lt, place, spec::integer(4)), spec::integer(1)));
    const Expr one = system.at(cells, {spec::variable(i)}), next = system.at(cells, {compared(Primitive::minimum, spec::variable(i) + spec::integer(1), spec::integer(2))});
    CHECK(adequacy::are_equal_at_all_points(system, {i}, {}, {{one, next}}) == (pad == 0));
    CHECK(adequacy::are_equal_at_all_points(system, {i}, {}, {{one, spec::integer(2)}}) == (pad == 0));
  }
}

TEST_CASE("equations that nothing asked for depends on may be any", "[adequacy]") {
  const auto made = [](double factor) {
    spec::System system;
    const auto x = system.add_tensor("x", DType::f32, {}), y = system.add_tensor("y", DType::f32, {}), d = system.add_tensor("d", DType::f32, {});
    system.inputs = {x};
    system.outputs = {y, d};
    system.define(y, {}, system.at(x, {}) * spec::binary64(factor));
    system.define(d, {}, system.at(x, {}));
    return system;
  };
  CHECK(!adequacy::why_equivalent(made(2), made(3), 1).empty());
  CHECK(adequacy::why_equivalent(made(2), made(3), 0).empty());
}

TEST_CASE("an element is at most a maximum over others where its own guard holds", "[adequacy]") {
  spec::System system;
  const auto x = system.add_tensor("x", DType::f32, {4}), live = system.add_tensor("live", DType::boolean, {4}), top = system.add_tensor("top", DType::f32, {});
  system.inputs = {x, live};
  const spec::Binder k = system.bind("k", 4), i = system.bind("i", 4);
  const auto at = [&](spec::TensorId t, const spec::Binder& b) { return system.at(t, {spec::variable(b)}); };
  system.define(top, {}, spec::reduce(spec::Reduction::max, {k}, at(live, k), at(x, k), spec::decimal(0)));
  adequacy::Reaches reaches(system);
  const Expr above = compared(Primitive::gt, at(x, i), system.at(top, {}));
  CHECK(reaches.never(above, {i}, {at(live, i)}));
  CHECK_FALSE(reaches.never(above, {i}, {}));
}
