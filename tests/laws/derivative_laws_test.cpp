// Laws of derivatives, exactly, over rationals, for random programs of the library's algebraic operations.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <rapidcheck.h>

#include "rational_programs.hpp"
#include "reference/evaluate.hpp"
#include "spec/derivative/derivative.hpp"

using namespace etalon;
using namespace etalon::test;
using reference::Rational;
using test::Numbers;
using test::RationalProgram;

namespace {

/// Checks the law on random programs of one to four calls, and that enough of them could be drawn and compared.
void holds(const std::string& law, const std::function<std::size_t(const RationalProgram&, conformance::Draw&)>& check) {
  std::size_t programs = 0, compared = 0;
  REQUIRE(rc::check(law, [&] {
    conformance::Draw draw(*rc::gen::arbitrary<std::uint64_t>());
    std::optional<RationalProgram> p;
    while (!p) p = test::draw_rational_program(static_cast<std::size_t>(draw.integer(1, 4)), draw);
    RC_LOG() << spec::to_text(p->program);
    compared += check(*p, draw);
    ++programs;
  }));
  CHECK(programs > 0);
  CHECK(compared > 0);
}

Rational some_number(conformance::Draw& draw) { return {draw.integer(-9, 9), 4}; }

}  // namespace

TEST_CASE("a JVP is linear in the tangents", "[laws]") {
  holds("J(s u + t v) = s J u + t J v", [](const RationalProgram& p, conformance::Draw& draw) {
    const Numbers u = random_tangents(p, draw), v = random_tangents(p, draw);
    const Rational s = some_number(draw), t = some_number(draw);
    const Numbers left = tangents_of(p, combine(s, u, t, v));
    RC_ASSERT(test::equal(left, combine(s, tangents_of(p, u), t, tangents_of(p, v))));
    return elements(left);
  });
}

TEST_CASE("a VJP is linear in the cotangents", "[laws]") {
  holds("(s u + t v) J = s u J + t v J", [](const RationalProgram& p, conformance::Draw& draw) {
    const Numbers u = random_cotangents(p, draw), v = random_cotangents(p, draw);
    const Rational s = some_number(draw), t = some_number(draw);
    const Numbers left = cotangents_of(p, combine(s, u, t, v));
    RC_ASSERT(test::equal(left, combine(s, cotangents_of(p, u), t, cotangents_of(p, v))));
    return elements(left);
  });
}

TEST_CASE("a VJP is the adjoint of the JVP", "[laws]") {
  holds("<J u, w> = <u, w J>", [](const RationalProgram& p, conformance::Draw& draw) {
    const Numbers u = random_tangents(p, draw), w = random_cotangents(p, draw);
    RC_ASSERT(inner(tangents_of(p, u), w) == inner(u, cotangents_of(p, w)));
    return elements(u);
  });
}

TEST_CASE("the JVP of a program is the composition of its calls' JVPs", "[laws]") {
  holds("chain rule", [](const RationalProgram& p, conformance::Draw& draw) {
    const Numbers u = random_tangents(p, draw);
    const Numbers whole = tangents_of(p, u);
    const Numbers by_calls = test::tangents_call_by_call(p, u);
    RC_ASSERT(test::equal(whole, by_calls));
    return elements(whole);
  });
}

TEST_CASE("mixed second derivatives are symmetric", "[laws]") {
  holds("D²f(u, v) = D²f(v, u)", [](const RationalProgram& p, conformance::Draw& draw) {
    const Numbers u = random_tangents(p, draw), v = random_tangents(p, draw);
    const Numbers left = test::second_tangents_of(p, u, v);
    RC_ASSERT(test::equal(left, test::second_tangents_of(p, v, u)));
    return elements(left);
  });
}
