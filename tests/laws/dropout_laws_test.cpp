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

/// A normal number lies further out, on either side, with probability 1e-6: sqrt(2)·erfc⁻¹(1e-6). The binomials here
/// have 4096 trials and are near enough to normal ones.
constexpr double one_in_a_million = 4.8916384757;

/// A chi-square number with 60 degrees of freedom lies below the first with probability 1e-6, above the second with
/// probability 1e-6: the roots of P(30, x/2) = 1e-6 and Q(30, x/2) = 1e-6, the regularised incomplete gamma functions.
constexpr double chi_square_60_low = 21.4217173;
constexpr double chi_square_60_high = 127.0963602;

}  // namespace

TEST_CASE("the number of kept elements is binomial over seeds and steps", "[laws]") {
  // The sum over 60 masks of squared deviations is chi-square with 60 degrees of freedom.
  double chi_square = 0;
  for (std::int64_t seed = 0; seed < 60; ++seed) {
    const double d = deviations(kept(mask(0.25, seed, seed % 7, 1)), size, 0.75);
    CHECK(d < one_in_a_million);
    chi_square += d * d;
  }
  CHECK(chi_square > chi_square_60_low);
  CHECK(chi_square < chi_square_60_high);
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
  CHECK(mask(1, 1, 1, 0).real == std::vector<double>(static_cast<std::size_t>(size), 0.0));
}
