// Subnormal operands and directions are asked for on purpose, beside ordinary numbers.
#include <catch2/catch.hpp>

#include <cmath>

#include "conformance/values.hpp"
#include "tests/conformance/drawn_case.hpp"

using namespace etalon;
using conformance::Check;
using conformance_test::drawn;

namespace {

// 0 and subnormal numbers alone, and one that is not 0.
bool is_faint(const HostTensor& t) {
  const double normal = t.dtype == DType::f64 ? 0x1p-1022 : 0x1p-126;
  bool found = false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
    const double x = std::fabs(conformance::element(t, i));
    if (x >= normal) return false;
    found = found || x > 0;
  }
  return found;
}

std::size_t count_faint(const std::vector<std::optional<HostTensor>>& tensors) {
  std::size_t count = 0;
  for (const auto& t : tensors) count += t && is_faint(*t) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("directions of some cases are subnormal along ordinary operands", "[generation]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const char* operation : {"mul", "softmax", "matmul"}) {
      std::size_t forward = 0, reverse = 0;
      for (std::uint64_t index = 0; index < 21; ++index) {
        const auto jvp = drawn(operation, Check::jvp, index, dtype), vjp = drawn(operation, Check::vjp, index, dtype);
        if (jvp && count_faint(jvp->operands) == 0 && count_faint(jvp->tangents) > 0) ++forward;
        if (vjp && count_faint(vjp->operands) == 0 && count_faint(vjp->cotangents) > 0) ++reverse;
      }
      INFO(operation);
      CHECK(forward >= 3);
      CHECK(reverse >= 3);
    }
  }
}

TEST_CASE("what stands beside subnormal numbers is so large in some cases that products are ordinary", "[generation]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const double vast = dtype == DType::f64 ? 0x1p900 : 0x1p80;
    const auto is_vast = [&](const std::optional<HostTensor>& t) {
      bool found = false;
      for (std::size_t i = 0; t && i < static_cast<std::size_t>(t->dims.count()); ++i) {
        const double x = conformance::element(*t, i);
        if (!std::isfinite(x)) return false;
        found = found || std::fabs(x) > vast;
      }
      return found;
    };
    std::size_t values = 0, tangents = 0, cotangents = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const auto value = drawn("mul", Check::value, 18, dtype, seed), jvp = drawn("mul", Check::jvp, 13, dtype, seed), vjp = drawn("mul", Check::vjp, 13, dtype, seed);
      if (value && count_faint(value->operands) == 1 && (is_vast(value->operands[0]) || is_vast(value->operands[1]))) ++values;
      if (jvp && count_faint(jvp->operands) > 0 && (is_vast(jvp->tangents[0]) || is_vast(jvp->tangents[1]))) ++tangents;
      if (vjp && count_faint(vjp->operands) > 0 && is_vast(vjp->cotangents[0])) ++cotangents;
    }
    CHECK(values >= 1);
    CHECK(tangents >= 2);
    CHECK(cotangents >= 4);
  }
}

TEST_CASE("layouts, and what has an instance for itself, have numbers that differ", "[generation]") {
  std::size_t count = 0;
  const auto differs = [&](const std::optional<HostTensor>& t) {
    std::size_t equal = 0;
    for (std::size_t i = 1; t && i < static_cast<std::size_t>(t->dims.count()); ++i) {
      ++count;
      equal += conformance::element(*t, i) == conformance::element(*t, i - 1) ? 1 : 0;
    }
    return equal == 0;
  };
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto layout = drawn("mul", Check::layout, 0, DType::f32, seed), alone = drawn("matmul", Check::vjp, 20, DType::f32, seed);
    REQUIRE((layout && alone));
    CHECK(differs(layout->operands[0]));  // of others, some have one element for all along an axis
    CHECK(differs(alone->operands[0]));
    CHECK(differs(alone->operands[1]));
    CHECK(differs(alone->cotangents[0]));
  }
  CHECK(count >= 100);
}

TEST_CASE("of several operands some are subnormal and others not, and tangents are as small as their operands", "[generation]") {
  std::size_t values = 0, tangents = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (const std::uint64_t index : {std::uint64_t{12}, std::uint64_t{18}}) {
      const auto c = drawn("mul", Check::value, index, DType::f32, seed);
      if (c && count_faint(c->operands) == 1) ++values;
    }
    for (const std::uint64_t index : {std::uint64_t{9}, std::uint64_t{16}}) {
      const auto c = drawn("mul", Check::jvp, index, DType::f32, seed);
      if (c && count_faint(c->operands) == 1 && count_faint(c->tangents) == 1) ++tangents;
    }
  }
  CHECK(values >= 4);
  CHECK(tangents >= 3);
}
