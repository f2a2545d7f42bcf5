#include "tools/power/rules.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace etalon::power {
namespace {

// Infinities and NaN are equal to themselves alone, under every rule.
bool same_class(double got, double expected) {
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected);
  return got == expected;
}

bool close(double got, double expected, double relative, double absolute) {
  if (!std::isfinite(got) || !std::isfinite(expected)) return same_class(got, expected);
  return std::fabs(got - expected) <= absolute + relative * std::fabs(expected);
}

bool pytorch(double got, double expected, DType d, bool) {
  return d == DType::f64 ? close(got, expected, 1e-7, 1e-7) : close(got, expected, 1.3e-6, 1e-5);
}

bool jax(double got, double expected, DType d, bool derivative) {
  if (derivative) return d == DType::f64 ? close(got, expected, 1e-5, 1e-5) : close(got, expected, 2e-3, 2e-3);
  return d == DType::f64 ? close(got, expected, 1e-15, 1e-15) : close(got, expected, 1e-6, 1e-6);
}

bool onnx(double got, double expected, DType, bool) { return close(got, expected, 1e-3, 1e-7); }

bool array_api(double got, double expected, DType, bool) {
  if (!std::isfinite(got) || !std::isfinite(expected)) return same_class(got, expected);
  return std::fabs(got - expected) <= std::max(0.25 * std::max(std::fabs(got), std::fabs(expected)), 1.0);
}

// Distance on the line of all numbers of the format, zeros together.
std::int64_t place(double x, DType d) {
  const auto bits = d == DType::f64 ? std::bit_cast<std::int64_t>(x)
                                    : static_cast<std::int64_t>(std::bit_cast<std::int32_t>(static_cast<float>(x)));
  const std::int64_t sign = d == DType::f64 ? INT64_MIN : INT64_C(-2147483648);
  return bits < 0 ? sign - bits : bits;
}

bool stablehlo(double got, double expected, DType d, bool) {
  if (!std::isfinite(got) || !std::isfinite(expected)) return same_class(got, expected);
  const std::int64_t a = place(got, d), b = place(expected, d);
  // Of opposite signs they may be further apart than an integer holds.
  if ((a < 0) != (b < 0)) return a >= -3 && a <= 3 && b >= -3 && b <= 3 && std::abs(a - b) <= 3;
  return std::abs(a - b) <= 3;
}

constexpr std::array<Rule, rule_count> list{
    Rule{"PyTorch", "assert_close: f32 1.3e-6 and 1e-5, f64 1e-7 and 1e-7", pytorch},
    Rule{"JAX", "test utilities: f32 1e-6, f64 1e-15; gradients 2e-3 and 1e-5", jax},
    Rule{"ONNX", "backend tests: 1e-3 and 1e-7", onnx},
    Rule{"array-api-tests", "0.25 or 1", array_api},
    Rule{"StableHLO", "expect_close: 3 ulp", stablehlo},
};

}  // namespace

const std::array<Rule, rule_count>& rules() { return list; }

}  // namespace etalon::power
