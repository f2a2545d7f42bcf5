#include "reference/host.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "reference/number.hpp"

namespace {

using namespace etalon;
using reference::Array;
using reference::Rational;
using reference::Real100;
using reference::Real50;

template <class T>
HostTensor rounded(const T& v, DType dtype) {
  return reference::to_host(Array<T>::of_reals({}, {v}), dtype);
}
Rational two_to(int e) {
  const Rational p(boost::multiprecision::cpp_int(1) << static_cast<unsigned>(std::abs(e)));
  return e < 0 ? Rational(1) / p : p;
}
std::uint16_t bits16(const HostTensor& t) { return t.view<std::uint16_t>()[0]; }

}  // namespace

TEST_CASE("rounding to f32 is to nearest, ties to even", "[host]") {
  const auto f32 = [](const Rational& v) { return rounded(v, DType::f32).view<float>()[0]; };
  REQUIRE(f32(1 + two_to(-24)) == 1.0F);
  REQUIRE(f32(1 + two_to(-24) + two_to(-90)) == std::nextafter(1.0F, 2.0F));
  REQUIRE(f32(1 + 3 * two_to(-24)) == 1.0F + std::ldexp(1.0F, -22));
  REQUIRE(f32(two_to(-150)) == 0.0F);
  REQUIRE(f32(two_to(-150) + two_to(-200)) == std::ldexp(1.0F, -149));
  REQUIRE(f32(two_to(128) - two_to(103)) == std::numeric_limits<float>::infinity());
  REQUIRE(f32(two_to(128) - two_to(103) - two_to(50)) == std::numeric_limits<float>::max());
  REQUIRE(f32(-two_to(200)) == -std::numeric_limits<float>::infinity());
}

TEST_CASE("wide numbers round once, not through double", "[host]") {
  // 1 + 2^-24 + 2^-60 would become the tie 1 + 2^-24 in double and then 1 in float.
  Real50 v(1);
  v += ldexp(Real50(1), -24);
  v += ldexp(Real50(1), -60);
  REQUIRE(rounded(v, DType::f32).view<float>()[0] == std::nextafter(1.0F, 2.0F));
  REQUIRE(rounded(ldexp(Real100(3), -1075), DType::f64).view<double>()[0] == std::ldexp(1.0, -1073));
  REQUIRE(rounded(ldexp(Real50(1), 5000), DType::f64).view<double>()[0] == std::numeric_limits<double>::infinity());
  REQUIRE(rounded(ldexp(Real50(-1), -5000), DType::f64).view<double>()[0] == 0);
  REQUIRE(std::signbit(rounded(ldexp(Real50(-1), -5000), DType::f64).view<double>()[0]));
  REQUIRE(std::isnan(rounded(std::numeric_limits<Real50>::quiet_NaN(), DType::f32).view<float>()[0]));
}

TEST_CASE("half and bfloat16 have the bits of their standards", "[host]") {
  REQUIRE(bits16(rounded(1.0, DType::f16)) == 0x3c00);
  REQUIRE(bits16(rounded(-2.0, DType::f16)) == 0xc000);
  REQUIRE(bits16(rounded(65504.0, DType::f16)) == 0x7bff);
  REQUIRE(bits16(rounded(65520.0, DType::f16)) == 0x7c00);
  REQUIRE(bits16(rounded(std::ldexp(1.0, -24), DType::f16)) == 0x0001);
  REQUIRE(bits16(rounded(std::ldexp(1.0, -14), DType::f16)) == 0x0400);
  REQUIRE(bits16(rounded(1.0 / 3.0, DType::f16)) == 0x3555);
  REQUIRE(bits16(rounded(1.0, DType::bf16)) == 0x3f80);
  REQUIRE(bits16(rounded(3.140625, DType::bf16)) == 0x4049);
  REQUIRE(bits16(rounded(-0.0, DType::bf16)) == 0x8000);
}

TEST_CASE("every half comes back as itself", "[host]") {
  std::size_t compared = 0;
  for (const DType dtype : {DType::f16, DType::bf16}) {
    HostTensor all(dtype, {65536});
    for (std::size_t i = 0; i < 65536; ++i) all.view<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
    const HostTensor back = reference::to_host(reference::from_host<double>(all), dtype);
    for (std::size_t i = 0; i < 65536; ++i) {
      const std::uint16_t was = all.view<std::uint16_t>()[i];
      const bool is_nan = dtype == DType::f16 ? (was & 0x7fffU) > 0x7c00U : (was & 0x7fffU) > 0x7f80U;
      if (is_nan) continue;
      ++compared;
      if (back.view<std::uint16_t>()[i] != was) FAIL("value " << was << " changed");
    }
  }
  REQUIRE(compared == 2 * 65536 - 2 * 1023 - 2 * 127);
}

TEST_CASE("integers and booleans pass through", "[host]") {
  const HostTensor i = HostTensor::of<std::int64_t>({2}, {-5, std::numeric_limits<std::int64_t>::max()});
  REQUIRE(reference::to_host(reference::from_host<Real50>(i), DType::i64) == i);
  const HostTensor b = HostTensor::of<bool>({3}, {true, false, true});
  REQUIRE(reference::to_host(reference::from_host<double>(b), DType::boolean) == b);
}
