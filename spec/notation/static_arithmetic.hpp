/// \file
/// Arithmetic of static values: of numbers, truth values and symbols, and of rows element by element. What overflows or
/// has no meaning is a diagnosis of the expression it stands in. It evaluates no expression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/dims.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/static_value.hpp"

namespace etalon::spec::notation {

class StaticArithmetic {
 protected:
  using Form = StaticValue::Form;

  constexpr StaticArithmetic(const Definition& d, Diagnosis& diagnosis) : d_(d), diagnosis_(diagnosis) {}

  constexpr bool fail(NodeId n, std::string_view rule) const {
    if (diagnosis_.ok()) diagnosis_ = diagnose(d_.name, ": ", d_.at(n), rule).at(d_.text, d_[n].text.begin);
    return false;
  }

  constexpr StaticValue elementwise(NodeId n, Primitive p, const StaticValue& a, const StaticValue& b) const {
    if (a.form != Form::row && b.form != Form::row) return scalar(n, p, a, b);
    if ((a.form != Form::row && a.form != Form::integer) || (b.form != Form::row && b.form != Form::integer)) return {};
    const std::size_t rank = a.form == Form::row ? a.row.rank : b.row.rank;
    if (a.form == Form::row && b.form == Form::row && a.row.rank != b.row.rank) {
      rank_mismatch(n, a.row.rank, b.row.rank);
      return {};
    }
    StaticValue out;
    const bool compares = p >= Primitive::eq && p <= Primitive::ge;
    out.form = compares ? Form::boolean : Form::row;
    out.truth = true;
    for (std::size_t i = 0; i < rank; ++i) {
      const StaticValue e = scalar(n, p, a.form == Form::row ? StaticValue::of(a.row[i]) : a,
                                   b.form == Form::row ? StaticValue::of(b.row[i]) : b);
      if (e.form == Form::unknown) return {};
      if (compares) out.truth = out.truth && e.truth;
      else out.row.push_back(e.integer);
    }
    return out;
  }

  constexpr void rank_mismatch(NodeId n, std::size_t a, std::size_t b) const {
    if (!diagnosis_.ok()) return;
    diagnosis_ = diagnose(d_.name, ": ", d_.at(n), " mixes rows of ", static_cast<std::int64_t>(a), " and ",
                          static_cast<std::int64_t>(b), " axes")
                     .at(d_.text, d_[n].text.begin);
  }

  constexpr StaticValue scalar(NodeId n, Primitive p, const StaticValue& a, const StaticValue& b) const {
    if (a.form == Form::boolean && b.form == Form::boolean) return logical(p, a.truth, b.truth);
    if (a.form == Form::symbol && b.form == Form::symbol) {
      if (p == Primitive::eq) return StaticValue::of_truth(a.symbol == b.symbol);
      if (p == Primitive::ne) return StaticValue::of_truth(a.symbol != b.symbol);
      return {};
    }
    if (a.form == Form::integer && b.form == Form::integer) return integers(n, p, a.integer, b.integer);
    const bool numbers = (a.form == Form::integer || a.form == Form::real) &&
                         (b.form == Form::integer || b.form == Form::real);
    if (!numbers) return {};
    return reals(p, a.form == Form::integer ? static_cast<double>(a.integer) : a.real,
                 b.form == Form::integer ? static_cast<double>(b.integer) : b.real);
  }

  static constexpr StaticValue logical(Primitive p, bool a, bool b) {
    switch (p) {
      case Primitive::logical_and: return StaticValue::of_truth(a && b);
      case Primitive::logical_or: return StaticValue::of_truth(a || b);
      case Primitive::logical_not: return StaticValue::of_truth(!a);
      case Primitive::eq: return StaticValue::of_truth(a == b);
      case Primitive::ne: return StaticValue::of_truth(a != b);
      default: return {};
    }
  }

  template <class T>
  static constexpr StaticValue compare(Primitive p, T a, T b) {
    switch (p) {
      case Primitive::eq: return StaticValue::of_truth(a == b);
      case Primitive::ne: return StaticValue::of_truth(a != b);
      case Primitive::lt: return StaticValue::of_truth(a < b);
      case Primitive::le: return StaticValue::of_truth(a <= b);
      case Primitive::gt: return StaticValue::of_truth(a > b);
      case Primitive::ge: return StaticValue::of_truth(a >= b);
      default: return {};
    }
  }

  constexpr StaticValue integers(NodeId n, Primitive p, std::int64_t a, std::int64_t b) const {
    std::int64_t out = 0;
    bool overflow = false;
    switch (p) {
      case Primitive::add: overflow = __builtin_add_overflow(a, b, &out); break;
      case Primitive::sub: overflow = __builtin_sub_overflow(a, b, &out); break;
      case Primitive::mul: overflow = __builtin_mul_overflow(a, b, &out); break;
      case Primitive::neg: overflow = __builtin_sub_overflow(std::int64_t{0}, a, &out); break;
      case Primitive::maximum: out = a > b ? a : b; break;
      case Primitive::minimum: out = a < b ? a : b; break;
      case Primitive::abs: overflow = a < 0 ? __builtin_sub_overflow(std::int64_t{0}, a, &out) : (out = a, false); break;
      case Primitive::sign: out = a > 0 ? 1 : a < 0 ? -1 : 0; break;
      case Primitive::floor_div:
      case Primitive::modulo:
        if (b <= 0) return not_positive(n, b);
        out = a % b < 0 ? a % b + b : a % b;
        if (p == Primitive::floor_div) out = a / b - (a % b < 0 ? 1 : 0);
        break;
      default: return compare(p, a, b);
    }
    if (overflow) {
      fail(n, " does not fit 64 bits");
      return {};
    }
    return StaticValue::of(out);
  }

  constexpr StaticValue not_positive(NodeId n, std::int64_t b) const {
    if (diagnosis_.ok()) {
      diagnosis_ = diagnose(d_.name, ": ", d_.at(d_.child(n, 1)), " is ", b, " in ", d_.at(n), ", want a positive number")
                       .at(d_.text, d_[n].text.begin);
    }
    return {};
  }

  static constexpr StaticValue reals(Primitive p, double a, double b) {
    switch (p) {
      case Primitive::add: return StaticValue::of_real(a + b);
      case Primitive::sub: return StaticValue::of_real(a - b);
      case Primitive::mul: return StaticValue::of_real(a * b);
      case Primitive::neg: return StaticValue::of_real(-a);
      default: return compare(p, a, b);
    }
  }

  /// The number of elements of a tensor with this row of extents.
  constexpr StaticValue size(NodeId n, const Dims& row) const {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < row.rank; ++i) {
      if (__builtin_mul_overflow(product, row[i], &product)) {
        fail(n, " does not fit 64 bits");
        return {};
      }
    }
    return StaticValue::of(product);
  }

  const Definition& d_;
  Diagnosis& diagnosis_;
};

}  // namespace etalon::spec::notation
