#include <fmt/format.h>

#include <algorithm>

#include "conformance/interchange/stablehlo/rows.hpp"

namespace etalon::conformance::stablehlo {
namespace {

/// Nothing joins by broadcasting.
void require_equal_extents(const Translation& t) {
  for (std::size_t i = 1; i < t.count(); ++i) refuse(t.extents(i) != t.extents(0), "operands of different extents");
}

/// The operation of the row on all operands. What functions of a machine err by is its contract's to say.
[[nodiscard]] Values same(Translation& t) {
  t.read_over({"result_accuracy"});
  require_equal_extents(t);
  return {t.one(t.meaning(), t.all())};
}

/// A quotient of integers is cut off toward 0. By 0 it is whatever the library's is.
[[nodiscard]] Values divide(Translation& t) {
  if (kind_of(t.dtype()) == Kind::real) return same(t);
  require_equal_extents(t);
  return {t.define("quotient",
                   "(a[...] : number, b[...] : number) -> y[...]\n"
                   "  y[...] = if (a[...] < 0) == (b[...] < 0) then a[...] // b[...] else -((-a[...]) // b[...])\n",
                   t.all())};
}

/// A remainder has the sign of the dividend.
[[nodiscard]] Values remainder(Translation& t) {
  require_equal_extents(t);
  return {t.define("rest",
                   "(a[...] : number, b[...] : number) -> y[...]\n"
                   "  y[...] = if a[...] < 0 then -((-a[...]) % abs(b[...])) else a[...] % abs(b[...])\n",
                   t.all())};
}

/// To the nearest integer, halves away from 0.
[[nodiscard]] Values round_away(Translation& t) {
  return {t.define("round_away",
                   "(x[...]) -> y[...]\n"
                   "  t[...] = trunc(x[...])\n"
                   "  y[...] = if abs(x[...] - t[...]) >= 0.5 then t[...] + sign(x[...]) else t[...]\n",
                   t.all())};
}

[[nodiscard]] std::string_view comparison(std::string_view direction) {
  if (direction == "EQ") return "eq";
  if (direction == "NE") return "ne";
  if (direction == "LT") return "lt";
  if (direction == "LE") return "le";
  if (direction == "GT") return "gt";
  if (direction == "GE") return "ge";
  throw Refused(fmt::format("there is no comparison {}", direction));
}

[[nodiscard]] Values compare(Translation& t) {
  const auto word = [&](std::size_t i) { return i < t.words().size() ? t.words()[i] : std::string(); };
  const std::string type = t.text("compare_type", word(1));
  refuse(type == "TOTALORDER", "the total order of reals is not offered");
  require_equal_extents(t);
  const std::string_view means = comparison(t.text("comparison_direction", word(0)));
  if (t.dtype() != DType::boolean || means == "eq" || means == "ne") return {t.one(means, t.all())};
  return {t.one(means, {t.converted(t.x(0), DType::i32), t.converted(t.x(1), DType::i32)})};
}

[[nodiscard]] Values select(Translation& t) {
  refuse(t.count() != 3, "three operands are expected");
  return {t.one("where", t.all())};
}

[[nodiscard]] Values clamp(Translation& t) {
  refuse(t.count() != 3, "three operands are expected");
  return {t.one("minimum", {t.one("maximum", {t.x(1), t.x(0)}), t.x(2)})};
}

[[nodiscard]] Values convert(Translation& t) { return {t.converted(t.x(), t.result().dtype)}; }

[[nodiscard]] Values unchanged(Translation& t) { return t.all(); }

constexpr Row rows[] = {
    {"abs", same, "abs"},
    {"add", same, "add", "logical_or"},
    {"and", same, "", "logical_and"},
    {"atan2", same, "atan2"},
    {"ceil", same, "ceil"},
    {"chlo.cosh", same, "cosh"},
    {"chlo.erf", same, "erf"},
    {"chlo.sinh", same, "sinh"},
    {"chlo.tan", same, "tan"},
    {"clamp", clamp, "minimum"},
    {"compare", compare, "eq", "eq"},
    {"convert", convert, "cast", "where"},
    {"cosine", same, "cos"},
    {"divide", divide, "div"},
    {"exponential", same, "exp"},
    {"exponential_minus_one", same, "expm1"},
    {"floor", same, "floor"},
    {"is_finite", same, "isfinite"},
    {"log", same, "log"},
    {"log_plus_one", same, "log1p"},
    {"logistic", same, "sigmoid"},
    {"maximum", same, "maximum", "logical_or"},
    {"minimum", same, "minimum", "logical_and"},
    {"multiply", same, "mul", "logical_and"},
    {"negate", same, "neg"},
    {"not", same, "", "logical_not"},
    {"optimization_barrier", unchanged, "detach", "detach"},
    {"or", same, "", "logical_or"},
    {"power", same, "pow"},
    {"remainder", remainder, "remainder"},
    {"round_nearest_afz", round_away, "round"},
    {"round_nearest_even", same, "round"},
    {"rsqrt", same, "rsqrt"},
    {"select", select, "where", "where"},
    {"sign", same, "sign"},
    {"sine", same, "sin"},
    {"sqrt", same, "sqrt"},
    {"subtract", same, "sub"},
    {"tan", same, "tan"},
    {"tanh", same, "tanh"},
    {"xor", same, "", "logical_xor"},
};

}  // namespace

std::span<const Row> elementwise_rows() { return rows; }

}  // namespace etalon::conformance::stablehlo
