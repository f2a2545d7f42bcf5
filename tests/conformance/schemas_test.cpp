// Answers whose tensors follow different schemas, or different decisions.
#include <catch2/catch.hpp>

#include "conformance/admit_schemas.hpp"
#include "conformance/schemas.hpp"
#include "tests/reference/bounds_systems.hpp"
#include "tests/simulator/simulator.hpp"

namespace etalon {
namespace {

using namespace bounds_test;

/// m decides on a number that is nearly 0 and is read four times.
spec::System shared_decision() {
  Builder b(DType::f32);
  const auto x = b.input("x", {});
  const auto m = b.local("m", {});
  const auto y = b.output("y", {});
  const auto z = b.output("z", {});
  const auto w = b.output("w", {});
  const Expr above = spec::apply(Primitive::gt, {b.at(x) * b.at(x), spec::decimal(1) / spec::decimal(3)});
  b.s.define(m, {}, spec::select(above, spec::decimal(1), spec::decimal(2)));
  b.s.define(y, {}, b.at(m));
  b.s.define(z, {}, spec::decimal(3) * b.at(m));
  b.s.define(w, {}, b.at(m) - b.at(m));
  return b.s;
}

/// The same decision, read by more terms than ways of deciding are tried for.
spec::System many_readers() {
  Builder b(DType::f32);
  const auto x = b.input("x", {});
  const auto m = b.local("m", {});
  const auto y = b.output("y", {});
  const Expr above = spec::apply(Primitive::gt, {b.at(x) * b.at(x), spec::decimal(1) / spec::decimal(3)});
  b.s.define(m, {}, spec::select(above, spec::decimal(0), spec::decimal(1)));
  Expr sum = b.at(m);
  for (int n = 1; n < 12; ++n) sum = sum + b.at(m);
  b.s.define(y, {}, sum);
  return b.s;
}

bool admitted(const spec::System& system, const std::vector<HostTensor>& inputs, const std::vector<HostTensor>& got,
              bool anew) {
  const spec::Contract contract;
  auto bounds = reference::envelopes(system, inputs, contract);
  std::vector<conformance::Schema> schemas;
  if (anew) schemas.push_back({reference::with_recomputed_elements(system), inputs});
  conformance::admit_schemas(bounds, got, schemas, {}, contract);
  return reference::judge(got, bounds).passed();
}

}  // namespace

TEST_CASE("readers that compute an element anew decide on it anew", "[schemas]") {
  const spec::System system = shared_decision();
  const std::vector inputs{HostTensor::of({}, std::vector<float>{0x1.279a74p-1F})};
  const auto admits = [&](float y, float z, float w, bool anew) {
    std::vector<HostTensor> got;
    for (const float value : {y, z, w}) got.push_back(HostTensor::of({}, std::vector<float>{value}));
    return admitted(system, inputs, got, anew);
  };
  for (const bool anew : {false, true}) {
    CHECK(admits(1, 3, 0, anew));
    CHECK(admits(2, 6, 0, anew));
    CHECK_FALSE(admits(1, 3, 0.5F, anew));
    CHECK_FALSE(admits(1, 4, 0, anew));
  }
  // Each tensor might be, but not all of them.
  CHECK_FALSE(admits(1, 6, 0, false));
  CHECK(admits(1, 6, 0, true));
  // One tensor follows the schema, which has other decisions than the other two.
  CHECK_FALSE(admits(1, 3, 1, false));
  CHECK(admits(1, 3, 1, true));
  CHECK(admits(2, 3, -1, true));
}

TEST_CASE("a schema that hangs on too many decisions convicts nobody", "[sound][schemas]") {
  const spec::System system = many_readers();
  const std::vector inputs{HostTensor::of({}, std::vector<float>{0x1.279a74p-1F})};
  const auto admits = [&](float y, bool anew) { return admitted(system, inputs, {HostTensor::of({}, std::vector<float>{y})}, anew); };
  for (const float y : {0.0F, 12.0F}) CHECK(admits(y, false));
  CHECK_FALSE(admits(5, false));
  for (const float y : {0.0F, 5.0F, 12.0F}) CHECK(admits(y, true));
}

}  // namespace etalon
