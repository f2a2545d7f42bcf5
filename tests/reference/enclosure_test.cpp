// Enclosures hold what they are of, over MPFR's numbers and over Boost's: against MPFR with 700 bits at points of random
// operands' intervals.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "reference/exact/bin_float_end.hpp"
#include "reference/exact/enclosure_functions.hpp"
#include "reference/exact/mpfr_end.hpp"

namespace {

using namespace etalon;
using reference::Enclosure;
using reference::Toward;
using P = spec::Primitive;
using Exact = reference::MpfrEnd<700>;

template <class End>
Exact exact(const End& end) {
  Exact total, word, scale;
  if (end.is_inf() || end.is_nan()) {
    total.set(end.is_nan() ? NAN : end.is_negative() ? -INFINITY : INFINITY);
    return total;
  }
  const reference::Dyadic d = end.dyadic();
  scale.set(0x1p32);
  for (auto digit = d.digits.rbegin(); digit != d.digits.rend(); ++digit) {
    for (const std::uint64_t part : {*digit >> 32U, *digit & 0xFFFFFFFFU}) {
      word.set(static_cast<std::int64_t>(part));
      total.multiply(total, scale, Toward::nearest);
      total.add(total, word, Toward::nearest);
    }
  }
  word.set(d.exponent);
  scale.apply(P::exp2, word, Toward::nearest);
  total.multiply(total, scale, Toward::nearest);
  if (d.negative) total.negate();
  return total;
}

/// The interval holds the number that MPFR puts between these two.
template <class End>
bool holds(const Enclosure<End>& got, const Exact& low, const Exact& high) {
  return Exact::compare(exact(got.lower()), high) <= 0 && Exact::compare(low, exact(got.upper())) <= 0;
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  double number(int reach) {
    const double size = std::ldexp(1 + static_cast<double>(random_() >> 12U) * 0x1p-52, static_cast<int>(random_() % (2U * static_cast<unsigned>(reach))) - reach);
    return random_() % 2 == 0 ? size : -size;
  }
  template <class End>
  Enclosure<End> gap(double v) {
    // Some units wide, from an operation that rounds.
    const Enclosure<End> third = Enclosure<End>::quotient(Enclosure<End>(1), Enclosure<End>(3));
    return Enclosure<End>::product(Enclosure<End>::of(v), third);
  }

 private:
  std::mt19937_64 random_;
};

template <class End>
void holds_functions() {
  Draw draw(11);
  std::size_t compared = 0;
  for (const P f : {P::exp, P::exp2, P::log, P::log2, P::sqrt, P::sin, P::cos, P::tan, P::sinh, P::cosh, P::tanh, P::erf,
                    P::expm1, P::log1p, P::floor, P::ceil, P::trunc, P::round}) {
    for (int trial = 0; trial < 24; ++trial) {
      const double v = draw.number(trial % 3 == 0 ? 40 : 5);
      INFO(spec::info(f).name << " of " << v << " and its third");
      const bool real_only = (f == P::log || f == P::log2 || f == P::sqrt) && v < 0;
      if (real_only || (f == P::log1p && v <= -1) || ((f == P::exp || f == P::sinh || f == P::cosh || f == P::expm1 || f == P::exp2 || f == P::erf) && std::fabs(v) > 0x1p12)) continue;
      const auto point = Enclosure<End>::of(v);
      const auto gap = draw.gap<End>(v);
      Exact low, high;
      try {
        low.apply(f, exact(point.lower()), Toward::down);
        high.apply(f, exact(point.lower()), Toward::up);
        CHECK(holds(Enclosure<End>::function(f, point), low, high));
        const auto image = Enclosure<End>::function(f, gap);
        for (const End* end : {&gap.lower(), &gap.upper()}) {
          low.apply(f, exact(*end), Toward::down);
          high.apply(f, exact(*end), Toward::up);
          CHECK(holds(image, low, high));
        }
        // Not much wider than need be: the operand is three units wide, and the slope is moderate here.
        if (std::fabs(v) < 32 && f != P::tan && !image.is_point()) {
          const auto width = Enclosure<End>::of(0x1p-100) * (Enclosure<End>(1) + Enclosure<End>::abs(image));
          const bool steps = f == P::floor || f == P::ceil || f == P::trunc || f == P::round;
          CHECK((steps || Exact::compare(exact((Enclosure<End>::of(0) + image - image).upper()), exact(width.upper())) < 0));
        }
        ++compared;
      } catch (const reference::Undecided&) {
        CHECK((f == P::tan || f == P::log1p));
      }
    }
  }
  CHECK(compared > 250);
}

template <class End>
void holds_arithmetic() {
  using T = Enclosure<End>;
  Draw draw(13);
  for (int trial = 0; trial < 200; ++trial) {
    const double a = draw.number(300), b = draw.number(300);
    INFO(a << " and " << b);
    for (const bool gaps : {false, true}) {
      const T x = gaps ? draw.gap<End>(a) : T::of(a);
      const T y = gaps ? draw.gap<End>(b) : T::of(b);
      for (const End* i : {&x.lower(), &x.upper()}) {
        for (const End* j : {&y.lower(), &y.upper()}) {
          Exact low, high;
          low.add(exact(*i), exact(*j), Toward::down);
          high.add(exact(*i), exact(*j), Toward::up);
          CHECK(holds(x + y, low, high));
          low.multiply(exact(*i), exact(*j), Toward::down);
          high.multiply(exact(*i), exact(*j), Toward::up);
          CHECK(holds(x * y, low, high));
          low.divide(exact(*i), exact(*j), Toward::down);
          high.divide(exact(*i), exact(*j), Toward::up);
          CHECK(holds(T::quotient(x, y), low, high));
          low.angle(exact(*i), exact(*j), Toward::down);
          high.angle(exact(*i), exact(*j), Toward::up);
          CHECK(holds(T::angle(x, y), low, high));
        }
      }
    }
  }
}

template <class End>
void keeps_what_is_exact() {
  using T = Enclosure<End>;
  const auto is = [](const T& got, double want) {
    return got.is_point() && (std::isnan(want) ? got.is_nan() : got == T::of(want) && got.lower().is_negative() == std::signbit(want));
  };
  CHECK(is(T::function(P::exp, T::of(0)), 1));
  CHECK(is(T::function(P::log, T::of(1)), 0));
  CHECK(is(T::function(P::exp2, T::of(-3)), 0.125));
  CHECK(is(T::function(P::log2, T::of(8)), 3));
  CHECK(is(T::function(P::sqrt, T::of(2.25)), 1.5));
  CHECK(is(T::function(P::round, T::of(2.5)), 2));
  CHECK(is(T::function(P::round, T::of(-0.5)), -0.0));
  CHECK(is(T::power(T::of(-3), T::of(3)), -27));
  CHECK(is(T::power(T::of(0), T::of(-1)), INFINITY));
  CHECK(is(T::quotient(T::of(1), T::of(-0.0)), -INFINITY));
  CHECK(is(T::of(1e300) + T::of(-1e300), 0));
  CHECK(is(T::of(INFINITY) - T::of(INFINITY), NAN));
  CHECK(is(T::modulo(T::of(-7), T::of(4)), 1));
  CHECK(is(T::modulo(T::of(1e300), T::of(7)), std::fmod(1e300, 7)));
  CHECK(is(T::of_decimal(spec::decimal_number("0.375")), 0.375));
  CHECK(!T::of_decimal(spec::decimal_number("0.1")).is_point());
  CHECK(is(T::angle(T::of(-0.0), T::of(1)), -0.0));
}

/// 1 + exp(-10^5) is above 1, and a number just above a tie of binary32 is rounded upwards.
template <class End>
void knows_open_ends() {
  using T = Enclosure<End>;
  const T above = T(1) + T::function(P::exp, T(-100000));
  CHECK(above > T(1));
  CHECK(T::function(P::log, above) > 0);
  constexpr spec::Format f32{24, -126, 127};
  CHECK((T::of(1 + 0x1p-24) + T::function(P::exp, T(-100000))).rounded(f32) == 1 + 0x1p-23);
  CHECK((T::of(1 + 0x1p-24) - T::function(P::exp, T(-100000))).rounded(f32) == 1);
  CHECK(T::of(1 + 0x1p-24).rounded(f32) == 1);
}

}  // namespace

TEST_CASE("enclosures over MPFR's numbers hold what they are of", "[sound][exact]") {
  holds_functions<reference::MpfrEnd<191>>();
  holds_arithmetic<reference::MpfrEnd<191>>();
  keeps_what_is_exact<reference::MpfrEnd<191>>();
  knows_open_ends<reference::MpfrEnd<191>>();
}

TEST_CASE("enclosures over Boost's numbers hold what they are of", "[sound][exact]") {
  holds_functions<reference::BinFloatEnd<191>>();
  holds_arithmetic<reference::BinFloatEnd<191>>();
  keeps_what_is_exact<reference::BinFloatEnd<191>>();
  knows_open_ends<reference::BinFloatEnd<191>>();
}

// Under sanitizers a scratch number that the thread left behind fails the test program.
TEST_CASE("a thread of its own may take remainders, and leaves nothing behind", "[enclosure]") {
  Exact left;
  std::thread([&left] {
    Exact a, b;
    a.set(7.5);
    b.set(2.0);
    left.remainder(a, b);
  }).join();
  Exact expected;
  expected.set(1.5);
  CHECK(Exact::compare(left, expected) == 0);
}
