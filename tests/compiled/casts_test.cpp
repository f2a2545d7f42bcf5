// Casts at the ends of the integers, on every backend: what a number becomes is worked out here.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiled/runtime/backend.hpp"
#include "compiled/runtime/c_backend.hpp"
#include "reference/backend.hpp"
#include "spec/half.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

using Backends = std::vector<std::pair<std::string, std::unique_ptr<spec::Backend>>>;

Backends backends() {
  Backends all;
  all.emplace_back("reference", reference::make_reference_backend());
  all.emplace_back("cpu", compiled::make_cpu_backend());
  all.emplace_back("cpu-c", compiled::source::make_c_backend());
  return all;
}

HostTensor cast(spec::Backend& backend, const HostTensor& x, DType to) {
  spec::Request request;
  request.program = spec::parse_program("input x : " + std::string(name_of(x.dtype)) + "[" + std::to_string(x.dims[0]) +
                                        "]\ny = cast(x) {dtype = " + std::string(name_of(to)) + "}\noutput y\n");
  request.inputs = {x};
  const spec::Answer answer = backend.run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) FAIL(refusal->why);
  return std::get<spec::Numbers>(answer).outputs.at(0);
}

/// Around 0, the ends of 8 to 64 bits, their neighbours and halves, the ends of the formats, infinities and NaN.
std::vector<double> edges() {
  std::vector<double> all{0.0, 0.5, 1, 1.5, 2.5, 65504, 1e30, 3e38, 1e300, inf, std::nan("")};
  for (const int bits : {7, 8, 15, 16, 31, 32, 52, 53, 62, 63, 64}) {
    const double end = std::ldexp(1, bits);
    for (const double v : {end - 1, end - 0.5, end, end + 0.5, end + 1, std::nextafter(end, 0), std::nextafter(end, inf),
                           static_cast<double>(std::nextafterf(static_cast<float>(end), 0.0F))}) all.push_back(v);
  }
  const std::size_t positive = all.size();
  for (std::size_t i = 0; i < positive; ++i) all.push_back(-all[i]);
  return all;
}

template <class Integer>
std::int64_t saturated(double x) {
  const double end = std::ldexp(1, std::numeric_limits<Integer>::digits);
  if (std::isnan(x)) return 0;
  if (x >= end) return std::numeric_limits<Integer>::max();
  return x <= -end ? std::numeric_limits<Integer>::min() : static_cast<std::int64_t>(x);
}

std::int64_t wanted(double x, DType to) {
  if (to == DType::boolean) return x != 0 ? 1 : 0;
  return to == DType::i32 ? saturated<std::int32_t>(x) : saturated<std::int64_t>(x);
}

std::int64_t integer_at(const HostTensor& t, std::size_t i) {
  switch (t.dtype) {
    case DType::i32: return t.view<std::int32_t>()[i];
    case DType::i64: return t.view<std::int64_t>()[i];
    default: return t.view<std::uint8_t>()[i];
  }
}

}  // namespace

TEST_CASE("a real becomes the nearest end of the integer type that is asked for", "[sound][compiled][casts]") {
  std::size_t compared = 0;
  for (const auto& [name, backend] : backends()) {
    for (const DType from : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      const std::vector<double> values = edges();
      const HostTensor x = real_tensor(from, {static_cast<std::int64_t>(values.size())}, values);
      for (const DType to : {DType::i32, DType::i64, DType::boolean}) {
        const HostTensor y = cast(*backend, x, to);
        REQUIRE(y.dtype == to);
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double held = at(x, i);  // what the format holds of it
          INFO(name << ": " << held << " of " << name_of(from) << " as " << name_of(to) << " is " << integer_at(y, i));
          CHECK(integer_at(y, i) == wanted(held, to));
          ++compared;
        }
      }
    }
  }
  CHECK(compared > 3 * 4 * 3 * 190);
}

TEST_CASE("a longer integer becomes its low bits", "[sound][compiled][casts]") {
  std::vector<std::int64_t> values{0, 1, -1, INT64_MAX, INT64_MIN};
  for (const int bits : {31, 32, 33, 62}) {
    for (std::int64_t off = -1; off <= 1; ++off) {
      values.push_back((std::int64_t{1} << bits) + off);
      values.push_back(-(std::int64_t{1} << bits) + off);
    }
  }
  const HostTensor x = HostTensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
  for (const auto& [name, backend] : backends()) {
    const HostTensor y = cast(*backend, x, DType::i32);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int64_t low = values[i] & 0xFFFFFFFF;
      if (low >= 0x80000000) low -= 0x100000000;
      INFO(name << ": " << values[i]);
      CHECK(y.view<std::int32_t>()[i] == low);
    }
  }
}

namespace {

/// Around ties of formats with these many bits, where one unit decides: what a double in between would lose.
std::vector<std::int64_t> beside_ties() {
  std::vector<std::int64_t> all;
  for (const int precision : {8, 11, 24, 53}) {
    for (int top = precision; top < 63; ++top) {
      const std::int64_t half = std::int64_t{1} << (top - precision);
      for (const std::int64_t odd : {1, 3, 5}) {
        for (const std::int64_t off : {-1, 0, 1}) {
          const std::int64_t value = (std::int64_t{1} << top) + odd * half + off;
          all.push_back(value);
          all.push_back(-value);
        }
      }
    }
  }
  return all;
}

/// Rounded to so many bits, ties to even; the 64 bits of a long double hold every integer.
double to_precision(std::int64_t value, int bits) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const auto x = static_cast<long double>(value);
  int exponent = 0;
  const long double fraction = std::frexp(x, &exponent);
  return static_cast<double>(std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits));
}

}  // namespace

TEST_CASE("an integer becomes a real by one rounding", "[sound][compiled][casts]") {
  const std::vector<std::int64_t> values = beside_ties();
  const HostTensor x = HostTensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
  std::size_t compared = 0;
  for (const auto& [name, backend] : backends()) {
    for (const auto& [to, bits] : {std::pair(DType::bf16, 8), std::pair(DType::f16, 11), std::pair(DType::f32, 24), std::pair(DType::f64, 53)}) {
      const HostTensor y = cast(*backend, x, to);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double exact = to_precision(values[i], bits);
        const double wanted = to == DType::f16 && std::abs(exact) > 65504 ? std::copysign(inf, exact) : exact;
        INFO(name << ": " << values[i] << " as " << name_of(to));
        CHECK(at(y, i) == wanted);
        ++compared;
      }
    }
  }
  CHECK(compared > 3 * 4 * 1500);
}
