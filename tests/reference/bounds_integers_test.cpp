// Integers that are no doubles: wherever the bounds meet them they stay what they are.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "bounds_systems.hpp"
#include "reference/bounds/envelope.hpp"

namespace etalon {
namespace {

using namespace bounds_test;

constexpr std::int64_t big = std::int64_t{1} << 53U;  // big + 1 is no double

HostTensor integers(const Dims& dims, const std::vector<std::int64_t>& values) { return HostTensor::of(dims, values); }

/// A system of one i64 vector x and one output.
struct OfIntegers {
  Builder b{DType::f32};
  spec::TensorId x, y;

  OfIntegers(std::int64_t n, DType result) : x(b.integers("x", {n})), y(b.s.add_tensor("y", result, {})) { b.s.outputs.push_back(y); }
  Expr at(std::int64_t i) { return b.s.at(x, {spec::integer(i)}); }
  reference::Envelope of(const Expr& value, const std::vector<std::int64_t>& values, const spec::Contract& contract = {}) {
    b.s.define(y, {}, value);
    return reference::envelopes(b.s, std::vector{integers({static_cast<std::int64_t>(values.size())}, values)}, contract).outputs[0];
  }
};

reference::Envelope position(Reduction reduction, const std::vector<std::int64_t>& values, spec::TiePolicy ties = spec::TiePolicy::first) {
  const auto n = static_cast<std::int64_t>(values.size());
  OfIntegers s(n, DType::i64);
  const auto k = s.b.bind(n);
  spec::Contract contract;
  contract.ties = ties;
  return s.of(spec::reduce(reduction, {k}, always(), s.b.at(s.x, k)), values, contract);
}

std::int64_t applied(Primitive p, std::int64_t a, std::int64_t b) {
  OfIntegers s(2, DType::i64);
  return s.of(spec::apply(p, {s.at(0), s.at(1)}), {a, b}).exact[0];
}

bool compared(Primitive p, std::int64_t a, std::int64_t b) {
  OfIntegers s(2, DType::boolean);
  return s.of(spec::apply(p, {s.at(0), s.at(1)}), {a, b}).exact[0] != 0;
}

}  // namespace

TEST_CASE("positions of the extrema of large integers", "[sound][bounds]") {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  CHECK(position(Reduction::argmax, {big, big + 1}).exact[0] == 1);
  CHECK(position(Reduction::argmin, {big + 1, big}).exact[0] == 1);
  CHECK(position(Reduction::argmin, {-big, -big - 1}).exact[0] == 1);
  CHECK(position(Reduction::argmax, {most - 1, most, most - 2}).exact[0] == 1);
  CHECK(position(Reduction::argmin, {least + 1, least, least + 2}).exact[0] == 1);
  CHECK(position(Reduction::argmax, {least, most}).exact[0] == 1);
  const reference::Envelope e = position(Reduction::argmax, {big, big + 1});
  CHECK(reference::judge(integers({}, {1}), e).passed());
  CHECK_FALSE(reference::judge(integers({}, {0}), e).passed());
}

TEST_CASE("ties of large integers go as the contract says", "[sound][bounds]") {
  const std::vector<std::int64_t> tied{big, big + 1, big + 1, big};
  CHECK(position(Reduction::argmax, tied).exact[0] == 1);
  CHECK(position(Reduction::argmax, tied, spec::TiePolicy::last).exact[0] == 2);
  CHECK((position(Reduction::argmax, tied, spec::TiePolicy::even).flags[0] & reference::undecided) != 0);
  CHECK(position(Reduction::argmin, tied, spec::TiePolicy::last).exact[0] == 3);
  CHECK((position(Reduction::argmax, {big, big + 1}, spec::TiePolicy::even).flags[0] & reference::undecided) == 0);
}

TEST_CASE("comparisons, extrema and arithmetic of large integers", "[sound][bounds]") {
  CHECK(compared(Primitive::lt, big, big + 1));
  CHECK_FALSE(compared(Primitive::eq, big, big + 1));
  CHECK_FALSE(compared(Primitive::ge, big, big + 1));
  CHECK(applied(Primitive::maximum, big, big + 1) == big + 1);
  CHECK(applied(Primitive::minimum, -big, -big - 1) == -big - 1);
  CHECK(applied(Primitive::add, big, 1) == big + 1);
  CHECK(applied(Primitive::floor_div, 3 * big + 3, 3) == big + 1);
  CHECK(applied(Primitive::modulo, big + 1, 2) == 1);
  for (const auto& [reduction, right] : {std::pair{Reduction::max, big + 1}, std::pair{Reduction::min, big - 1}, std::pair{Reduction::sum, 3 * big}}) {
    OfIntegers s(3, DType::i64);
    const auto k = s.b.bind(3);
    CHECK(s.of(spec::reduce(reduction, {k}, always(), s.b.at(s.x, k)), {big, big + 1, big - 1}).exact[0] == right);
  }
}

TEST_CASE("a gather by an index computed from large integers", "[sound][bounds]") {
  OfIntegers s(3, DType::i64);
  CHECK(s.of(s.b.s.at(s.x, {s.at(0) - s.at(1)}), {big + 1, big, -5}).exact[0] == big);
}

TEST_CASE("a large integer made real is rounded once, or not at all", "[sound][bounds]") {
  // Whoever computes with more keeps the 1 that f32 and double lose.
  OfIntegers s(2, DType::f32);
  const auto e = s.of(spec::as_real(s.at(0)) - spec::as_real(s.at(1)), {big + 1, big});
  CHECK(e.lower[0] <= 0);
  CHECK(e.upper[0] >= 1);
  // The integer 2^53 + 1 is not the power of two next to it, by which one may scale exactly.
  OfIntegers scaled(1, DType::f32);
  const auto f = scaled.of(spec::as_real(scaled.at(0)) * spec::as_real(spec::integer(big + 1)) - spec::as_real(spec::integer(big)), {1});
  CHECK(f.lower[0] <= 0);
  CHECK(f.upper[0] >= 1);
}

TEST_CASE("integers that hang on a decision are compared as integers", "[sound][bounds]") {
  // 1 - t·x may round to zero.
  Builder b(DType::f32);
  const auto x = b.input("x", {2});
  const auto y = b.s.add_tensor("y", DType::i64, {});
  b.s.outputs.push_back(y);
  const Expr rest = spec::decimal(1) - b.s.at(x, {spec::integer(0)}) * b.s.at(x, {spec::integer(1)});
  b.s.define(y, {}, spec::select(spec::apply(Primitive::gt, {rest, spec::decimal(0)}), spec::integer(big), spec::integer(big + 4)));
  const float step = std::numeric_limits<float>::epsilon();
  const auto bounds = reference::envelopes(b.s, std::vector{HostTensor::of<float>({2}, {1 + step, 1 - step})}, spec::Contract{});
  REQUIRE(bounds.open_decisions == 1);
  const auto passes = [&](std::int64_t got) { return reference::judge(std::vector{integers({}, {got})}, bounds).passed(); };
  CHECK(passes(big));
  CHECK(passes(big + 4));
  CHECK_FALSE(passes(big + 1));
  CHECK_FALSE(passes(big + 5));
}

}  // namespace etalon
