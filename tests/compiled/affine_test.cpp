// Indices that reshapes leave behind are element numbers again.
#include <catch2/catch.hpp>

#include "compiled/ir/affine.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

Expr quotient(const Expr& e, std::int64_t by) { return spec::apply(Primitive::floor_div, {e, spec::integer(by)}); }
Expr remainder(const Expr& e, std::int64_t by) { return spec::apply(Primitive::modulo, {e, spec::integer(by)}); }

/// The number of the element of a tensor of extents `dims` at these indices.
compiled::loops::Affine number_at(const Dims& dims, const std::vector<Expr>& indices) { return compiled::loops::element_number(indices, dims); }

}  // namespace

TEST_CASE("the digits of a number are the number", "[compiled][affine]") {
  System s;
  const Binder binder = s.bind("i", 1568);
  const Expr i = variable(binder);
  for (const auto& digits : {std::vector{quotient(i, 49), remainder(quotient(i, 7), 7), remainder(i, 7)},
                             std::vector{quotient(i, 49), remainder(quotient(remainder(i, 49), 7), 7), remainder(i, 7)}}) {
    const compiled::loops::Affine number = number_at({32, 7, 7}, digits);
    if (digits[1]->args[0]->args[0] == i) {
      CHECK(number.opaque.empty());
      CHECK(number.coefficient(binder.variable) == 1);
    } else {
      // The middle digit is written so that it is no digit of i itself; nothing is claimed.
      CHECK(!number.opaque.empty());
    }
  }
}

TEST_CASE("digits of other systems stay as they are", "[compiled][affine]") {
  System s;
  const Expr i = variable(s.bind("i", 1568));
  // 48 is not 7 · 7.
  CHECK(number_at({33, 7, 7}, {quotient(i, 48), remainder(quotient(i, 7), 7), remainder(i, 7)}).opaque.size() == 3);
  // The first two are i // 7, and a digit that counts to 8 does not go on from there.
  CHECK(number_at({32, 7, 8}, {quotient(i, 49), remainder(quotient(i, 7), 7), remainder(i, 8)}).opaque.size() == 2);
}

TEST_CASE("terms that leave 64 bits on the way to an index that fits wrap", "[compiled][affine]") {
  System s;
  const Binder binder = s.bind("i", 5);
  const Expr i = variable(binder);
  constexpr std::int64_t far = std::int64_t{1} << 62;
  const auto there = number_at({7, 5}, {spec::integer(1), i + spec::integer(far) - spec::integer(far)});
  CHECK(there.constant == 5);
  CHECK(there.coefficient(binder.variable) == 1);
  const auto scaled = number_at({7, 4}, {spec::integer(far) * i - spec::integer(far) * i + spec::integer(2), spec::integer(far)});
  CHECK(scaled.constant == 8 + far);
  CHECK(scaled.variables.empty());
  const auto wrapped = number_at({7, 4}, {spec::integer(far) * i, i});
  CHECK(wrapped.coefficient(binder.variable) == 1);
}
