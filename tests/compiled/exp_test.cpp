// The exponential of f32, whose formulas are the backend's own, against that of f64.
#include <catch2/catch.hpp>

#include <bit>

#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

System exponential_of(std::int64_t n) {
  System s;
  const TensorId x = input(s, "x", DType::f32, {n});
  const TensorId y = output(s, "y", DType::f32, {n});
  const auto b = s.bind_all(y);
  s.define(y, b, apply(Primitive::exp, {s.at(x, variables(b))}));
  return s;
}

/// Half of what is between the largest number and the one that would come next.
constexpr double rounds_to_infinity = 0x1.ffffffp127;

struct Found {
  double worst = 0;  ///< units in the last place
  float at = 0;
  std::size_t compared = 0;
  std::size_t wrong_kind = 0;  ///< infinite where the result is a number, or the other way round
};

void compare(Found& found, float x, float got) {
  const double truth = std::exp(static_cast<double>(x));
  ++found.compared;
  if (truth >= rounds_to_infinity) {
    found.wrong_kind += !(got == std::numeric_limits<float>::infinity());
    return;
  }
  found.wrong_kind += !std::isfinite(got);
  const double error = std::abs(got - truth) / std::ldexp(1.0, std::max(truth == 0 ? -149 : std::ilogb(truth) - 23, -149));
  if (error <= found.worst) return;
  found.worst = error;
  found.at = x;
}

/// All finite numbers whose bits are a multiple of `step`, `lanes` at a time: vectors and what is left of them.
Found measure(std::uint32_t step, std::size_t lanes) {
  const auto extent = static_cast<std::int64_t>(lanes);
  const compiled::Executable e = compiled::compile_system(exponential_of(extent), options());
  Found found;
  HostTensor x(DType::f32, {extent});
  std::size_t filled = 0;
  const auto flush = [&] {
    const HostTensor y = e.run(std::vector<HostTensor>{x})[0];
    for (std::size_t i = 0; i < filled; ++i) compare(found, x.view<float>()[i], y.view<float>()[i]);
    filled = 0;
  };
  for (std::uint64_t bits = 0; bits < 0x100000000U; bits += step) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isfinite(value)) continue;
    x.view<float>()[filled++] = value;
    if (filled == lanes) flush();
  }
  flush();
  return found;
}

void check(const Found& found) {
  CAPTURE(found.worst, found.at, found.compared, found.wrong_kind);
  CHECK(found.compared > 100000);
  CHECK(found.wrong_kind == 0);
  CHECK(found.worst <= 0.9);
}

}  // namespace

TEST_CASE("exp of f32 is within nine tenths of a unit", "[compiled][exp]") {
  check(measure(1009, 1 << 16));
  check(measure(30011, 37));
}

TEST_CASE("exp of f32 is within nine tenths of a unit at every number", "[.exhaustive]") {
  const Found found = measure(1, 1 << 20);
  check(found);
  WARN("worst " << found.worst << " at " << std::hexfloat << found.at << ", " << found.compared << " numbers");
}

TEST_CASE("exp of f32 has the same bits in a vector of any length", "[compiled][exp]") {
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i) values.push_back(-110 + 0.1 * i);
  std::size_t compared = 0;
  const HostTensor all = real_tensor(DType::f32, {2000}, values);
  const HostTensor together = compiled_values(exponential_of(2000), {all})[0];
  for (const std::size_t n : {1U, 3U, 8U, 17U, 100U}) {
    const compiled::Executable e = compiled::compile_system(exponential_of(static_cast<std::int64_t>(n)), options());
    HostTensor part(DType::f32, {static_cast<std::int64_t>(n)});
    for (std::size_t begin = 0; begin + n <= 2000; begin += n) {
      for (std::size_t i = 0; i < n; ++i) part.view<float>()[i] = all.view<float>()[begin + i];
      const HostTensor y = e.run(std::vector<HostTensor>{part})[0];
      for (std::size_t i = 0; i < n; ++i, ++compared) {
        REQUIRE(std::bit_cast<std::uint32_t>(y.view<float>()[i]) == std::bit_cast<std::uint32_t>(together.view<float>()[begin + i]));
      }
    }
  }
  CHECK(compared > 9000);
}

TEST_CASE("exp of f32 at the ends", "[compiled][exp]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<double> ends{0.0, -0.0, infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::denorm_min(),
                                 std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(), 0x1.62e42ep6, 0x1.62e43p6, -103, -104};
  for (const bool alone : {false, true}) {
    std::vector<double> y;
    if (!alone) {
      const HostTensor found = compiled_values(exponential_of(12), {real_tensor(DType::f32, {12}, ends)})[0];
      for (std::size_t i = 0; i < ends.size(); ++i) y.push_back(at(found, i));
    } else {
      for (const double end : ends) y.push_back(at(compiled_values(exponential_of(1), {real_tensor(DType::f32, {1}, {end})})[0], 0));
    }
    CHECK(y[0] == 1);
    CHECK(y[1] == 1);
    CHECK(y[2] == infinity);
    CHECK(y[3] == 0);
    CHECK_FALSE(std::signbit(y[3]));
    CHECK(std::isnan(y[4]));
    CHECK(y[5] == 1);
    CHECK(y[6] == infinity);
    CHECK(y[7] == 0);
    CHECK(y[8] < infinity);  // the last number whose power is finite
    CHECK(y[9] == infinity);
    CHECK(y[10] == std::numeric_limits<float>::denorm_min());
    CHECK(y[11] == 0);
  }
}
