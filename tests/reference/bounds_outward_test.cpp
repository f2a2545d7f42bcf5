// The bounds' own arithmetic: long and adversarial sums against exact rationals, adjoints that many edges add up to.
#include <catch2/catch.hpp>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "bounds_systems.hpp"
#include "reference/bounds/arithmetic.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/error.hpp"

namespace etalon {
namespace {

using namespace bounds_test;
using boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;

constexpr unsigned grid = 320;  // all numbers of this file are multiples of 2^-320

/// x · 2^320.
cpp_int in_units(double x) {
  int exponent = 0;
  const double m = std::frexp(x, &exponent);
  const cpp_int digits = static_cast<std::int64_t>(std::ldexp(m, 53));
  const int shift = exponent - 53 + static_cast<int>(grid);
  const auto places = static_cast<unsigned>(std::abs(shift));
  if (shift < 0 && ((digits >> places) << places) != digits) throw InternalError("a number too fine for this test");
  return shift >= 0 ? cpp_int(digits << places) : cpp_int(digits >> places);
}

Rational exactly(double x) { return Rational(in_units(x), cpp_int(1) << grid); }

/// Exact sums of terms, of their parts of either sign and of their squares.
struct Exact {
  Rational total, positive, negative, magnitudes;

  template <class T>
  explicit Exact(const std::vector<T>& terms) {
    cpp_int sums[2];
    for (const T t : terms) sums[t < 0 ? 1 : 0] += in_units(std::fabs(static_cast<double>(t)));
    const cpp_int one = cpp_int(1) << grid;
    positive = Rational(sums[0], one);
    negative = Rational(sums[1], one);
    total = positive - negative;
    magnitudes = positive + negative;
  }
};

using Family = double (*)(std::size_t i, std::size_t n);

/// Hard on whoever adds in doubles: what is added is lost, always to the same side, or nothing but it remains.
constexpr std::pair<const char*, Family> families[] = {
    {"alternating", [](std::size_t i, std::size_t) { return (i % 2 == 0 ? 1 : -1) * (1 + std::ldexp(static_cast<double>(i % 64), -20)); }},
    {"growing", [](std::size_t i, std::size_t) { return static_cast<double>(i + 1) / 3; }},
    {"huge and small", [](std::size_t i, std::size_t) { return i % 2 == 0 ? 1e10 + static_cast<double>(i) : 1e-10 / static_cast<double>(i); }},
    {"lost to one side", [](std::size_t i, std::size_t) { return i == 0 ? 1 : std::ldexp(1.0, -54); }},
    {"lost to the other side", [](std::size_t i, std::size_t) { return i == 0 ? 1 : std::ldexp(1.5, -53); }},
    {"cancelling", [](std::size_t i, std::size_t n) { return i == n / 2 ? 1e-3 : (i < n / 2 ? 1 : -1) / static_cast<double>(1 + (i < n / 2 ? i : n - 1 - i)); }},
    {"cancelling late", [](std::size_t i, std::size_t n) { return i + 1 == n && n > 1 ? -static_cast<double>(n) / 7 : 1.0 / 7; }},
};

template <class T>
std::vector<T> terms_of(Family family, std::size_t n) {
  std::vector<T> terms(n);
  for (std::size_t i = 0; i < n; ++i) terms[i] = static_cast<T>(family(i, n));
  return terms;
}

template <class T>
T pairwise(std::span<const T> x) {
  if (x.size() == 1) return x[0];
  return pairwise(x.first(x.size() / 2)) + pairwise(x.subspan(x.size() / 2));
}

/// Sums in several orders, each of which conforms.
template <class T>
std::vector<T> sums_of(std::vector<T> terms) {
  std::vector<T> sums{pairwise<T>(terms)};
  const auto in_order = [&] {
    T sum = 0;
    for (const T t : terms) sum += t;
    sums.push_back(sum);
  };
  in_order();
  std::reverse(terms.begin(), terms.end());
  in_order();
  std::sort(terms.begin(), terms.end());
  in_order();
  std::sort(terms.begin(), terms.end(), [](T a, T b) { return std::fabs(a) > std::fabs(b); });
  in_order();
  std::shuffle(terms.begin(), terms.end(), std::mt19937(1));
  in_order();
  return sums;
}

/// The contract of sums in blocks, for the tallest trees that it allows.
spec::Contract in_blocks() {
  spec::Contract c;
  c.sums = {.block = 8, .lanes = 1};
  return c;
}

template <class T>
constexpr DType dtype_of = std::is_same_v<T, float> ? DType::f32 : DType::f64;

/// What Lemma S makes of the terms, under a declared height.
template <class T>
Rational bound_of(const std::vector<T>& terms, std::optional<std::int64_t> height) {
  using namespace reference::bounds;
  Terms known;
  Interval total;
  for (const T t : terms) {
    const auto x = static_cast<double>(t);
    known.add(x, x, lowest_bit(x));
    total = total + just(x);
  }
  known.total = total.magnitude();
  return exactly(summation_bound(known, reference::bounds::Rounding::of(dtype_of<T>), height));
}

template <class T>
void check_sums() {
  std::size_t outside = 0, checked = 0;
  for (const auto& [name, family] : families) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{100}, std::size_t{10000}, std::size_t{1000000}}) {
      const std::vector<T> terms = terms_of<T>(family, n);
      const auto system = sum_system(dtype_of<T>, static_cast<std::int64_t>(n));
      const std::vector inputs{HostTensor::of(Dims{static_cast<std::int64_t>(n)}, terms)};
      const Exact exact(terms);
      CAPTURE(name, n);
      const std::vector<T> sums = sums_of(terms);
      const Rational any_order = bound_of(terms, {});
      for (const T sum : sums) {
        REQUIRE(boost::multiprecision::abs(exactly(static_cast<double>(sum)) - exact.total) <= any_order);
      }
      for (const bool blocks : {false, true}) {
        const spec::Contract contract = blocks ? in_blocks() : spec::Contract{};
        const auto e = reference::envelopes(system, inputs, contract).outputs[0];
        if ((e.flags[0] & reference::admits_finite) == 0) continue;
        const std::optional<std::int64_t> height = blocks ? std::optional(contract.sums.height(static_cast<std::int64_t>(n))) : std::nullopt;
        const Rational bound = blocks ? bound_of(terms, height) : any_order;
        // Every number of the type that is not farther from the exact sum than the bound.
        Rational lowest = exact.total - bound, highest = exact.total + bound;
        T low = static_cast<T>(lowest), high = static_cast<T>(highest);
        while (exactly(static_cast<double>(low)) < lowest) low = std::nextafter(low, std::numeric_limits<T>::infinity());
        while (exactly(static_cast<double>(high)) > highest) high = std::nextafter(high, -std::numeric_limits<T>::infinity());
        CAPTURE(blocks, low, high, e.lower[0], e.upper[0]);
        ++checked;
        if (static_cast<double>(low) < e.lower[0] || static_cast<double>(high) > e.upper[0]) ++outside;
        // Of f32 the ends are doubles, and hold the very bound.
        if (std::is_same_v<T, float> && (exactly(e.lower[0]) > lowest || exactly(e.upper[0]) < highest)) ++outside;
        CHECK(outside == 0);
        if (blocks) continue;
        for (const T sum : sums) {
          CHECK(static_cast<double>(sum) >= e.lower[0]);
          CHECK(static_cast<double>(sum) <= e.upper[0]);
        }
      }
    }
  }
  CHECK(checked == 2 * 4 * std::size(families));
}

}  // namespace

TEST_CASE("sums of up to a million adversarial terms are enclosed in f32", "[sound][bounds]") { check_sums<float>(); }
TEST_CASE("sums of up to a million adversarial terms are enclosed in f64", "[sound][bounds]") { check_sums<double>(); }

TEST_CASE("what is known of a sum is known from above", "[sound][bounds]") {
  using namespace reference::bounds;
  const spec::Contract contract;
  for (const auto& [name, family] : families) {
    for (const std::size_t n : {1U, 100U, 10000U, 1000000U}) {
      const std::vector<double> terms = terms_of<double>(family, n);
      const Exact exact(terms);
      Arithmetic<double> arithmetic(contract);
      arithmetic.use(reference::bounds::Rounding::of(DType::f64), reference::bounds::Rounding::of(DType::f64));
      Sum<double> sum;
      for (const double t : terms) sum.add(point<double>(t));
      const Value<double> v = arithmetic.total(sum);
      CAPTURE(name, n);
      if (n > 1) CHECK(exactly(sum.terms.total) >= boost::multiprecision::abs(exact.total));
      CHECK(exactly(sum.terms.positive) >= exact.positive);
      CHECK(exactly(sum.terms.negative) >= exact.negative);
      CHECK(exactly(sum.terms.magnitudes) >= exact.magnitudes);
      CHECK(exactly(v.lower) <= exact.total);
      CHECK(exactly(v.upper) >= exact.total);
      const double below = v.node == no_node ? 0 : arithmetic.tape().error(v.node, 0).bound;
      CHECK(boost::multiprecision::abs(exactly(v.reference) - exact.total) <= exactly(add_up(v.local, below)));
    }
  }
}

TEST_CASE("an adjoint of a million edges is enclosed", "[sound][bounds]") {
  using namespace reference::bounds;
  constexpr int edges = 1000000;
  const double small = std::ldexp(1.0, -54);
  Tape tape;
  const NodeId a = tape.open(1);
  const NodeId root = tape.open(0);
  tape.edge({a, just(1)});
  for (int i = 0; i < edges; ++i) tape.edge({a, just(small)});
  const Rational exact = 1 + edges * exactly(small);
  const Error error = tape.error(root, std::size_t{1} << 27U);
  CHECK(exactly(error.bound) >= exact);
  CHECK(exactly(error.bound) <= exact * (1 + edges * exactly(4 * small)));
}

TEST_CASE("what vanishes beside the rest is counted without a look at what is below it", "[sound][bounds]") {
  using namespace reference::bounds;
  std::mt19937_64 random(23);
  const auto number = [&](std::uint64_t most) {
    return std::ldexp(1.0 + static_cast<double>(random() % 1000) / 1000, -static_cast<int>(random() % most));
  };
  std::size_t vanishing = 0;
  for (int round = 0; round < 100; ++round) {
    Tape tape;
    std::vector<std::vector<std::pair<std::size_t, double>>> edges;
    std::vector<double> local;
    for (std::size_t n = 0; n < 60; ++n) {
      // The root rounds, so that there is something to vanish beside.
      local.push_back(n + 1 < 60 && random() % 3 == 0 ? 0 : number(60));
      tape.open(local.back());
      edges.emplace_back();
      for (std::size_t e = 0; n > 0 && e < 3; ++e) {
        const std::size_t operand = random() % n;
        const double slope = number(random() % 4 == 0 ? 200 : 4);
        edges.back().emplace_back(operand, slope);
        tape.edge({static_cast<NodeId>(operand), just(slope)});
      }
    }
    std::vector<Rational> adjoint(local.size());
    adjoint.back() = 1;
    Rational exact = 0;
    for (std::size_t n = local.size(); n-- > 0;) {
      exact += adjoint[n] * exactly(local[n]);
      if (adjoint[n] > 0 && adjoint[n] < exactly(0x1p-64)) ++vanishing;
      for (const auto& [operand, slope] : edges[n]) adjoint[operand] += adjoint[n] * exactly(slope);
    }
    const double bound = tape.error(static_cast<NodeId>(local.size()) - 1, 1000000).bound;
    CHECK(exactly(bound) >= exact);
    CHECK(exactly(bound) <= exact * (1 + exactly(0x1p-40)));
  }
  CHECK(vanishing > 100);
}

TEST_CASE("a wide number lies between neighbouring doubles, or is one", "[sound][bounds]") {
  using reference::bounds::Quad;
  using Wide = reference::bounds::Wide<Quad>;
  std::mt19937_64 random(7);
  const double edges[] = {0.0, 1.0, 2.0, 0x1p-1022, 0x1p-1074, 0x1.fffffffffffffp1023, 0x1.fffffffffffffp-1023, 0x1p-960};
  const Quad shifts[] = {0, static_cast<Quad>(0x1p-60), static_cast<Quad>(0x1p-110), -static_cast<Quad>(0x1p-60), -static_cast<Quad>(0x1p-110)};
  const auto check = [](Quad x) {
    const auto near = Wide::around(x);
    CHECK(static_cast<Quad>(near.lower) <= x);
    CHECK(static_cast<Quad>(near.upper) >= x);
    CHECK((near.lower == near.upper || reference::bounds::up(near.lower) == near.upper));
    CHECK((near.lower == near.upper) == (static_cast<Quad>(near.lower) == x));
    // By the exponent alone: from one to two units of roundoff.
    const Quad unit = static_cast<Quad>(0x1p-113) * (x < 0 ? -x : x);
    CHECK(static_cast<Quad>(Wide::rounding_of(x)) >= unit);
    if (unit >= static_cast<Quad>(0x1p-1022) && std::isfinite(near.magnitude())) CHECK(static_cast<Quad>(Wide::rounding_of(x)) <= 2 * unit);
  };
  for (const double edge : edges) {
    for (const Quad shift : shifts) {
      const Quad x = static_cast<Quad>(edge) * (1 + shift);
      check(x);
      check(-x);
    }
  }
  for (int i = 0; i < 20000; ++i) {
    const double a = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 2040) - 1100);
    check(static_cast<Quad>(a) + static_cast<Quad>(a) * static_cast<Quad>(0x1p-117) * static_cast<Quad>(random() >> (random() % 64)));
  }
}

TEST_CASE("a product that just does not fit is rounded", "[sound][bounds]") {
  // 3 · 3002399751580331 = 2^53 + 1 is no double, though its logarithm rounds to 53.
  Builder b(DType::f64);
  const auto x = b.input("x", {3});
  const auto z = b.input("z", {});
  const auto y = b.output("y", {});
  const auto k = b.bind(3);
  b.s.define(y, {}, spec::reduce(Reduction::prod, {k}, always(), b.at(x, k)) - b.at(z));
  const std::vector inputs{HostTensor::of<double>({3}, {3, 3002399751580331, 1}), HostTensor::of<double>({}, {std::ldexp(1.0, 53)})};
  const auto e = reference::envelopes(b.s, inputs, spec::Contract{}).outputs[0];
  CHECK(e.lower[0] <= 0);
  CHECK(e.upper[0] >= 1);
}

}  // namespace etalon
