// Laws of derivatives, exactly, over rationals, for random programs of the library's algebraic operations.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <rapidcheck.h>

#include "../reference/rationals.hpp"
#include "rational_programs.hpp"
#include "reference/evaluate.hpp"
#include "spec/derivative/derivative.hpp"

using namespace etalon;
using namespace etalon::test;
using reference::Rational;
using test::Numbers;
using test::RationalProgram;

namespace {

/// Checks the law on random programs of one to four calls. `check` says how many numbers other than 0 it compared: a
/// derivative that is 0 throughout obeys every law.
void holds(const std::string& law, const std::function<std::size_t(const RationalProgram&, conformance::Draw&)>& check) {
  std::size_t programs = 0, compared = 0;
  REQUIRE(rc::check(law, [&] {
    conformance::Draw draw(*rc::gen::arbitrary<std::uint64_t>());
    std::optional<RationalProgram> p;
    while (!p) p = test::draw_rational_program(static_cast<std::size_t>(draw.integer(1, 4)), draw);
    RC_LOG() << spec::to_text(p->program);
    try {
      compared += check(*p, draw);
    } catch (const Unsupported&) {
      // At these numbers a derivative leaves the rationals (a power's logarithm): another program is drawn.
      RC_DISCARD("no rational numbers");
    }
    ++programs;
  }));
  CAPTURE(law);
  CHECK(programs > 0);
  CHECK(compared > 0);
}

Rational some_number(conformance::Draw& draw) { return {draw.integer(-9, 9), 4}; }

}  // namespace

TEST_CASE("the reference itself says which primitives keep the rationals", "[laws]") {
  using enum spec::Primitive;
  for (const auto p : {mul, div, pow, floor, modulo, lt, logical_and, to_real, to_integer, philox}) CHECK(keeps_rationals(p));
  for (const auto p : {exp, sqrt, log2, atan2, cosh, pi}) CHECK_FALSE(keeps_rationals(p));
}

TEST_CASE("a JVP is linear in the tangents, a VJP in the cotangents", "[laws]") {
  struct Map {
    const char* law;
    Numbers (*seeds)(const RationalProgram&, conformance::Draw&);
    Numbers (*derivative)(const RationalProgram&, const Numbers&);
  };
  for (const Map& map : {Map{"J(s u + t v) = s J u + t J v", random_tangents, tangents_of},
                         Map{"(s u + t v) J = s u J + t v J", random_cotangents, cotangents_of}}) {
    holds(map.law, [&](const RationalProgram& p, conformance::Draw& draw) {
      const Numbers u = map.seeds(p, draw), v = map.seeds(p, draw);
      const Rational s = some_number(draw), t = some_number(draw);
      const Numbers left = map.derivative(p, combine(s, u, t, v));
      RC_ASSERT(test::equal(left, combine(s, map.derivative(p, u), t, map.derivative(p, v))));
      return nonzero(left);
    });
  }
}

TEST_CASE("a VJP is the adjoint of the JVP", "[laws]") {
  holds("<J u, w> = <u, w J>", [](const RationalProgram& p, conformance::Draw& draw) {
    const Numbers u = random_tangents(p, draw), w = random_cotangents(p, draw);
    const Rational left = inner(tangents_of(p, u), w);
    RC_ASSERT(left == inner(u, cotangents_of(p, w)));
    return left != 0 ? std::size_t{1} : std::size_t{0};
  });
}

TEST_CASE("the JVP of a program is the composition of its calls' JVPs", "[laws]") {
  holds("chain rule", [](const RationalProgram& p, conformance::Draw& draw) {
    const Numbers u = random_tangents(p, draw);
    const Numbers whole = tangents_of(p, u);
    RC_ASSERT(test::equal(whole, test::tangents_call_by_call(p, u)));
    return nonzero(whole);
  });
}

TEST_CASE("mixed second derivatives are symmetric", "[laws]") {
  holds("D²f(u, v) = D²f(v, u)", [](const RationalProgram& p, conformance::Draw& draw) {
    const Numbers u = random_tangents(p, draw), v = random_tangents(p, draw);
    const Numbers left = test::second_tangents_of(p, u, v);
    RC_ASSERT(test::equal(left, test::second_tangents_of(p, v, u)));
    return nonzero(left);
  });
}
