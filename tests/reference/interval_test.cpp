// Outward-rounded arithmetic held to exact rationals and to MPFR, and the checks held to arithmetic that is wrong.
#include <catch2/catch.hpp>
#include <mpfr.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "reference/bounds/interval.hpp"
#include "reference/bounds/wide.hpp"

using namespace etalon::reference::bounds;
using etalon::spec::Primitive;
using Rational = boost::multiprecision::cpp_rational;

namespace {

constexpr double largest = std::numeric_limits<double>::max();

/// Exactly; the library's own conversion is not relied on below the normal numbers.
Rational exactly(double x) {
  int exponent = 0;
  const double m = std::frexp(x, &exponent);
  boost::multiprecision::cpp_int numerator = static_cast<std::int64_t>(std::ldexp(m, 53));
  exponent -= 53;
  if (exponent >= 0) return Rational(numerator << static_cast<unsigned>(exponent));
  return Rational(numerator, boost::multiprecision::cpp_int(1) << static_cast<unsigned>(-exponent));
}

bool is_not_above(double x, const Rational& exact) { return x == -infinity || (x < infinity && exactly(x) <= exact); }
bool is_not_below(double x, const Rational& exact) { return x == infinity || (x > -infinity && exactly(x) >= exact); }

/// Any bits, ordinary numbers, few bits, neighbours of each other, and both ends of the range.
double draw(std::mt19937_64& random) {
  for (;;) {
    double x = 0;
    switch (random() % 6) {
      case 0: x = std::bit_cast<double>(random()); break;
      case 1: x = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -64); break;
      case 2: x = static_cast<double>(static_cast<int>(random() % 17) - 8); break;
      case 3: x = 1 + std::ldexp(static_cast<double>(static_cast<int>(random() % 9) - 4), -52); break;
      case 4: x = std::bit_cast<double>(random() % (std::uint64_t{1} << 54U)); break;
      default: x = std::bit_cast<double>((random() % (std::uint64_t{1} << 54U)) | (std::uint64_t{0x7FC} << 52U)); break;
    }
    if (random() % 2 == 0) x = -x;
    if (std::isfinite(x)) return x;
  }
}

/// How often results lay on the wrong side of the exact one, and how often a double nearer to it was on the right side.
struct Faults {
  std::size_t unsound = 0;
  std::size_t loose = 0;
  std::size_t trials = 0;
};

/// Directed operations under test; each goes up, and down by what it does to what is negated.
struct Directed {
  double (*add)(double, double) = add_up;
  double (*multiply)(double, double) = mul_up;
  double (*divide)(double, double) = div_up;
  double (*root)(double) = sqrt_up;
  double (*root_down)(double) = sqrt_down;
};

/// \param from the magnitude from which on the next double is to be found; below it one step more is allowed
void see(Faults& faults, double above, const Rational& exact, double from) {
  ++faults.trials;
  if (!is_not_below(above, exact)) ++faults.unsound;
  const double before = down(above);
  const bool certain = boost::multiprecision::abs(exact) >= exactly(from);
  if (certain && above <= largest && before >= -largest && is_not_below(before, exact)) ++faults.loose;
  if (certain && above == infinity && exactly(largest) >= exact) ++faults.loose;
}

Faults additions(const Directed& d, std::size_t trials) {
  std::mt19937_64 random(1);
  Faults f;
  for (std::size_t i = 0; i < trials; ++i) {
    const double a = draw(random), b = draw(random);
    see(f, d.add(a, b), exactly(a) + exactly(b), 0);
  }
  return f;
}

Faults products(const Directed& d, std::size_t trials) {
  std::mt19937_64 random(2);
  Faults f;
  for (std::size_t i = 0; i < trials; ++i) {
    const double a = draw(random), b = draw(random);
    see(f, d.multiply(a, b), exactly(a) * exactly(b), 0);
  }
  return f;
}

Faults quotients(const Directed& d, std::size_t trials) {
  std::mt19937_64 random(3);
  Faults f;
  for (std::size_t i = 0; i < trials; ++i) {
    const double a = draw(random), b = draw(random);
    // A dividend below the threshold may cost a step more.
    if (b == 0 || (a != 0 && std::fabs(a) < errors_are_doubles)) continue;
    see(f, d.divide(a, b), exactly(a) / exactly(b), 2 * errors_are_doubles);
  }
  return f;
}

Faults roots(const Directed& d, std::size_t trials) {
  std::mt19937_64 random(4);
  Faults f;
  for (std::size_t i = 0; i < trials; ++i) {
    const double x = std::fabs(draw(random));
    const double above = d.root(x), below = d.root_down(x);
    ++f.trials;
    const auto squared = [](double r) { return exactly(r) * exactly(r); };
    if (squared(above) < exactly(x) || squared(below) > exactly(x)) ++f.unsound;
    if (x < errors_are_doubles) continue;
    if (above > 0 && squared(down(above)) >= exactly(x)) ++f.loose;
    if (squared(up(below)) <= exactly(x)) ++f.loose;
  }
  return f;
}

/// An interval of two draws, and numbers in it.
struct Sample {
  Interval interval;
  std::vector<double> members;
};
Sample sample(std::mt19937_64& random) {
  double a = draw(random), b = random() % 4 == 0 ? a : draw(random);
  if (a > b) std::swap(a, b);
  return {{a, b}, {a, b, std::clamp(a / 2 + b / 2, a, b)}};
}

bool holds(const Interval& in, const Rational& x) { return is_not_above(in.lower, x) && is_not_below(in.upper, x); }

using Binary = Interval (*)(const Interval&, const Interval&);

/// How many exact results of members lie outside.
std::size_t outside(Binary op, char which, std::size_t trials) {
  std::mt19937_64 random(5);
  std::size_t faults = 0;
  for (std::size_t i = 0; i < trials; ++i) {
    const Sample a = sample(random), b = sample(random);
    const Interval r = op(a.interval, b.interval);
    for (const double x : a.members) {
      for (const double y : b.members) {
        if (which == '/' && y == 0) continue;
        const Rational p = exactly(x), q = exactly(y);
        const Rational exact = which == '+' ? Rational(p + q) : which == '-' ? Rational(p - q) : which == '*' ? Rational(p * q) : Rational(p / q);
        if (!holds(r, exact)) ++faults;
      }
    }
  }
  return faults;
}

/// The processor's own rounding, and rounding inwards.
template <char Op>
Interval nearest(const Interval& a, const Interval& b) {
  const auto apply = [](double x, double y) { return Op == '+' ? x + y : Op == '-' ? x - y : Op == '*' ? x * y : x / y; };
  if (Op == '/' && b.holds_zero()) return a / b;
  const double c[] = {apply(a.lower, b.lower), apply(a.lower, b.upper), apply(a.upper, b.lower), apply(a.upper, b.upper)};
  return {*std::min_element(c, c + 4), *std::max_element(c, c + 4)};
}
template <Binary Right>
Interval inwards(const Interval& a, const Interval& b) {
  const Interval r = Right(a, b);
  return {up(r.lower), down(r.upper)};
}

}  // namespace

TEST_CASE("directed operations give the next double on their side", "[sound][bounds][interval]") {
  constexpr std::size_t trials = 20000;
  for (const auto& f : {additions({}, trials), products({}, trials), quotients({}, trials), roots({}, trials)}) {
    CHECK(f.trials > trials / 2);
    CHECK(f.unsound == 0);
    CHECK(f.loose == 0);
  }
  CHECK(add_up(1, 2) == 3);
  CHECK(add_up(1, errors_are_doubles) == up(1));
  CHECK(add_down(1, errors_are_doubles) == 1);
  CHECK(add_down(1, -errors_are_doubles) == down(1));
  constexpr double least = std::numeric_limits<double>::denorm_min();
  CHECK(mul_up(1, least) == least);
  CHECK(mul_up(0.5, least) == least);
  CHECK(mul_up(-0.5, least) == 0);
  for (const double x : {least, errors_are_doubles, 0x1p-540, 0x1p-30, 1.0, largest}) {
    CHECK(mul_up(infinity, x) == infinity);
    CHECK(mul_down(x, -infinity) == -infinity);
    Interval sum{-1, 1};
    accumulate(sum, {-x, x}, {1, infinity});
    CHECK(sum.lower == -infinity);
    CHECK(sum.upper == infinity);
  }
  CHECK(scale_up(3 * least, -1) == 2 * least);
  CHECK(scale_down(3 * least, -1) == least);
}

TEST_CASE("rounding to nearest, inwards or too far is convicted", "[sound][bounds][interval]") {
  constexpr std::size_t trials = 1000;
  Directed plain{[](double a, double b) { return a + b; }, [](double a, double b) { return a * b; },
                 [](double a, double b) { return a / b; }, [](double x) { return std::sqrt(x); }, [](double x) { return std::sqrt(x); }};
  Directed inward{add_down, mul_down, div_down, sqrt_down, sqrt_up};
  Directed farther{[](double a, double b) { return up(a + b); }, [](double a, double b) { return up(a * b); },
                   [](double a, double b) { return up(a / b); }, [](double x) { return up(std::sqrt(x)); },
                   [](double x) { return down(std::sqrt(x)); }};
  for (const Directed& wrong : {plain, inward}) {
    CHECK(additions(wrong, trials).unsound > 0);
    CHECK(products(wrong, trials).unsound > 0);
    CHECK(quotients(wrong, trials).unsound > 0);
    CHECK(roots(wrong, trials).unsound > 0);
  }
  CHECK(additions(farther, trials).loose > 0);
  CHECK(products(farther, trials).loose > 0);
  CHECK(quotients(farther, trials).loose > 0);
  CHECK(roots(farther, trials).loose > 0);
}

TEST_CASE("intervals hold what their members give", "[sound][bounds][interval]") {
  constexpr std::size_t trials = 2000;
  CHECK(outside(operator+, '+', trials) == 0);
  CHECK(outside(operator-, '-', trials) == 0);
  CHECK(outside(operator*, '*', trials) == 0);
  CHECK(outside(operator/, '/', trials) == 0);
  CHECK(outside(nearest<'+'>, '+', trials) > 0);
  CHECK(outside(nearest<'-'>, '-', trials) > 0);
  CHECK(outside(nearest<'*'>, '*', trials) > 0);
  CHECK(outside(nearest<'/'>, '/', trials) > 0);
  CHECK(outside(inwards<operator+>, '+', trials) > 0);
  CHECK(outside(inwards<operator*>, '*', trials) > 0);
  std::mt19937_64 random(6);
  for (std::size_t i = 0; i < trials; ++i) {
    const Sample a = sample(random);
    const double radius = std::fabs(draw(random));
    const int exponent = static_cast<int>(random() % 400) - 200;
    const Rational power = exponent >= 0 ? exactly(std::ldexp(1.0, exponent)) : Rational(1) / exactly(std::ldexp(1.0, -exponent));
    for (const double x : a.members) {
      const Rational exact = exactly(x);
      REQUIRE(holds(square(a.interval), exact * exact));
      REQUIRE(holds(-a.interval, -exact));
      REQUIRE(holds(widened(a.interval, radius), exact + exactly(radius)));
      REQUIRE(holds(widened(a.interval, radius), exact - exactly(radius)));
      REQUIRE(is_not_below(scale_up(x, exponent), exact * power));
      REQUIRE(is_not_above(scale_down(x, exponent), exact * power));
      if (x < 0) continue;
      const Interval root = sqrt(a.interval);
      REQUIRE(exactly(root.lower) * exactly(root.lower) <= exact);
      REQUIRE(exactly(root.upper) * exactly(root.upper) >= exact);
    }
  }
}

TEST_CASE("infinite ends stand for numbers without bound", "[sound][bounds][interval]") {
  const Interval all{-infinity, infinity}, above{1, infinity}, below{-infinity, -1};
  const auto same = [](const Interval& a, double lower, double upper) { return a.lower == lower && a.upper == upper; };
  CHECK(same(just(0) * all, 0, 0));
  CHECK(same(above * above, 1, infinity));
  CHECK(same(above * below, -infinity, -1));
  CHECK(same(above + below, -infinity, infinity));
  CHECK(same(just(1) / above, 0, 1));
  CHECK(same(just(1) / Interval{0, 4}, 0.25, infinity));
  CHECK(same(just(1) / Interval{-4, 0}, -infinity, -0.25));
  CHECK(same(just(1) / Interval{-1, 1}, -infinity, infinity));
  // What overflows is beyond the largest double, and no more is known.
  CHECK(same(just(largest) * just(2), largest, infinity));
  CHECK(same(just(-largest) + just(-largest), -infinity, -largest));
  // What underflows is not zero.
  const double least = std::numeric_limits<double>::denorm_min();
  CHECK(same(just(least) * just(0.5), 0, least));
  CHECK(same(just(-least) * just(0.5), -least, 0));
  CHECK(same(just(least) / just(-4), -least, 0));
}

TEST_CASE("functions lie between neighbouring doubles", "[sound][bounds][interval]") {
  using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  const std::pair<Primitive, Function> functions[] = {
      {Primitive::exp, mpfr_exp},   {Primitive::exp2, mpfr_exp2},   {Primitive::log, mpfr_log},     {Primitive::log2, mpfr_log2},
      {Primitive::sin, mpfr_sin},   {Primitive::cos, mpfr_cos},     {Primitive::tan, mpfr_tan},     {Primitive::sinh, mpfr_sinh},
      {Primitive::cosh, mpfr_cosh}, {Primitive::tanh, mpfr_tanh},   {Primitive::erf, mpfr_erf},     {Primitive::expm1, mpfr_expm1},
      {Primitive::log1p, mpfr_log1p}, {Primitive::sqrt, mpfr_sqrt}};
  std::mt19937_64 random(7);
  mpfr_t exact;
  mpfr_init2(exact, 300);
  std::size_t trials = 0, unequal = 0;
  for (const auto& [p, f] : functions) {
    for (int i = 0; i < 400; ++i) {
      const double x = draw(random);
      if (std::fabs(x) > 1e6) continue;  // MPFR reduces large angles at their own precision
      mpfr_set_d(exact, x, MPFR_RNDN);
      f(exact, exact, MPFR_RNDN);
      if (mpfr_nan_p(exact) != 0) continue;
      const Interval in = enclose(p, x);
      ++trials;
      unequal += in.lower < in.upper ? 1 : 0;
      CAPTURE(static_cast<int>(p), x, in.lower, in.upper);
      REQUIRE(mpfr_cmp_d(exact, in.lower) >= 0);
      REQUIRE(mpfr_cmp_d(exact, in.upper) <= 0);
      REQUIRE((in.lower == in.upper || up(in.lower) == in.upper));
    }
  }
  mpfr_clear(exact);
  CHECK(trials > 2000);
  CHECK(unequal > 500);
}
