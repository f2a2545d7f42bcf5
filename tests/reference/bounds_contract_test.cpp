// Each field of a contract admits what it names, and without it the same number is outside.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "bounds_judged.hpp"
#include "bounds_systems.hpp"
#include "spec/half.hpp"

namespace etalon {
namespace {

using namespace bounds_test;

HostTensor half(DType dtype, const Dims& dims, const std::vector<double>& values) {
  HostTensor t(dtype, dims);
  for (std::size_t i = 0; i < values.size(); ++i) t.view<std::uint16_t>()[i] = spec::nearest_half(values[i], dtype);
  return t;
}

bool admits(const spec::System& s, const std::vector<HostTensor>& inputs, const HostTensor& got, const spec::Contract& contract) {
  const auto verdict = reference::judge(got, reference::envelopes(s, inputs, contract).outputs[0]);
  CHECK(verdict.comparisons > 0);
  return verdict.passed() && verdict.undecided == 0;
}

/// y[] = reduction[k] x[k].
spec::System reduction(spec::Reduction r, std::int64_t n) {
  Builder b(DType::f32);
  const auto x = b.input("x", {n});
  const auto y = b.output("y", {});
  const auto k = b.bind(n);
  b.s.define(y, {}, spec::reduce(r, {k}, spec::boolean(true), b.at(x, k)));
  return b.s;
}

/// The sum of the terms in the declared tree: lane by lane, block by block, then pairwise.
float added(const std::vector<float>& x, const spec::SumTree& tree) {
  const auto joined = [](std::vector<float> parts) {
    while (parts.size() > 1) {
      std::vector<float> next;
      for (std::size_t i = 0; i + 1 < parts.size(); i += 2) next.push_back(parts[i] + parts[i + 1]);
      if (parts.size() % 2 == 1) next.push_back(parts.back());
      parts = next;
    }
    return parts.empty() ? 0 : parts[0];
  };
  std::vector<float> lanes;
  for (std::int64_t l = 0; l < tree.lanes; ++l) {
    std::vector<float> blocks;
    std::int64_t taken = 0;
    for (auto i = static_cast<std::size_t>(l); i < x.size(); i += static_cast<std::size_t>(tree.lanes), ++taken) {
      if (blocks.empty() || (tree.block && taken % *tree.block == 0)) blocks.push_back(x[i]);
      else blocks.back() += x[i];
    }
    if (!blocks.empty()) lanes.push_back(joined(blocks));
  }
  return joined(lanes);
}

}  // namespace

TEST_CASE("a declared tree admits its own sums and no sequence", "[bounds][contract]") {
  // Each small term is lost when it is added to 1, so a sequence loses them all.
  constexpr std::int64_t n = 4096;
  std::vector<float> x(n, 0x0.fffffep-24F);
  x[0] = 1;
  const auto system = sum_system(DType::f32, n);
  const std::vector inputs{f32({n}, x)};
  for (const spec::SumTree& tree : {spec::SumTree{64, 1}, spec::SumTree{std::nullopt, 32}, spec::SumTree{8, 8}}) {
    spec::Contract contract;
    contract.sums = tree;
    INFO("lanes " << tree.lanes << ", block " << tree.block.value_or(0));
    CHECK(admits(system, inputs, f32({}, {added(x, tree)}), contract));
    CHECK(admits(system, inputs, f32({}, {1}), spec::Contract{}));
    CHECK_FALSE(admits(system, inputs, f32({}, {1}), contract));
    // Sums of products are promised by another field.
    contract.contractions = std::exchange(contract.sums, {});
    CHECK(admits(system, inputs, f32({}, {1}), contract));
  }
}

TEST_CASE("zeros do not lower a declared tree", "[bounds][contract]") {
  // All terms of one block and one of each other block: higher than the tree of the nonzero terms alone would be.
  constexpr std::int64_t block = 16, n = 4096;
  const spec::SumTree tree{block, 1};
  std::vector<float> x(n, 0.0F);
  x[0] = 1;
  for (std::size_t i = 1; i < block; ++i) x[i] = 0x0.fffffep-24F;
  for (std::size_t i = block; i < n; i *= 2) x[i] = 0x0.fffffep-24F;
  spec::Contract contract;
  contract.sums = tree;
  CHECK(admits(sum_system(DType::f32, n), {f32({n}, x)}, f32({}, {added(x, tree)}), contract));
  CHECK(added(x, tree) == 1);
}

TEST_CASE("nested sums may be added as the text groups them", "[bounds][contract]") {
  // A row that is a sum of its own has the height of its own tree.
  constexpr std::int64_t rows = 64, columns = 64;
  Builder b(DType::f32);
  const auto x = b.input("x", {rows, columns});
  const auto y = b.output("y", {});
  const auto i = b.bind(rows), j = b.bind(columns);
  b.s.define(y, {}, Builder::sum(i, Builder::sum(j, b.s.at(x, spec::variables({i, j})))));
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(0.5F, 1);
  const spec::SumTree tree{16, 1};
  spec::Contract contract;
  contract.sums = tree;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<float> all, sums;
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<float> row;
      for (std::int64_t c = 0; c < columns; ++c) row.push_back(uniform(random) * (c == 0 && r == 0 ? 0x1p20F : 1));
      sums.push_back(added(row, tree));
      all.insert(all.end(), row.begin(), row.end());
    }
    CHECK(admits(b.s, {f32({rows, columns}, all)}, f32({}, {added(sums, tree)}), contract));
    CHECK(admits(b.s, {f32({rows, columns}, all)}, f32({}, {added(all, tree)}), contract));
  }
}

TEST_CASE("a sum whose terms data choose has no declared tree", "[bounds][contract]") {
  constexpr std::int64_t n = 4096;
  Builder b(DType::f32);
  const auto x = b.input("x", {n});
  const auto at = b.integers("at", {n});
  const auto y = b.output("y", {});
  const auto k = b.bind(n);
  const Expr hit = spec::apply(Primitive::eq, {b.s.at(at, {spec::variable(k)}), spec::integer(3)});
  b.s.define(y, {}, spec::reduce(spec::Reduction::sum, {k}, hit, b.at(x, k)));
  std::vector<float> terms(n, 0x0.fffffep-24F);
  terms[0] = 1;
  spec::Contract contract;
  contract.sums = {8, 1};
  const std::vector inputs{f32({n}, terms), HostTensor::of({n}, std::vector<std::int64_t>(n, 3))};
  CHECK(admits(b.s, inputs, f32({}, {1}), contract));
}

TEST_CASE("sums may be cut off only where the contract says so", "[bounds][contract]") {
  const std::vector inputs{f32({2}, {1, 0x1.8p-24F})};
  spec::Contract cut;
  cut.accumulation = spec::RoundingMode::toward_zero;
  CHECK(admits(sum_system(DType::f32, 2), inputs, f32({}, {1}), cut));
  CHECK_FALSE(admits(sum_system(DType::f32, 2), inputs, f32({}, {1}), spec::Contract{}));
}

TEST_CASE("operands that are cut off to eleven bits are outside where they should be rounded", "[bounds][contract]") {
  // 4099 has 13 bits: 4100 to nearest, 4096 cut off.
  const auto system = matmul_system(DType::f32, 1, 1, 1);
  const std::vector inputs{f32({1, 1}, {4099}), f32({1, 1}, {1})};
  spec::Contract contract;
  contract.product_operand_precision = 11;
  CHECK(admits(system, inputs, f32({1, 1}, {4100}), contract));
  CHECK_FALSE(admits(system, inputs, f32({1, 1}, {4096}), contract));
  contract.product_operand_rounding = spec::RoundingMode::toward_zero;
  CHECK(admits(system, inputs, f32({1, 1}, {4096}), contract));
  CHECK_FALSE(admits(system, inputs, f32({1, 1}, {4092}), contract));
}

TEST_CASE("an operand that has no finite neighbour of fewer bits may be infinite", "[bounds][contract]") {
  // The largest number of eight bits is 0x1.fep127; from 0x1.ffp127 on the nearest is beyond it.
  const auto system = matmul_system(DType::f32, 1, 1, 1);
  const float infinite = std::numeric_limits<float>::infinity();
  const auto may_be_infinite = [&](float operand, const spec::Contract& contract) {
    const std::vector inputs{f32({1, 1}, {operand}), f32({1, 1}, {0.75F})};
    return reference::judge(f32({1, 1}, {infinite}), reference::envelopes(system, inputs, contract).outputs[0]).passed();
  };
  spec::Contract contract;
  CHECK_FALSE(may_be_infinite(0x1.fffffep127F, contract));
  contract.product_operand_precision = 8;
  CHECK(may_be_infinite(0x1.fffffep127F, contract));
  CHECK(may_be_infinite(0x1.ffp127F, contract));
  CHECK_FALSE(may_be_infinite(0x1.fefffep127F, contract));
  contract.product_operand_rounding = spec::RoundingMode::toward_zero;
  CHECK_FALSE(may_be_infinite(0x1.fffffep127F, contract));
}

TEST_CASE("a partial sum that cancels may be flushed", "[bounds][contract]") {
  // In this order -0x1.8p-126 + 0x1.1p-126 is subnormal and goes, and the last term is left.
  const auto system = sum_system(DType::f32, 3);
  const std::vector inputs{f32({3}, {-0x1.8p-126F, 0x1.1p-126F, -0x1p-126F})};
  spec::Contract flushing;
  flushing.flush_results = true;
  CHECK(admits(system, inputs, f32({}, {-0x1p-126F}), flushing));
  CHECK_FALSE(admits(system, inputs, f32({}, {-0x1p-126F}), spec::Contract{}));
  const std::vector whole{f32({3}, {-3, 2, -1})};
  CHECK_FALSE(admits(system, whole, f32({}, {-0x1.000002p+1F}), flushing));
}

TEST_CASE("a product with a power of two may be flushed as any other", "[bounds][contract]") {
  const auto system = matmul_system(DType::f32, 1, 1, 1);
  const std::vector inputs{f32({1, 1}, {0.7F}), f32({1, 1}, {0x1p-126F})};
  spec::Contract flushing;
  flushing.flush_results = true;
  CHECK(admits(system, inputs, f32({1, 1}, {0}), flushing));
  CHECK_FALSE(admits(system, inputs, f32({1, 1}, {0}), spec::Contract{}));
  const std::vector larger{f32({1, 1}, {1.4F}), f32({1, 1}, {0x1p-126F})};
  CHECK_FALSE(admits(system, larger, f32({1, 1}, {0}), flushing));
}

TEST_CASE("quotients err by the units that the contract grants", "[bounds][contract]") {
  Builder b(DType::f32);
  const auto x = b.input("x", {});
  const auto z = b.input("z", {});
  const auto y = b.output("y", {});
  b.s.define(y, {}, b.at(x) / b.at(z));
  spec::Contract coarse;
  coarse.functions[DType::f32][Primitive::div] = {2.5, 0, 0, false};
  for (const auto& [a, d] : {std::pair{1.0F, 3.0F}, std::pair{6.0F, 3.0F}, std::pair{5.0F, 4.0F}}) {
    const std::vector inputs{f32({}, {a}), f32({}, {d})};
    float off = a / d;
    CHECK(admits(b.s, inputs, f32({}, {off}), spec::Contract{}));
    for (int i = 0; i < 2; ++i) off = std::nextafter(off, 100.0F);
    INFO(a << " / " << d);
    CHECK(admits(b.s, inputs, f32({}, {off}), coarse));
    CHECK_FALSE(admits(b.s, inputs, f32({}, {off}), spec::Contract{}));
    for (int i = 0; i < 5; ++i) off = std::nextafter(off, 100.0F);
    CHECK_FALSE(admits(b.s, inputs, f32({}, {off}), coarse));
  }
}

TEST_CASE("a reciprocal that underflows on the way is granted with reciprocal division only", "[bounds][contract]") {
  Builder b(DType::f32);
  const auto x = b.input("x", {});
  const auto z = b.input("z", {});
  const auto y = b.output("y", {});
  b.s.define(y, {}, b.at(x) / b.at(z));
  const float large = 0x1.d5432p127F;
  const std::vector inputs{f32({}, {0x1.7p126F}), f32({}, {large})};
  const float product = 0x1.7p126F * (1 / large);
  spec::Contract reciprocal;
  reciprocal.reciprocal_division = true;
  REQUIRE(product != 0x1.7p126F / large);
  CHECK(admits(b.s, inputs, f32({}, {product}), reciprocal));
  CHECK_FALSE(admits(b.s, inputs, f32({}, {product}), spec::Contract{}));
  // Flushed, it is 0 and so is the quotient.
  reciprocal.flush_results = true;
  const auto bounds = reference::envelopes(b.s, inputs, reciprocal);
  CHECK(bounds.outputs[0].lower[0] <= 0);
}

TEST_CASE("what becomes of NaN among extrema is as the contract says", "[bounds][contract]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (const auto r : {spec::Reduction::max, spec::Reduction::min}) {
    const float sign = r == spec::Reduction::max ? 1.0F : -1.0F;
    const auto system = reduction(r, 3);
    spec::Contract propagate, ignore;
    propagate.nan_of_extrema = spec::NanPolicy::propagate;
    ignore.nan_of_extrema = spec::NanPolicy::ignore;
    for (const float other : {2.0F, inf}) {
      const std::vector inputs{f32({3}, {1 * sign, nan, other * sign})};
      const auto is = [&](float v, const spec::Contract& c) { return admits(system, inputs, f32({}, {v}), c); };
      CHECK(is(nan, spec::Contract{}));
      CHECK(is(other * sign, spec::Contract{}));
      CHECK(is(nan, propagate));
      CHECK_FALSE(is(other * sign, propagate));
      CHECK(is(other * sign, ignore));
      CHECK_FALSE(is(nan, ignore));
    }
    const std::vector all{f32({3}, {nan, nan, nan})};
    CHECK(admits(system, all, f32({}, {nan}), ignore));
    CHECK(admits(system, all, f32({}, {nan}), propagate));
  }
}

TEST_CASE("sums of 16-bit numbers are added in 16 bits only where the contract says so", "[bounds][contract]") {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const double large = dtype == DType::f16 ? 2048 : 256;
    const std::vector inputs{half(dtype, {3}, {large, 1, -large})};
    const HostTensor lost = half(dtype, {}, {0}), kept = half(dtype, {}, {1});
    spec::Contract own;
    own.halves[dtype].own_accumulators = true;
    CHECK(admits(sum_system(dtype, 3), inputs, kept, spec::Contract{}));
    CHECK_FALSE(admits(sum_system(dtype, 3), inputs, lost, spec::Contract{}));
    CHECK(admits(sum_system(dtype, 3), inputs, kept, own));
    CHECK(admits(sum_system(dtype, 3), inputs, lost, own));
    CHECK_FALSE(admits(sum_system(dtype, 3), inputs, half(dtype, {}, {16}), own));
  }
}

TEST_CASE("temporaries of 16-bit numbers are rounded only where the contract says so", "[bounds][contract]") {
  // exp is rounded to f16 before it is squared.
  Builder b(DType::f16);
  const auto x = b.input("x", {});
  const auto y = b.output("y", {});
  b.s.define(y, {}, function(Primitive::exp, b.at(x)) * function(Primitive::exp, b.at(x)));
  spec::Contract own;
  own.halves[DType::f16].own_temporaries = true;
  own.functions[DType::f16][Primitive::exp] = {0.5, 0, 0, false};
  int apart = 0;
  for (int k = 1; k < 200; ++k) {
    const double at = spec::half_value(spec::nearest_half(0.01 * k, DType::f16), DType::f16);
    const double rounded = spec::half_value(spec::nearest_half(std::exp(at), DType::f16), DType::f16);
    const HostTensor twice = half(DType::f16, {}, {rounded * rounded});
    const HostTensor once = half(DType::f16, {}, {std::exp(at) * std::exp(at)});
    const std::vector inputs{half(DType::f16, {}, {at})};
    CHECK(admits(b.s, inputs, once, own));
    CHECK(admits(b.s, inputs, twice, own));
    CHECK(admits(b.s, inputs, once, spec::Contract{}));
    if (!(twice == once)) apart += admits(b.s, inputs, twice, spec::Contract{}) ? 0 : 1;
  }
  CHECK(apart > 15);  // where it lands on the other neighbour it conforms anyway
}

}  // namespace etalon
