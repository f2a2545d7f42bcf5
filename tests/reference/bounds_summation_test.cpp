// Lemma S against every tree, in small precisions.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "reference/bounds/interval.hpp"
#include "reference/bounds/summation.hpp"

namespace etalon {
namespace {

using reference::bounds::Rounding;
using reference::bounds::Terms;

double rounded(double x, int p) {
  if (x == 0) return 0;
  int e = 0;
  const double m = std::frexp(x, &e);
  return std::ldexp(std::nearbyint(std::ldexp(m, p)), e - p);
}

/// The results of all binary trees over all orders of the terms in `members`.
std::vector<double> all_sums(const std::vector<double>& t, unsigned members, int p, std::vector<std::vector<double>>& memo) {
  if (!memo[members].empty()) return memo[members];
  std::vector<double> results;
  if ((members & (members - 1)) == 0) {
    for (std::size_t i = 0; i < t.size(); ++i) {
      if ((members >> i) & 1U) results.push_back(t[i]);
    }
  }
  for (unsigned left = (members - 1) & members; left > 0; left = (left - 1) & members) {
    const unsigned right = members & ~left;
    if (left < right) continue;
    for (const double a : all_sums(t, left, p, memo)) {
      for (const double b : all_sums(t, right, p, memo)) results.push_back(rounded(a + b, p));
    }
  }
  std::sort(results.begin(), results.end());
  results.erase(std::unique(results.begin(), results.end()), results.end());
  return memo[members] = results;
}

Rounding small_format(int p) {
  Rounding r = Rounding::of(DType::f32);
  r.precision = p;
  r.u = std::ldexp(1.0, -p);
  r.eta_exponent = -100;
  return r;
}

struct Extremes {
  double error = 0;
  double bound = 0;
};

Extremes examine(const std::vector<double>& t, int p) {
  double exact = 0;
  Terms terms;
  for (const double x : t) exact += x;
  for (const double x : t) terms.add(x, x, reference::bounds::lowest_bit(x));
  terms.total = std::fabs(exact);
  std::vector<std::vector<double>> memo(std::size_t{1} << t.size());
  Extremes e;
  for (const double s : all_sums(t, (1U << t.size()) - 1, p, memo)) e.error = std::max(e.error, std::fabs(s - exact));
  e.bound = summation_bound(terms, small_format(p));
  return e;
}

}  // namespace

TEST_CASE("a sum of doubles that just does not fit is not exact", "[bounds][summation]") {
  // 1 + (1 + 2^-52) has 54 bits; added up in doubles it would be 2, which fits.
  const Rounding f64 = Rounding::of(DType::f64);
  const auto bound_of = [&](double x, double y) {
    Terms terms;
    terms.add(x, x, -52);
    terms.add(y, y, -52);
    terms.total = reference::bounds::add_up(x, y);
    return reference::bounds::summation_bound(terms, f64);
  };
  CHECK(bound_of(1, 1 + 0x1p-52) >= 0x1p-52);
  CHECK(bound_of(1, 1) == 0);
  CHECK(bound_of(1, 1 - 0x1p-52) == 0);
}

TEST_CASE("Lemma S holds for every tree over small floats", "[bounds][lemma]") {
  std::mt19937 random(5);
  double sharpest = 0;
  std::size_t trials = 0;
  std::size_t exact = 0;
  for (const int p : {5, 6}) {
    for (const std::size_t n : {2U, 3U, 4U, 5U}) {
      for (int trial = 0; trial < 700; ++trial) {
        std::vector<double> t;
        for (std::size_t i = 0; i < n; ++i) {
          const int mantissa = 1 + static_cast<int>(random() % ((1U << static_cast<unsigned>(p)) - 1U));
          t.push_back(std::ldexp(random() % 2 == 0 ? mantissa : -mantissa, static_cast<int>(random() % 4)));
        }
        const Extremes e = examine(t, p);
        ++trials;
        if (e.bound == 0) ++exact;
        CAPTURE(p, t, e.error, e.bound);
        REQUIRE(e.error <= e.bound);
        if (e.bound > 0) sharpest = std::max(sharpest, e.error / e.bound);
      }
    }
  }
  CHECK(trials == 5600);
  CHECK(exact > 0);
  // The bound is attained, so nothing smaller would do.
  CHECK(sharpest > 0.9);
}

TEST_CASE("Lemma S covers the sums that refuted its first version", "[bounds][lemma]") {
  const Extremes e = examine({90 / 2.0, -102 / 2.0, 72 / 2.0, -56 / 2.0}, 6);
  CHECK(e.error <= e.bound);
  CHECK(e.error > 0);
}

TEST_CASE("a declared height narrows the bound of long sums", "[bounds][lemma]") {
  Terms terms;
  std::mt19937 random(6);
  std::uniform_real_distribution<float> uniform;
  std::vector<double> t;
  for (int i = 0; i < 5000; ++i) t.push_back(uniform(random));
  for (const double x : t) terms.add(x, x, reference::bounds::lowest_bit(x));
  for (const double x : t) terms.total += x;
  const Rounding r = Rounding::of(DType::f32);
  const double any_order = summation_bound(terms, r);
  CHECK(summation_bound(terms, r, 128) < 0.1 * any_order);
  // No order errs by more than (n - 1)u of the magnitudes (Jeannerod and Rump).
  CHECK(any_order < static_cast<double>(t.size()) * r.u * terms.total);
  // Sequential summation, a conforming order, errs by less than the any-order bound.
  float sum = 0;
  for (const double x : t) sum += static_cast<float>(x);
  CHECK(std::fabs(sum - terms.total) <= any_order);
}

TEST_CASE("tiny squares do not shrink the bound to nothing", "[bounds][lemma]") {
  Terms terms;
  for (int i = 0; i < 8; ++i) terms.add(1e-200 * (1 + i * 1e-16), 1e-200 * (1 + i * 1e-16), -2000);
  terms.total = 8e-200;
  CHECK(summation_bound(terms, Rounding::of(DType::f64)) > 1e-216);
}

}  // namespace etalon
