/// \file
/// The scalar primitives: one row each with name, arity, kinds and meaning. Every table that knows scalars
/// (derivative, reference, LLVM, CUDA) is indexed by this enumeration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "spec/dtype.hpp"

namespace etalon::spec {

/// A scalar function that equations are built from.
enum class Primitive : std::uint8_t {
  // arithmetic on two reals or two integers (integers wrap)
  add, sub, mul, neg, maximum, minimum,
  // reals only; abs and sign also on integers
  div, pow, atan2, exp, exp2, log, log2, sqrt, sin, cos, tan, sinh, cosh, tanh, erf, expm1, log1p, abs, sign, floor, ceil,
  trunc, round,
  // floor division of integers and its remainder (sign of the divisor), the remainder also of reals
  floor_div, modulo,
  // comparisons: two reals, integers or booleans to a boolean
  eq, ne, lt, le, gt, ge,
  // booleans; `and` and `or` do not evaluate their right side when the left decides
  logical_and, logical_or, logical_not,
  // tests of a real
  is_nan, is_inf, is_finite,
  // an integer or boolean as a real, a boolean as an integer: exact; a real as an integer: toward zero, out of range the
  // nearest end, NaN as 0
  to_real, to_integer,
  // philox(seed, step, stream, n): the n-th 32-bit word of the Philox4x32-10 stream, as an integer in [0, 2^32)
  philox,
  // the circle constant
  pi,
  count_
};

/// What is known of a primitive without evaluating it.
struct PrimitiveInfo {
  Primitive primitive;
  std::string_view name;    ///< in the notation and in messages
  std::uint8_t arity;
  bool on_integers;         ///< also defined on integers, with an integer result
};

inline constexpr std::array primitive_table{
    PrimitiveInfo{Primitive::add, "+", 2, true},          PrimitiveInfo{Primitive::sub, "-", 2, true},
    PrimitiveInfo{Primitive::mul, "*", 2, true},          PrimitiveInfo{Primitive::neg, "neg", 1, true},
    PrimitiveInfo{Primitive::maximum, "maximum", 2, true}, PrimitiveInfo{Primitive::minimum, "minimum", 2, true},
    PrimitiveInfo{Primitive::div, "/", 2, false},         PrimitiveInfo{Primitive::pow, "^", 2, false},
    PrimitiveInfo{Primitive::atan2, "atan2", 2, false},   PrimitiveInfo{Primitive::exp, "exp", 1, false},
    PrimitiveInfo{Primitive::exp2, "exp2", 1, false},     PrimitiveInfo{Primitive::log, "log", 1, false},
    PrimitiveInfo{Primitive::log2, "log2", 1, false},     PrimitiveInfo{Primitive::sqrt, "sqrt", 1, false},
    PrimitiveInfo{Primitive::sin, "sin", 1, false},       PrimitiveInfo{Primitive::cos, "cos", 1, false},
    PrimitiveInfo{Primitive::tan, "tan", 1, false},       PrimitiveInfo{Primitive::sinh, "sinh", 1, false},
    PrimitiveInfo{Primitive::cosh, "cosh", 1, false},     PrimitiveInfo{Primitive::tanh, "tanh", 1, false},
    PrimitiveInfo{Primitive::erf, "erf", 1, false},       PrimitiveInfo{Primitive::expm1, "expm1", 1, false},
    PrimitiveInfo{Primitive::log1p, "log1p", 1, false},   PrimitiveInfo{Primitive::abs, "abs", 1, true},
    PrimitiveInfo{Primitive::sign, "sign", 1, true},      PrimitiveInfo{Primitive::floor, "floor", 1, false},
    PrimitiveInfo{Primitive::ceil, "ceil", 1, false},     PrimitiveInfo{Primitive::trunc, "trunc", 1, false},
    PrimitiveInfo{Primitive::round, "round", 1, false},
    PrimitiveInfo{Primitive::floor_div, "//", 2, true},   PrimitiveInfo{Primitive::modulo, "%", 2, true},
    PrimitiveInfo{Primitive::eq, "==", 2, true},          PrimitiveInfo{Primitive::ne, "!=", 2, true},
    PrimitiveInfo{Primitive::lt, "<", 2, true},           PrimitiveInfo{Primitive::le, "<=", 2, true},
    PrimitiveInfo{Primitive::gt, ">", 2, true},           PrimitiveInfo{Primitive::ge, ">=", 2, true},
    PrimitiveInfo{Primitive::logical_and, "and", 2, false}, PrimitiveInfo{Primitive::logical_or, "or", 2, false},
    PrimitiveInfo{Primitive::logical_not, "not", 1, false}, PrimitiveInfo{Primitive::is_nan, "isnan", 1, false},
    PrimitiveInfo{Primitive::is_inf, "isinf", 1, false},  PrimitiveInfo{Primitive::is_finite, "isfinite", 1, false},
    PrimitiveInfo{Primitive::to_real, "real", 1, true},   PrimitiveInfo{Primitive::to_integer, "integer", 1, true},
    PrimitiveInfo{Primitive::philox, "philox", 4, true},  PrimitiveInfo{Primitive::pi, "pi", 0, false},
};

static_assert(primitive_table.size() == static_cast<std::size_t>(Primitive::count_));
static_assert([] {
  for (std::size_t i = 0; i < primitive_table.size(); ++i) {
    if (static_cast<std::size_t>(primitive_table[i].primitive) != i) return false;
  }
  return true;
}(), "the rows stand in the order of the enumeration");

[[nodiscard]] constexpr const PrimitiveInfo& info(Primitive p) { return primitive_table[static_cast<std::size_t>(p)]; }

/// The primitive of that name in the notation, or nothing.
[[nodiscard]] constexpr std::optional<Primitive> primitive_named(std::string_view name) {
  for (const PrimitiveInfo& row : primitive_table) {
    if (row.name == name) return row.primitive;
  }
  return std::nullopt;
}

/// The reductions of the notation.
enum class Reduction : std::uint8_t { sum, prod, max, min, any, all, argmax, argmin };

[[nodiscard]] constexpr std::string_view name_of(Reduction r) {
  constexpr std::string_view names[] = {"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"};
  return names[static_cast<std::size_t>(r)];
}

}  // namespace etalon::spec
