// The statistical tier warns of operands and sums of low precision that no hard bound can convict, and of nothing else.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/simulator/simulator.hpp"
#include "bounds_systems.hpp"
#include "reference/bounds/envelope.hpp"

namespace etalon {
namespace {

using namespace bounds_test;

constexpr std::int64_t rows = 16;
constexpr std::int64_t depth = 4096;
constexpr std::int64_t columns = 4;

enum class Family { normal, positive };

std::vector<float> drawn(std::mt19937& random, std::int64_t count, Family family) {
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> positive(0.5F, 1.5F);
  std::vector<float> x;
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(family == Family::normal ? normal(random) : positive(random));
  }
  return x;
}

/// Ties to even.
double rounded_to(double x, int bits) {
  if (x == 0) return 0;
  int exponent = 0;
  const double m = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(m, bits)), exponent - bits);
}

/// A product of matrices whose operands and whose sums have this many bits, stored in f32.
HostTensor product(const std::vector<float>& a, const std::vector<float>& w, int operand_bits, int sum_bits) {
  std::vector<float> y;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        const double p = rounded_to(a[static_cast<std::size_t>(i * depth + k)], operand_bits) *
                         rounded_to(w[static_cast<std::size_t>(k * columns + j)], operand_bits);
        sum = rounded_to(sum + p, sum_bits);
      }
      y.push_back(static_cast<float>(sum));
    }
  }
  return HostTensor::of(Dims{rows, columns}, y);
}

struct Drawn {
  std::vector<float> a, w;
  std::vector<HostTensor> inputs;
};

Drawn operands(Family family) {
  std::mt19937 random(7);
  Drawn d{drawn(random, rows * depth, family), drawn(random, depth * columns, family), {}};
  d.inputs = {HostTensor::of(Dims{rows, depth}, d.a), HostTensor::of(Dims{depth, columns}, d.w)};
  return d;
}

}  // namespace

TEST_CASE("operands of eleven bits in long products of normal numbers warn where the bound cannot convict",
          "[bounds][statistical]") {
  const auto system = matmul_system(DType::f32, rows, depth, columns);
  const Drawn d = operands(Family::normal);
  const auto bounds = reference::envelopes(system, d.inputs, spec::Contract{});
  const auto tf32 = reference::judge(product(d.a, d.w, 11, 53), bounds.outputs[0]);
  CHECK(tf32.passed());
  CHECK(tf32.statistic.elements == rows * columns);
  CHECK(tf32.statistic.rms() > 1);
  const auto sound = reference::judge(product(d.a, d.w, 24, 24), bounds.outputs[0]);
  CHECK(sound.passed());
  CHECK(sound.statistic.elements == rows * columns);
  CHECK(sound.statistic.rms() > 0);
  CHECK_FALSE(sound.statistic.rms() > 1);
}

TEST_CASE("sums one after the other of numbers of one sign do not warn, sums of sixteen bits do", "[bounds][statistical]") {
  const auto system = matmul_system(DType::f32, rows, depth, columns);
  const Drawn d = operands(Family::positive);
  const auto bounds = reference::envelopes(system, d.inputs, spec::Contract{});
  const auto sequential = reference::judge(product(d.a, d.w, 24, 24), bounds.outputs[0]);
  CHECK(sequential.statistic.elements == rows * columns);
  CHECK(sequential.passed());
  CHECK_FALSE(sequential.statistic.rms() > 1);
  const auto narrow = reference::judge(product(d.a, d.w, 24, 16), bounds.outputs[0]);
  CHECK(narrow.statistic.rms() > 1);
}

TEST_CASE("conforming evaluators do not warn", "[bounds][statistical]") {
  const spec::Contract contract;
  reference::Statistic all;
  for (const Family family : {Family::normal, Family::positive}) {
    std::mt19937 random(11);
    const std::vector inputs{HostTensor::of(Dims{4, 512}, drawn(random, 4 * 512, family))};
    const auto system = softmax_system(DType::f32, 4, 512);
    const auto bounds = reference::envelopes(system, inputs, contract);
    for (unsigned run = 0; run < 10; ++run) {
      const auto got = Simulator<float>(system, inputs, contract, run).run();
      const auto verdict = reference::judge(got, bounds);
      REQUIRE(verdict.passed());
      all.add(verdict.statistic);
    }
  }
  CHECK(all.elements > 10000);
  CHECK_FALSE(all.rms() > 1);
}

TEST_CASE("short sums leave nothing to statistics", "[bounds][statistical]") {
  std::mt19937 random(3);
  const std::vector inputs{HostTensor::of(Dims{8}, drawn(random, 8, Family::normal))};
  const auto bounds = reference::envelopes(sum_system(DType::f32, 8), inputs, spec::Contract{});
  CHECK(bounds.outputs[0].lower[0] < bounds.outputs[0].upper[0]);
  CHECK(std::isinf(bounds.outputs[0].deviation[0]));
}

}  // namespace etalon
