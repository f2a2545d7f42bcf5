// Derivatives along one tangent at a time.
#include "conformance/along_tangents.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "conformance/admit_schemas.hpp"
#include "conformance/schemas.hpp"
#include "spec/library/library.hpp"

using namespace etalon;

namespace {

const std::string gap = "gap(x[n], t[n]) -> y[n]\n  y[i] = (x[i] - t[i])*(x[i] - t[i])/3\n";

HostTensor one(float value) { return HostTensor::of<float>(Dims{1}, {value}); }

/// One element each at x and t, moving by dx and dt.
conformance::Case moving(float x, float t, float dx, float dt) {
  conformance::Case c;
  c.key = {"gap", conformance::Check::jvp, DType::f32, 0, 1, spec::Library().with(gap)};
  c.mode = spec::Mode::jvp;
  c.call.operation = "gap";
  c.call.operands = {spec::ValueType{DType::f32, Dims{1}}, spec::ValueType{DType::f32, Dims{1}}};
  c.operands = {one(x), one(t)};
  c.wrt = {true, true};
  c.tangents = {one(dx), one(dt)};
  return c;
}

bool admitted(const conformance::Case& c, float y, float derivative) {
  const std::vector<conformance::Schema> schemas = conformance::other_schemas(c, c.mode);
  auto bounds = reference::envelopes(schemas.back().system, schemas.back().inputs, spec::Contract{});
  const std::vector got{one(y), one(derivative)};
  conformance::admit_schemas(bounds, got, schemas, {}, spec::Contract{});
  return reference::judge(got, bounds).passed();
}

}  // namespace

TEST_CASE("tangents may be multiplied apart and added", "[schemas]") {
  // The slope at -5 is -10/3, an inexact number; the tangents cancel.
  const float dx = 0.9508001F, dt = 0.9508F, slope = -10.0F / 3;
  const conformance::Case c = moving(0, 5, dx, dt);
  const float together = slope * (dx - dt), apart = slope * dx + -(slope * dt);
  REQUIRE(together != apart);
  CHECK(admitted(c, 25.0F / 3, together));
  CHECK(admitted(c, 25.0F / 3, apart));
  CHECK_FALSE(admitted(c, 25.0F / 3, apart + 4e-6F));
  CHECK_FALSE(admitted(c, 25.0F / 3, apart - 4e-6F));
  CHECK_FALSE(admitted(c, 25.0F / 3, std::nanf("")));
  // One tangent is no reason for another bound.
  const conformance::Case alone = moving(0, 5, dx, 0);
  CHECK(admitted(alone, 25.0F / 3, slope * dx));
  CHECK_FALSE(admitted(alone, 25.0F / 3, slope * dx + 4e-6F));
}

TEST_CASE("the sums of directions hold every order of their additions", "[schemas]") {
  const conformance::Case c = moving(0, 5, 1, -1);
  const conformance::Schema schema = conformance::other_schemas(c, c.mode).back();
  REQUIRE(conformance::has_directions(schema));
  const auto whole = reference::envelopes(schema.system, schema.inputs, spec::Contract{});
  const auto sums = conformance::along_directions(schema, whole, spec::Contract{});
  CHECK(sums.outputs[0].lower == whole.outputs[0].lower);
  CHECK(sums.outputs[0].upper == whole.outputs[0].upper);
  // Two terms of -10/3, each within a few roundings of 2^-24, and one addition more.
  const double exact = -20.0 / 3;
  CHECK(sums.outputs[1].lower[0] < whole.outputs[1].lower[0]);
  CHECK(sums.outputs[1].upper[0] > whole.outputs[1].upper[0]);
  CHECK(sums.outputs[1].upper[0] - sums.outputs[1].lower[0] < 16 * 0x1p-24 * -exact);
  CHECK(sums.outputs[1].lower[0] <= exact * (1 + 0x1p-24));
  CHECK(sums.outputs[1].upper[0] >= exact * (1 - 0x1p-24));
}
