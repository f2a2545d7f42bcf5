// The hyperbolic tangent of f32, whose formulas are the backend's own, against that of f64.
#include <catch2/catch.hpp>

#include <bit>

#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

System tangent_of(std::int64_t n) {
  System s;
  const TensorId x = input(s, "x", DType::f32, {n});
  const TensorId y = output(s, "y", DType::f32, {n});
  const auto b = s.bind_all(y);
  s.define(y, b, apply(Primitive::tanh, {s.at(x, variables(b))}));
  return s;
}

/// Units in the last place of f32 between a result and the true one, which is not 0.
double units(float got, double truth) {
  const int exponent = std::max(std::ilogb(truth) - 23, -149);
  return std::abs(got - truth) / std::ldexp(1.0, truth >= 1 ? -24 : exponent);
}

struct Found {
  double worst = 0;
  float at = 0;
  std::size_t compared = 0;
  std::size_t asymmetric = 0;
};

/// All finite positive numbers whose bits are a multiple of `step`, and their opposites.
Found measure(std::uint32_t step) {
  constexpr std::int64_t chunk = 1 << 20;
  const compiled::Executable e = compiled::compile_system(tangent_of(2 * chunk), options());
  Found found;
  HostTensor x(DType::f32, {2 * chunk});
  for (std::uint64_t bits = 1; bits < 0x7f800000U; bits += std::uint64_t{step} * chunk) {
    for (std::uint64_t i = 0; i < chunk; ++i) {
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(std::min<std::uint64_t>(bits + i * step, 0x7f7fffffU)));
      x.view<float>()[i] = value;
      x.view<float>()[chunk + i] = -value;
    }
    const HostTensor y = e.run(std::vector<HostTensor>{x})[0];
    for (std::uint64_t i = 0; i < chunk; ++i) {
      const float value = x.view<float>()[i];
      const float got = y.view<float>()[i];
      found.asymmetric += std::bit_cast<std::uint32_t>(y.view<float>()[chunk + i]) != std::bit_cast<std::uint32_t>(-got);
      ++found.compared;
      const double error = units(got, std::tanh(static_cast<double>(value)));
      if (error <= found.worst) continue;
      found.worst = error;
      found.at = value;
    }
  }
  return found;
}

void check(const Found& found) {
  CAPTURE(found.worst, found.at, found.compared);
  CHECK(found.compared > 100000);
  CHECK(found.asymmetric == 0);
  CHECK(found.worst <= 1);
}

}  // namespace

TEST_CASE("tanh of f32 is within a unit and odd", "[compiled][tanh]") { check(measure(1009)); }

TEST_CASE("tanh of f32 is within a unit at every number", "[.exhaustive]") {
  const Found found = measure(1);
  check(found);
  WARN("worst " << found.worst << " at " << std::hexfloat << found.at << ", " << found.compared << " numbers");
}

TEST_CASE("tanh of f32 at the ends", "[compiled][tanh]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<double> ends{0.0, -0.0, infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::denorm_min(),
                                 std::numeric_limits<float>::max()};
  const HostTensor y = compiled_values(tangent_of(7), {real_tensor(DType::f32, {7}, ends)})[0];
  CHECK(std::bit_cast<std::uint32_t>(y.view<float>()[0]) == 0);
  CHECK(std::bit_cast<std::uint32_t>(y.view<float>()[1]) == 0x80000000U);
  CHECK(at(y, 2) == 1);
  CHECK(at(y, 3) == -1);
  CHECK(std::isnan(at(y, 4)));
  CHECK(y.view<float>()[5] == std::numeric_limits<float>::denorm_min());
  CHECK(at(y, 6) == 1);
}
