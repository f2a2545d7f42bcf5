/// \file
/// A value that is known once extents and attributes are: a number, a truth value, a symbol or a row of integers.
#pragma once

#include <cstdint>
#include <string_view>

#include "spec/dims.hpp"
#include "spec/notation/diagnosis.hpp"

namespace etalon::spec {

struct StaticValue {
  enum class Form : std::uint8_t { unknown, integer, real, boolean, symbol, row };
  Form form = Form::unknown;
  bool truth = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view symbol;
  Dims row;

  [[nodiscard]] static constexpr StaticValue of(std::int64_t v) {
    StaticValue s;
    s.form = Form::integer;
    s.integer = v;
    return s;
  }
  [[nodiscard]] static constexpr StaticValue of_truth(bool v) {
    StaticValue s;
    s.form = Form::boolean;
    s.truth = v;
    return s;
  }
  [[nodiscard]] static constexpr StaticValue of_real(double v) {
    StaticValue s;
    s.form = Form::real;
    s.real = v;
    return s;
  }
  [[nodiscard]] static constexpr StaticValue of_row(const Dims& v) {
    StaticValue s;
    s.form = Form::row;
    s.row = v;
    return s;
  }
};

namespace notation {

/// Rows of p and q aligned at their last axes, each pair equal or one of them 1.
[[nodiscard]] constexpr bool join_rows(const Dims& p, const Dims& q, Dims& joined) {
  const std::size_t rank = p.rank > q.rank ? p.rank : q.rank;
  joined = {};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t a = i + p.rank >= rank ? p[i + p.rank - rank] : 1;
    const std::int64_t b = i + q.rank >= rank ? q[i + q.rank - rank] : 1;
    if (a != b && a != 1 && b != 1) return false;
    joined.push_back(a == 1 ? b : a);
  }
  return true;
}

constexpr Diagnosis& add_row(Diagnosis& d, const Dims& row) {
  d.add("[");
  for (std::size_t i = 0; i < row.rank; ++i) {
    if (i > 0) d.add(", ");
    d.add(row[i]);
  }
  return d.add("]");
}

}  // namespace notation

}  // namespace etalon::spec
