/// \file
/// Real numbers by intervals in which they lie, over any floating-point type that rounds as it is told. A question that
/// the interval leaves open is never guessed: it is Undecided, or answered by what else is known of the number.
#pragma once

#include <compare>
#include <cstdint>
#include <type_traits>

#include "reference/exact/mark.hpp"
#include "reference/exact/undecided.hpp"
#include "spec/contract/contract.hpp"
#include "spec/scalar.hpp"

namespace etalon::reference {

/// Precisions up to this carry no marks: most questions are answered without.
inline constexpr unsigned bits_without_marks = 191;

/// A point, which is the number itself (exactly; NaN, infinities and signed zeros as IEEE 754 has them), or a gap around a
/// finite real number. An open end of a gap is not the number; an end that is zero or infinite is always open, so that
/// numbers whose sign is known may come as near to zero as they like.
template <class End>
class Enclosure {
 public:
  static constexpr unsigned bits = End::bits;
  static constexpr bool marked = bits > bits_without_marks;

  /// Zero.
  Enclosure() = default;
  explicit Enclosure(std::int64_t v) { lower_.set(v); }
  [[nodiscard]] static Enclosure of(double v);
  [[nodiscard]] static Enclosure of_decimal(const spec::Number& decimal);
  [[nodiscard]] static Enclosure pi();

  Enclosure(const Enclosure& other) : lower_(other.lower_), point_(other.point_), unsigned_zero_(other.unsigned_zero_) {
    copy_gap(other);
  }
  Enclosure& operator=(const Enclosure& other) {
    lower_ = other.lower_;
    point_ = other.point_;
    unsigned_zero_ = other.unsigned_zero_;
    if (this != &other) copy_gap(other);
    return *this;
  }
  ~Enclosure() = default;

  [[nodiscard]] bool is_point() const { return point_; }
  [[nodiscard]] const End& lower() const { return lower_; }
  [[nodiscard]] const End& upper() const { return point_ ? lower_ : upper_; }
  [[nodiscard]] bool is_nan() const { return point_ && lower_.is_nan(); }
  [[nodiscard]] bool is_inf() const { return point_ && lower_.is_inf(); }

  [[nodiscard]] static Enclosure sum(const Enclosure& a, const Enclosure& b);
  [[nodiscard]] static Enclosure product(const Enclosure& a, const Enclosure& b);
  [[nodiscard]] static Enclosure quotient(const Enclosure& a, const Enclosure& b);
  [[nodiscard]] static Enclosure power(const Enclosure& a, const Enclosure& b);
  [[nodiscard]] static Enclosure angle(const Enclosure& y, const Enclosure& x);
  /// a - b·floor(a/b).
  [[nodiscard]] static Enclosure modulo(const Enclosure& a, const Enclosure& b);
  [[nodiscard]] static Enclosure maximum(const Enclosure& a, const Enclosure& b);
  [[nodiscard]] static Enclosure minimum(const Enclosure& a, const Enclosure& b);
  [[nodiscard]] static Enclosure abs(const Enclosure& a);
  /// A function of one real or an integral part.
  [[nodiscard]] static Enclosure function(spec::Primitive f, const Enclosure& a);
  [[nodiscard]] Enclosure negated() const;

  /// How a stands to b, unordered with NaN. \throws Undecided
  [[nodiscard]] static std::partial_ordering compare(const Enclosure& a, const Enclosure& b);
  /// How the number stands to zero. \throws Undecided
  [[nodiscard]] std::partial_ordering sign() const;
  /// Toward zero, out of range the nearest end, NaN as 0. \throws Undecided
  [[nodiscard]] std::int64_t to_integer() const;
  /// The nearest value of the format, ties to even, overflow to infinity, gradual underflow; a zero whose sign
  /// is not known is +0. \throws Undecided
  [[nodiscard]] double rounded(const spec::Format& format) const;

  friend Enclosure operator+(const Enclosure& a, const Enclosure& b) { return sum(a, b); }
  friend Enclosure operator-(const Enclosure& a, const Enclosure& b) { return sum(a, b.negated()); }
  friend Enclosure operator*(const Enclosure& a, const Enclosure& b) { return product(a, b); }
  friend Enclosure operator-(const Enclosure& a) { return a.negated(); }
  Enclosure& operator+=(const Enclosure& b) { return *this = sum(*this, b); }
  friend std::partial_ordering operator<=>(const Enclosure& a, const Enclosure& b) { return compare(a, b); }
  friend bool operator==(const Enclosure& a, const Enclosure& b) { return compare(a, b) == 0; }
  friend std::partial_ordering operator<=>(const Enclosure& a, int b) { return b == 0 ? a.sign() : compare(a, Enclosure(b)); }
  friend bool operator==(const Enclosure& a, int b) { return (a <=> b) == 0; }

 private:
  struct NoMark {};
  /// On which side of zero all of a gap lies: -1 or 1; 0 where it reaches over zero.
  [[nodiscard]] int gap_sign() const;
  /// Of a number that is not NaN and not zero: whether it is negative. \throws Undecided
  [[nodiscard]] bool surely_negative() const;
  [[nodiscard]] Mark mark() const;
  [[nodiscard]] bool equals(const Enclosure& other) const;

  [[nodiscard]] static Enclosure point(const End& value);
  /// The number on whose `side` the end lies, with nothing of the type between the two; 2 is either side.
  [[nodiscard]] static Enclosure beside(const End& end, int side);
  [[nodiscard]] bool lower_is_open() const { return !point_ && (lower_open_ || lower_.is_zero() || lower_.is_inf()); }
  [[nodiscard]] bool upper_is_open() const { return !point_ && (upper_open_ || upper_.is_zero() || upper_.is_inf()); }
  /// The numbers from lower to upper; a zero end that the number may attain is moved outwards.
  [[nodiscard]] static Enclosure between(const End& lower, const End& upper, bool lower_attained, bool upper_attained);
  [[nodiscard]] static Enclosure special(double v) { return of(v); }
  [[nodiscard]] static Enclosure zero(bool negative);
  [[nodiscard]] static Enclosure unsigned_zero();
  [[nodiscard]] bool is_zero() const { return point_ && lower_.is_zero(); }
  [[nodiscard]] bool has_sign() const { return point_ ? !unsigned_zero_ : gap_sign() != 0; }
  [[nodiscard]] static Enclosure infinity(bool negative);
  [[nodiscard]] static Enclosure product_of_gaps(const Enclosure& a, const Enclosure& b);
  [[nodiscard]] static Enclosure quotient_of_gaps(const Enclosure& a, const Enclosure& b);
  [[nodiscard]] static Enclosure whole_power(const Enclosure& a, const Enclosure& b);
  [[nodiscard]] static Enclosure power_at_limits(const Enclosure& a, const Enclosure& b);
  [[nodiscard]] static Mark power_mark(const Enclosure& a, const Enclosure& b);
  template <class Operation>
  [[nodiscard]] static Enclosure hull_of_corners(const Enclosure& a, const Enclosure& b, const Operation& operation);
  [[nodiscard]] static Enclosure increasing(spec::Primitive f, const Enclosure& a);
  [[nodiscard]] static Enclosure wave(spec::Primitive f, const Enclosure& a);
  [[nodiscard]] static Enclosure gap_function(spec::Primitive f, const Enclosure& a);
  [[nodiscard]] static Enclosure extremum(const Enclosure& a, const Enclosure& b, bool greatest);

  void copy_gap(const Enclosure& other) {
    if (point_) return;
    upper_ = other.upper_;
    lower_open_ = other.lower_open_;
    upper_open_ = other.upper_open_;
    mark_ = other.mark_;
  }

  End lower_;
  End upper_;  ///< of a gap
  bool point_ = true;
  bool lower_open_ = false;
  bool upper_open_ = false;
  bool unsigned_zero_ = false;  ///< a zero whose sign is not known, such as that of 0 times a gap over zero
  [[no_unique_address]] std::conditional_t<marked, Mark, NoMark> mark_{};  ///< of a gap
};

}  // namespace etalon::reference
