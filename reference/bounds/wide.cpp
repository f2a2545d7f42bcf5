#include "reference/bounds/wide.hpp"

#include <mpfr.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "reference/scalar_math.hpp"
#include "reference/thread_caches.hpp"
#include "spec/error.hpp"

namespace etalon::reference::bounds {
namespace {

using spec::Primitive;

/// A scratch number of MPFR, by default with a little more than 113 bits.
class Scratch {
 public:
  explicit Scratch(mpfr_prec_t precision = 120) {
    free_caches_with_thread();
    mpfr_init2(x, precision);
  }
  explicit Scratch(Quad value) : Scratch() { set(value); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { mpfr_clear(x); }

  void set(Quad value) {
    const auto bits = std::bit_cast<QuadBits>(value);
    const auto exponent = static_cast<long>(static_cast<std::uint64_t>(bits >> 112U) & 0x7FFFU);
    if (exponent == 0x7FFF || exponent == 0) {
      mpfr_set_d(x, static_cast<double>(value), MPFR_RNDN);
      return;
    }
    const auto low = static_cast<std::uint64_t>(bits);
    const auto high = (static_cast<std::uint64_t>(bits >> 64U) & 0xFFFFFFFFFFFFULL) | (1ULL << 48U);
    mpfr_set_ui_2exp(x, high, exponent - 16495 + 64, MPFR_RNDN);
    mpfr_t tail;
    mpfr_init2(tail, 64);
    mpfr_set_ui_2exp(tail, low, exponent - 16495, MPFR_RNDN);
    mpfr_add(x, x, tail, MPFR_RNDN);
    mpfr_clear(tail);
    if (value < 0) mpfr_neg(x, x, MPFR_RNDN);
  }

  [[nodiscard]] Quad get() {
    if (!mpfr_number_p(x) || mpfr_zero_p(x)) return mpfr_get_d(x, MPFR_RNDN);
    const long exponent = mpfr_get_exp(x);
    mpfr_mul_2si(x, x, -exponent, MPFR_RNDN);
    Quad sum = 0;
    for (int part = 0; part < 3; ++part) {
      const double d = mpfr_get_d(x, MPFR_RNDZ);
      sum += d;
      mpfr_sub_d(x, x, d, MPFR_RNDN);
    }
    return Wide<Quad>::scale(sum, static_cast<int>(exponent));
  }

  mpfr_t x;
};

/// Results of a function of two numbers that were asked for lately: neighbouring elements ask for the same ones, and MPFR
/// takes its time.
template <class X, class Result>
class Lately {
 public:
  template <class Compute>
  [[nodiscard]] const Result& operator()(Primitive p, X x, X y, const Compute& compute) {
    Entry& e = entries_[place(p, x, y)];
    // Compared by bits, which tell zeros apart and NaN from nothing.
    if (!e.known || e.function != p || !same_bits(e.x, x) || !same_bits(e.y, y)) e = {true, p, x, y, compute()};
    return e.result;
  }

 private:
  static constexpr unsigned index_bits = 10;
  struct Entry {
    bool known = false;
    Primitive function{};
    X x{};
    X y{};
    Result result{};
  };
  [[nodiscard]] static bool same_bits(const X& a, const X& b) { return std::memcmp(&a, &b, sizeof(X)) == 0; }
  [[nodiscard]] static std::size_t place(Primitive p, const X& x, const X& y) {
    std::uint64_t words[2 * sizeof(X) / sizeof(std::uint64_t)];
    std::memcpy(words, &x, sizeof(X));
    std::memcpy(words + sizeof(X) / sizeof(std::uint64_t), &y, sizeof(X));
    std::uint64_t hash = static_cast<std::uint64_t>(p);
    for (const std::uint64_t word : words) {
      hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 32U;
    }
    return static_cast<std::size_t>((hash * 0x9E3779B97F4A7C15ULL) >> (64U - index_bits));
  }
  std::array<Entry, std::size_t{1} << index_bits> entries_;
};

/// x := f(x) or f(x, y), rounded to the precision of x; which side it was rounded to.
int apply(Primitive p, mpfr_ptr x, mpfr_srcptr y, mpfr_rnd_t to) {
  switch (p) {
    case Primitive::exp: return mpfr_exp(x, x, to);
    case Primitive::exp2: return mpfr_exp2(x, x, to);
    case Primitive::log2: return mpfr_log2(x, x, to);
    case Primitive::tan: return mpfr_tan(x, x, to);
    case Primitive::sinh: return mpfr_sinh(x, x, to);
    case Primitive::cosh: return mpfr_cosh(x, x, to);
    case Primitive::ceil: return mpfr_ceil(x, x), 0;
    case Primitive::trunc: return mpfr_trunc(x, x), 0;
    case Primitive::floor: return mpfr_floor(x, x), 0;
    case Primitive::round: return mpfr_rint(x, x, MPFR_RNDN), 0;
    case Primitive::atan2: return mpfr_atan2(x, x, y, to);
    case Primitive::log: return mpfr_log(x, x, to);
    case Primitive::sqrt: return mpfr_sqrt(x, x, to);
    case Primitive::sin: return mpfr_sin(x, x, to);
    case Primitive::cos: return mpfr_cos(x, x, to);
    case Primitive::tanh: return mpfr_tanh(x, x, to);
    case Primitive::erf: return mpfr_erf(x, x, to);
    case Primitive::expm1: return mpfr_expm1(x, x, to);
    case Primitive::log1p: return mpfr_log1p(x, x, to);
    case Primitive::pi: return mpfr_const_pi(x, to);
    case Primitive::pow: return mpfr_pow(x, x, y, to);
    case Primitive::modulo: {
      // The remainder itself takes no more bits than its operands.
      const int side = mpfr_fmod(x, x, y, to);
      if (mpfr_zero_p(x) != 0) return mpfr_setsign(x, x, mpfr_signbit(y), to), side;
      return mpfr_signbit(x) != mpfr_signbit(y) ? mpfr_add(x, x, y, to) : side;
    }
    default: throw InternalError("bounds: not a function");
  }
}

}  // namespace

double Wide<double>::evaluate(Primitive p, double x, double y) {
  switch (p) {
    case Primitive::exp: return std::exp(x);
    case Primitive::exp2: return std::exp2(x);
    case Primitive::log2: return std::log2(x);
    case Primitive::tan: return std::tan(x);
    case Primitive::sinh: return std::sinh(x);
    case Primitive::cosh: return std::cosh(x);
    case Primitive::ceil: return std::ceil(x);
    case Primitive::trunc: return std::trunc(x);
    case Primitive::round: return std::nearbyint(x);
    case Primitive::atan2: return std::atan2(x, y);
    case Primitive::modulo: return Math<double>::modulo(x, y);
    case Primitive::log: return std::log(x);
    case Primitive::sqrt: return std::sqrt(x);
    case Primitive::sin: return std::sin(x);
    case Primitive::cos: return std::cos(x);
    case Primitive::tanh: return std::tanh(x);
    case Primitive::erf: return std::erf(x);
    case Primitive::expm1: return std::expm1(x);
    case Primitive::log1p: return std::log1p(x);
    case Primitive::pow: return std::pow(x, y);
    case Primitive::floor: return std::floor(x);
    case Primitive::pi: return 3.14159265358979323846;
    default: throw InternalError("bounds: not a function");
  }
}

Quad Wide<Quad>::scale(Quad x, int exponent) {
  const auto power = [](int e) { return std::bit_cast<Quad>(static_cast<QuadBits>(e + 16383) << 112U); };
  for (; exponent > 16000; exponent -= 16000) x *= power(16000);
  for (; exponent < -16000; exponent += 16000) x *= power(-16000);
  return x * power(exponent);
}

Quad Wide<Quad>::evaluate(Primitive p, Quad x, Quad y) {
  thread_local const auto lately = std::make_unique<Lately<Quad, Quad>>();  // not on the stack of the thread
  return (*lately)(p, x, y, [&] {
    Scratch a(x);
    const Scratch b(y);
    (void)apply(p, a.x, b.x, MPFR_RNDN);
    return a.get();
  });
}

Interval enclose(Primitive p, double x, double y) {
  if (p == Primitive::sqrt && x > 0 && has_exact_error(x)) return {sqrt_down(x), sqrt_up(x)};
  thread_local const auto lately = std::make_unique<Lately<double, Interval>>();
  return (*lately)(p, x, y, [&]() -> Interval {
    Scratch a(mpfr_prec_t{53});
    Scratch b(mpfr_prec_t{53});
    mpfr_set_d(a.x, x, MPFR_RNDN);
    mpfr_set_d(b.x, y, MPFR_RNDN);
    const int side = apply(p, a.x, b.x, MPFR_RNDD);
    const double below = mpfr_get_d(a.x, MPFR_RNDD);
    if (side < 0) mpfr_nextabove(a.x);
    return {below, mpfr_get_d(a.x, MPFR_RNDU)};
  });
}

Nearly<double> Wide<double>::nearly(Primitive p, double x, double y) {
  const Interval box = enclose(p, x, y);
  if (box.lower == box.upper || !(box.upper - box.lower < infinity)) {
    return {std::isinf(box.upper) ? box.upper : box.lower, 0, box};
  }
  return {box.lower, sub_up(box.upper, box.lower), box};
}

Nearly<Quad> Wide<Quad>::nearly(Primitive p, Quad x, Quad y) {
  const Quad value = evaluate(p, x, y);
  constexpr double largest = std::numeric_limits<double>::max();
  if (value > 0 && !(value - value == 0)) return {value, 0, {largest, infinity}};
  if (value < 0 && !(value - value == 0)) return {value, 0, {-infinity, -largest}};
  const Interval near = around(value);
  if (value != value) return {value, 0, near};
  // What vanished need not be zero; MPFR's rounding and the one to 113 bits are less than two of the latter.
  const double error = value == 0 ? std::numeric_limits<double>::denorm_min() : 2 * rounding_of(value);
  return {value, error, {down(near.lower), up(near.upper)}};  // less than a double's step, even beyond all doubles
}

template <>
Nearly<Quad> from_decimal<Quad>(const spec::Number& decimal) {
  Scratch value(mpfr_prec_t{113});
  const bool exact = mpfr_strtofr(value.x, spec::exponential_text(decimal).c_str(), nullptr, 10, MPFR_RNDN) == 0;
  const bool zero = mpfr_zero_p(value.x) != 0;
  const Quad x = value.get();
  double error = exact || !(x - x == 0) ? 0 : 2 * Wide<Quad>::rounding_of(x);
  if (x == 0 && !zero) error = std::numeric_limits<double>::denorm_min();
  const Interval near = Wide<Quad>::around(x);
  return {x, error, error == 0 ? near : Interval{down(near.lower), up(near.upper)}};
}

template <>
Nearly<double> from_decimal<double>(const spec::Number& decimal) {
  const Nearly<Quad> wide = from_decimal<Quad>(decimal);
  const auto x = static_cast<double>(wide.value);
  if (wide.error == 0 && static_cast<Quad>(x) == wide.value) return {x, 0, just(x)};
  return {x, sub_up(wide.box.upper, wide.box.lower), wide.box};
}

}  // namespace etalon::reference::bounds
