#include "reference/exact/mark.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include "spec/philox.hpp"

namespace etalon::reference {

using boost::multiprecision::cpp_int;

struct ShortRational {
  boost::multiprecision::cpp_rational value;
};

namespace {

/// Beyond so many bits a rational number is known by its image only.
constexpr unsigned longest = 1U << 14U;
/// An equality of images is believed when it is wrong by chance 2^-64 at most.
constexpr double highest_degree = 0x1p63;

}  // namespace

/// Integers modulo the prime 2^127 - c, whose c is the first after the binary digits of pi that gives one: no sum of a
/// few powers of two is a multiple of it, as one would be of 2^127 - 1.
struct Mark::Field {
  static constexpr std::uint64_t c = 0x3243f6a8885a32f;
  static constexpr Residue prime = (Residue{1} << 127U) - c;

  static Residue folded(Residue v) {  // v < 2^128
    v = (v & ((Residue{1} << 127U) - 1)) + (v >> 127U) * c;
    return v >= prime ? v - prime : v;
  }
  static Residue add(Residue a, Residue b) { return folded(a + b); }
  static Residue negate(Residue a) { return a == 0 ? a : prime - a; }
  /// v · 2^64.
  static Residue shifted(Residue v) {
    // v = high · 2^63 + low, and 2^127 = c.
    const Residue high = v >> 63U;
    const Residue low = v & ((Residue{1} << 63U) - 1);
    return add(folded(low << 64U), times(high, c));
  }
  /// a · b for a < 2^64.
  static Residue times(Residue a, std::uint64_t b) {
    const auto low = static_cast<std::uint64_t>(a);
    const auto high = static_cast<std::uint64_t>(a >> 64U);
    if (high == 0) return folded(Residue{low} * b);
    return add(folded(Residue{low} * b), shifted(folded(Residue{high} * b)));
  }
  static Residue multiply(Residue a, Residue b) {
    return add(times(a, static_cast<std::uint64_t>(b)), shifted(times(a, static_cast<std::uint64_t>(b >> 64U))));
  }
  static Residue power(Residue base, Residue exponent) {
    Residue result = 1;
    for (; exponent != 0; exponent >>= 1U, base = multiply(base, base)) {
      if ((exponent & 1U) != 0) result = multiply(result, base);
    }
    return result;
  }
  static Residue inverse(Residue a) { return power(a, prime - 2); }
  static Residue of(const cpp_int& v) {
    static const cpp_int modulus = (cpp_int(1) << 127U) - c;
    const cpp_int r = abs(v) % modulus;
    const Residue high = static_cast<std::uint64_t>(r >> 64U);
    const Residue low = static_cast<std::uint64_t>(r & 0xFFFFFFFFFFFFFFFFULL);
    const Residue magnitude = (high << 64U) | low;
    return v < 0 ? negate(magnitude) : magnitude;
  }
  /// base^exponent for either sign; the base is a small prime.
  static Residue signed_power(std::uint64_t base, std::int64_t exponent) {
    const auto magnitude = exponent < 0 ? 0 - static_cast<std::uint64_t>(exponent) : static_cast<std::uint64_t>(exponent);
    const Residue r = power(base, magnitude);
    return exponent < 0 ? inverse(r) : r;
  }
};

Mark Mark::of_rational(ShortRational&& value) {
  Mark m;
  m.numerator_ = Field::of(numerator(value.value));
  m.denominator_ = Field::of(denominator(value.value));
  if (m.denominator_ == 0) return {};
  const auto bits = [](const cpp_int& v) { return v == 0 ? 0U : msb(abs(v)); };
  if (bits(numerator(value.value)) + bits(denominator(value.value)) <= longest) {
    m.exact_ = std::make_shared<const ShortRational>(std::move(value));
  }
  return m;
}

Mark Mark::of(const Dyadic& value) {
  if (value.digits.empty()) return of_rational({0});
  cpp_int digits;
  import_bits(digits, value.digits.begin(), value.digits.end(), 64, false);
  if (value.negative) digits = -digits;
  const auto zeros = static_cast<unsigned>(lsb(abs(digits)));
  digits >>= zeros;
  const std::int64_t exponent = value.exponent + zeros;
  if (exponent > -std::int64_t{longest} && exponent < std::int64_t{longest}) {
    const cpp_int scale = cpp_int(1) << static_cast<unsigned>(exponent < 0 ? -exponent : exponent);
    if (exponent < 0) return of_rational({{digits, scale}});
    return of_rational({{digits * scale, 1}});
  }
  Mark m;
  m.numerator_ = Field::multiply(Field::of(digits), Field::signed_power(2, exponent));
  m.denominator_ = 1;
  return m;
}

Mark Mark::of_decimal(const spec::Number& decimal) {
  const cpp_int mantissa(spec::digits_of(decimal));
  const std::int32_t exponent = decimal.exponent;
  if (exponent > -4096 && exponent < 4096) {
    const cpp_int scale = pow(cpp_int(10), static_cast<unsigned>(exponent < 0 ? -exponent : exponent));
    if (exponent < 0) return of_rational({{mantissa, scale}});
    return of_rational({{mantissa * scale, 1}});
  }
  Mark m;
  m.numerator_ = Field::multiply(Field::of(mantissa), Field::signed_power(10, exponent));
  m.denominator_ = 1;
  return m;
}

Mark::Residue Mark::image() const { return Field::multiply(numerator_, Field::inverse(denominator_)); }

Mark Mark::pseudo_random(spec::Primitive p, Residue image, double degree) {
  const auto word = [&](unsigned n) { return static_cast<std::uint32_t>(image >> (32U * n)); };
  const spec::PhiloxBlock block =
      spec::philox4x32({word(0), word(1), word(2), word(3)}, {static_cast<std::uint32_t>(p), 0x243F6A88U});
  Residue r = 0;
  for (const std::uint32_t w : block) r = (r << 32U) | w;
  Mark m;
  m.numerator_ = Field::folded(r);
  m.denominator_ = 1;
  m.degree_ = 1 + degree;
  return m;
}

Mark Mark::function(spec::Primitive p) { return pseudo_random(p, 0, 0); }

Mark Mark::function(spec::Primitive p, const Mark& a) { return a.known() ? pseudo_random(p, a.image(), a.degree_) : Mark(); }

Mark Mark::function(spec::Primitive p, const Mark& a, const Mark& b) {
  if (!a.known() || !b.known()) return {};
  const Mark first = pseudo_random(p, a.image(), a.degree_);
  return pseudo_random(p, Field::add(first.numerator_, b.image()), a.degree_ + b.degree_);
}

Mark Mark::sum(const Mark& a, const Mark& b) {
  if (!a.known() || !b.known()) return {};
  if (a.exact_ && b.exact_) return of_rational({a.exact_->value + b.exact_->value});
  Mark m;
  m.numerator_ = Field::add(Field::multiply(a.numerator_, b.denominator_), Field::multiply(b.numerator_, a.denominator_));
  m.denominator_ = Field::multiply(a.denominator_, b.denominator_);
  m.degree_ = a.degree_ + b.degree_;
  return m;
}

Mark Mark::product(const Mark& a, const Mark& b) {
  if (!a.known() || !b.known()) return {};
  if (a.exact_ && b.exact_) return of_rational({a.exact_->value * b.exact_->value});
  Mark m;
  m.numerator_ = Field::multiply(a.numerator_, b.numerator_);
  m.denominator_ = Field::multiply(a.denominator_, b.denominator_);
  m.degree_ = a.degree_ + b.degree_;
  return m;
}

Mark Mark::quotient(const Mark& a, const Mark& b) {
  if (!a.known() || !b.known() || b.numerator_ == 0) return {};
  if (a.exact_ && b.exact_) return of_rational({a.exact_->value / b.exact_->value});
  Mark m;
  m.numerator_ = Field::multiply(a.numerator_, b.denominator_);
  m.denominator_ = Field::multiply(a.denominator_, b.numerator_);
  m.degree_ = a.degree_ + b.degree_;
  return m;
}

Mark Mark::negated() const {
  Mark m = *this;
  m.numerator_ = Field::negate(numerator_);
  if (exact_) m.exact_ = std::make_shared<const ShortRational>(ShortRational{-exact_->value});
  return m;
}

bool Mark::is_zero() const {
  if (exact_) return exact_->value == 0;
  // Without functions the field's elements are no chance: its prime is known to everybody.
  return known() && numerator_ == 0 && degree_ > 0 && degree_ <= highest_degree;
}

}  // namespace etalon::reference
