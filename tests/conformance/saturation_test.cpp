#include "conformance/saturation.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "spec/notation/elaborate.hpp"
#include "spec/notation/parse.hpp"

using namespace etalon;
using conformance::Family;

namespace {

bool saturates(std::string_view text) {
  const spec::Definition d = spec::parse(text);
  const spec::ValueType type{DType::f32, {2}};
  const std::vector<std::optional<spec::ValueType>> operands(d.operand_count, type);
  return conformance::saturates(spec::instantiate(d, operands, {}, spec::Attributes{}).system);
}

}  // namespace

TEST_CASE("what saturates is told from the form of the equations", "[generation]") {
  CHECK(saturates("f(a[n], b[n]) -> y[n]\n y[i] = tanh(a[i]*b[i])"));
  CHECK(saturates("f(a[n], b[n]) -> y[n]\n s = sum[k] a[k]*b[k]\n y[i] = exp(s)"));
  CHECK(!saturates("f(a[n], b[n]) -> y[n]\n y[i] = exp(2*a[i] - b[i])"));
  CHECK(!saturates("f(a[n], b[n]) -> y[n]\n y[i] = a[i]*exp(b[i])"));
}

TEST_CASE("tempered operands are wide at most once, but for some cases", "[generation]") {
  int tempered = 0;
  int untouched = 0;
  for (std::uint64_t index = 0; index < 200; ++index) {
    conformance::Draw draw(index);
    std::vector<Family> families(4, Family::large);
    conformance::temper(families, draw);
    const auto wide = std::count(families.begin(), families.end(), Family::large);
    CHECK((wide == 1 || wide == 4));
    (wide == 1 ? tempered : untouched) += 1;
  }
  CHECK(tempered > 150);
  CHECK(untouched > 5);
}
