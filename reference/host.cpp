#include "reference/host.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "reference/exact/precisions.hpp"
#include "reference/exact/scalar.hpp"
#include "reference/interruptible.hpp"
#include "reference/nearest.hpp"
#include "reference/place.hpp"
#include "reference/scalar_math.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::reference {

namespace {

using spec::Format;

double decode_small(std::uint16_t bits, int precision, int emax) {
  const int mantissa_bits = precision - 1;
  const unsigned mantissa = bits & ((1U << mantissa_bits) - 1U);
  const int field = (bits & 0x7fffU) >> mantissa_bits;
  const int special = 2 * emax + 1;
  double v = 0;
  if (field == special) {
    v = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (field == 0) {
    v = std::ldexp(static_cast<double>(mantissa), 1 - emax - mantissa_bits);
  } else {
    v = std::ldexp(static_cast<double>(mantissa | (1U << mantissa_bits)), field - emax - mantissa_bits);
  }
  return (bits & 0x8000U) != 0 ? -v : v;
}

/// `v` is a value of the format already.
std::uint16_t encode_small(double v, int precision, int emax) {
  const int mantissa_bits = precision - 1;
  const unsigned sign = std::signbit(v) ? 0x8000U : 0U;
  const auto special = static_cast<unsigned>(2 * emax + 1) << mantissa_bits;
  if (std::isnan(v)) return static_cast<std::uint16_t>(sign | special | (1U << (mantissa_bits - 1)));
  if (std::isinf(v)) return static_cast<std::uint16_t>(sign | special);
  if (v == 0) return static_cast<std::uint16_t>(sign);
  const int exponent = std::ilogb(v);
  const int quantum = std::max(exponent, 1 - emax) - mantissa_bits;
  const auto digits = static_cast<unsigned>(std::ldexp(std::fabs(v), -quantum));
  // A normal number's hidden bit adds one to the exponent field.
  const auto field = static_cast<unsigned>(exponent < 1 - emax ? 0 : exponent + emax - 1) << mantissa_bits;
  return static_cast<std::uint16_t>(sign | (field + digits));
}

// What nearest asks of each number type.

struct DoubleView {
  double v;
  [[nodiscard]] bool is_nan() const { return std::isnan(v); }
  [[nodiscard]] bool is_inf() const { return std::isinf(v); }
  [[nodiscard]] bool is_zero() const { return v == 0; }
  [[nodiscard]] bool is_negative() const { return std::signbit(v); }
  [[nodiscard]] std::int64_t exponent() const { return std::ilogb(v); }
  [[nodiscard]] double rounded_quotient(int quantum) const { return std::nearbyint(std::ldexp(v, -quantum)); }
};

template <unsigned Digits>
struct WideView {
  const Wide<Digits>& v;
  [[nodiscard]] mpfr_srcptr x() const { return v.backend().data(); }
  [[nodiscard]] bool is_nan() const { return mpfr_nan_p(x()) != 0; }
  [[nodiscard]] bool is_inf() const { return mpfr_inf_p(x()) != 0; }
  [[nodiscard]] bool is_zero() const { return mpfr_zero_p(x()) != 0; }
  [[nodiscard]] bool is_negative() const { return mpfr_signbit(x()) != 0; }
  [[nodiscard]] std::int64_t exponent() const { return mpfr_get_exp(x()) - 1; }
  [[nodiscard]] double rounded_quotient(int quantum) const {
    Wide<Digits> q;
    mpfr_mul_2si(q.backend().data(), x(), -quantum, MPFR_RNDN);
    mpfr_rint(q.backend().data(), q.backend().data(), MPFR_RNDN);
    return mpfr_get_d(q.backend().data(), MPFR_RNDN);
  }
};

struct RationalView {
  const Rational& v;
  [[nodiscard]] static bool is_nan() { return false; }
  [[nodiscard]] static bool is_inf() { return false; }
  [[nodiscard]] bool is_zero() const { return v == 0; }
  [[nodiscard]] bool is_negative() const { return v < 0; }
  [[nodiscard]] std::int64_t exponent() const {
    using boost::multiprecision::cpp_int;
    const cpp_int n = abs(numerator(v));
    const cpp_int d = denominator(v);
    const int e = static_cast<int>(msb(n)) - static_cast<int>(msb(d));
    const bool too_big = e >= 0 ? n < (d << static_cast<unsigned>(e)) : (n << static_cast<unsigned>(-e)) < d;
    return too_big ? e - 1 : e;
  }
  [[nodiscard]] double rounded_quotient(int quantum) const {
    using boost::multiprecision::cpp_int;
    cpp_int n = abs(numerator(v));
    cpp_int d = denominator(v);
    (quantum < 0 ? n : d) <<= static_cast<unsigned>(std::abs(quantum));
    cpp_int q = n / d;
    const cpp_int twice = (n - q * d) * 2;
    if (twice > d || (twice == d && q % 2 != 0)) ++q;
    return q.convert_to<double>();
  }
};

double round_to(double v, const Format& format) { return nearest(DoubleView{v}, format); }
template <unsigned Digits>
double round_to(const Wide<Digits>& v, const Format& format) {
  return nearest(WideView<Digits>{v}, format);
}
double round_to(const Rational& v, const Format& format) { return nearest(RationalView{v}, format); }
template <class End>
double round_to(const Enclosure<End>& v, const Format& format) {
  return v.rounded(format);
}

double element_as_double(const HostTensor& t, std::size_t i) {
  switch (t.dtype) {
    case DType::f64: return t.view<double>()[i];
    case DType::f32: return t.view<float>()[i];
    case DType::f16: return decode_small(t.view<std::uint16_t>()[i], 11, 15);
    default: return decode_small(t.view<std::uint16_t>()[i], 8, 127);
  }
}

std::int64_t element_as_integer(const HostTensor& t, std::size_t i) {
  switch (t.dtype) {
    case DType::i64: return t.view<std::int64_t>()[i];
    case DType::i32: return t.view<std::int32_t>()[i];
    default: return t.view<std::uint8_t>()[i] != 0 ? 1 : 0;
  }
}

void store(HostTensor& t, std::size_t i, double v) {
  switch (t.dtype) {
    case DType::f64: t.view<double>()[i] = v; return;
    case DType::f32: t.view<float>()[i] = static_cast<float>(v); return;
    case DType::f16: t.view<std::uint16_t>()[i] = encode_small(v, 11, 15); return;
    default: t.view<std::uint16_t>()[i] = encode_small(v, 8, 127); return;
  }
}

void store(HostTensor& t, std::size_t i, std::int64_t v) {
  switch (t.dtype) {
    case DType::i64: t.view<std::int64_t>()[i] = v; return;
    case DType::i32: t.view<std::int32_t>()[i] = static_cast<std::int32_t>(v); return;
    default: t.view<std::uint8_t>()[i] = v != 0 ? 1 : 0; return;
  }
}

}  // namespace

template <class T>
Array<T> from_host(const HostTensor& tensor) {
  Array<T> a(kind_of(tensor.dtype), tensor.dims);
  Interruptible* const interruptible = Interruptible::innermost();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (interruptible != nullptr) interruptible->ask();
    if (a.kind == Kind::real) {
      a.real[i] = Scalar<T>::of_binary(element_as_double(tensor, i));
    } else {
      a.integer[i] = element_as_integer(tensor, i);
    }
  }
  return a;
}

template <class T>
void set_rounded(HostTensor& tensor, const Array<T>& array, std::size_t element) {
  if (array.kind != Kind::real) return store(tensor, element, array.integer[element]);
  try {
    store(tensor, element, round_to(array.real[element], spec::format_of(tensor.dtype)));
  } catch (Undecided& question) {
    question.of("element " + to_string(indices_of(array.dims, element)));
    throw;
  }
}

template <class T>
HostTensor to_host(const Array<T>& array, DType dtype) {
  if (kind_of(dtype) != array.kind) throw InternalError("to_host: an array of another kind than the element type");
  HostTensor t(dtype, array.dims);
  for (std::size_t i = 0; i < array.size(); ++i) set_rounded(t, array, i);
  return t;
}

template Array<double> from_host(const HostTensor&);
template Array<Real50> from_host(const HostTensor&);
template Array<Real100> from_host(const HostTensor&);
template Array<Rational> from_host(const HostTensor&);
template HostTensor to_host(const Array<double>&, DType);
template HostTensor to_host(const Array<Real50>&, DType);
template HostTensor to_host(const Array<Real100>&, DType);
template HostTensor to_host(const Array<Rational>&, DType);
#define ETALON_INSTANTIATE(Bits)                                \
  template Array<Precise<Bits>> from_host(const HostTensor&); \
  template HostTensor to_host(const Array<Precise<Bits>>&, DType); \
  template void set_rounded(HostTensor&, const Array<Precise<Bits>>&, std::size_t);
ETALON_FOR_EACH_PRECISION(ETALON_INSTANTIATE)
#undef ETALON_INSTANTIATE

}  // namespace etalon::reference
