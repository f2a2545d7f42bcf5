#include "reference/bounds/wide.hpp"

#include <mpfr.h>

#include "reference/scalar_math.hpp"
#include "reference/thread_caches.hpp"
#include "spec/error.hpp"

namespace etalon::reference::bounds {
namespace {

using spec::Primitive;

/// A scratch number of MPFR with a little more than 113 bits.
class Scratch {
 public:
  Scratch() {
    free_caches_with_thread();
    mpfr_init2(x, 120);
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
  Scratch a(x);
  switch (p) {
    case Primitive::exp: mpfr_exp(a.x, a.x, MPFR_RNDN); break;
    case Primitive::exp2: mpfr_exp2(a.x, a.x, MPFR_RNDN); break;
    case Primitive::log2: mpfr_log2(a.x, a.x, MPFR_RNDN); break;
    case Primitive::tan: mpfr_tan(a.x, a.x, MPFR_RNDN); break;
    case Primitive::sinh: mpfr_sinh(a.x, a.x, MPFR_RNDN); break;
    case Primitive::cosh: mpfr_cosh(a.x, a.x, MPFR_RNDN); break;
    case Primitive::ceil: mpfr_ceil(a.x, a.x); break;
    case Primitive::trunc: mpfr_trunc(a.x, a.x); break;
    case Primitive::round: mpfr_rint(a.x, a.x, MPFR_RNDN); break;
    case Primitive::atan2: {
      const Scratch b(y);
      mpfr_atan2(a.x, a.x, b.x, MPFR_RNDN);
      break;
    }
    case Primitive::modulo: {
      const Scratch b(y);
      mpfr_fmod(a.x, a.x, b.x, MPFR_RNDN);
      if (mpfr_zero_p(a.x) != 0) mpfr_setsign(a.x, a.x, mpfr_signbit(b.x), MPFR_RNDN);
      else if (mpfr_signbit(a.x) != mpfr_signbit(b.x)) mpfr_add(a.x, a.x, b.x, MPFR_RNDN);
      break;
    }
    case Primitive::log: mpfr_log(a.x, a.x, MPFR_RNDN); break;
    case Primitive::sqrt: mpfr_sqrt(a.x, a.x, MPFR_RNDN); break;
    case Primitive::sin: mpfr_sin(a.x, a.x, MPFR_RNDN); break;
    case Primitive::cos: mpfr_cos(a.x, a.x, MPFR_RNDN); break;
    case Primitive::tanh: mpfr_tanh(a.x, a.x, MPFR_RNDN); break;
    case Primitive::erf: mpfr_erf(a.x, a.x, MPFR_RNDN); break;
    case Primitive::expm1: mpfr_expm1(a.x, a.x, MPFR_RNDN); break;
    case Primitive::log1p: mpfr_log1p(a.x, a.x, MPFR_RNDN); break;
    case Primitive::floor: mpfr_floor(a.x, a.x); break;
    case Primitive::pi: mpfr_const_pi(a.x, MPFR_RNDN); break;
    case Primitive::pow: {
      const Scratch b(y);
      mpfr_pow(a.x, a.x, b.x, MPFR_RNDN);
      break;
    }
    default: throw InternalError("bounds: not a function");
  }
  return a.get();
}

template <>
Quad from_decimal<Quad>(const spec::Number& decimal) {
  Scratch value;
  mpfr_set_prec(value.x, 160);
  mpfr_set_str(value.x, spec::exponential_text(decimal).c_str(), 10, MPFR_RNDN);
  return value.get();
}

template <>
double from_decimal<double>(const spec::Number& decimal) {
  return std::strtod(spec::exponential_text(decimal).c_str(), nullptr);
}

}  // namespace etalon::reference::bounds
