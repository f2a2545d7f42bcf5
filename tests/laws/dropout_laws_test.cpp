// Statistics of dropout's masks. The draws are fixed by the seeds, so that a passing test stays a passing test; the
// limits are quantiles of the distributions that independent masks would have, at one in a million.
#include <catch2/catch.hpp>
#include <cmath>

#include "calls.hpp"
#include "conformance/draw.hpp"

using namespace etalon;
using namespace etalon::test;
using reference::Array;

namespace {

constexpr std::int64_t size = 4096;

Array<double> ones() { return Array<double>::of_reals({size}, std::vector<double>(static_cast<std::size_t>(size), 1.0)); }

Array<double> scalar(std::int64_t n) { return Array<double>::of_integers({}, {n}); }

Array<double> mask(double p, std::int64_t seed, std::int64_t step, std::int64_t stream) {
  return result<double>("dropout", "p=" + std::to_string(p) + ", stream=" + std::to_string(stream),
                        {ones(), scalar(seed), scalar(step)});
}

std::size_t kept(const Array<double>& y) {
  std::size_t n = 0;
  for (const double v : y.real) n += v != 0 ? 1 : 0;
  return n;
}

std::size_t kept_by_both(const Array<double>& a, const Array<double>& b) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < a.real.size(); ++i) n += a.real[i] != 0 && b.real[i] != 0 ? 1 : 0;
  return n;
}

/// Standard deviations that `count` lies from its mean as a binomial of `trials` with probability q.
double deviations(std::size_t count, double trials, double q) {
  return std::fabs(static_cast<double>(count) - trials * q) / std::sqrt(trials * q * (1 - q));
}

constexpr double one_in_a_million = 4.9;  // of a normal distribution, both sides

}  // namespace

TEST_CASE("the number of kept elements is binomial over seeds and steps", "[laws]") {
  // Sum over 60 masks of squared deviations: chi-square with 60 degrees of freedom; its quantiles at 1e-6.
  double chi_square = 0;
  for (std::int64_t seed = 0; seed < 60; ++seed) {
    const double d = deviations(kept(mask(0.25, seed, seed % 7, 1)), size, 0.75);
    CHECK(d < one_in_a_million);
    chi_square += d * d;
  }
  CHECK(chi_square > 21);
  CHECK(chi_square < 125);
}

TEST_CASE("masks of other steps, seeds and streams are independent", "[laws]") {
  const auto first = mask(0.5, 7, 3, 0);
  for (const auto& other : {mask(0.5, 7, 4, 0), mask(0.5, 8, 3, 0), mask(0.5, 7, 3, 1)}) {
    CHECK(deviations(kept_by_both(first, other), size, 0.25) < one_in_a_million);
  }
  CHECK(mask(0.5, 7, 3, 0).real == first.real);
}

TEST_CASE("the backward pass drops what the forward pass dropped", "[laws]") {
  const Values<double> operands{ones(), scalar(5), scalar(9)};
  conformance::Draw draw("dropout");
  auto w = ones();
  for (double& v : w.real) v = 1 + draw.uniform();
  const auto y = result<double>("dropout", "p=0.5", operands);
  const auto g = cotangent<double>("dropout", "p=0.5", operands, 0, w);
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < y.real.size(); ++i) {
    CHECK((y.real[i] == 0) == (g.real[i] == 0));
    dropped += y.real[i] == 0 ? 1 : 0;
  }
  CHECK(dropped > 0);
  CHECK(dropped < y.real.size());
}

TEST_CASE("dropout keeps all at p = 0 and nothing at p = 1", "[laws]") {
  CHECK(mask(0, 1, 1, 0).real == ones().real);
  for (const double v : mask(1, 1, 1, 0).real) CHECK(v == 0);
}
