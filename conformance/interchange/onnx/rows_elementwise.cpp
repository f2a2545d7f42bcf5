#include <algorithm>
#include <cmath>

#include "conformance/interchange/onnx/rows.hpp"

namespace etalon::conformance::onnx {
namespace {

/// Before opset 7 the second operand joined where `broadcast` said so, from `axis` on.
[[nodiscard]] Value second_operand(NodeTranslation& n) {
  if (n.opset() >= 7 || n.integer("broadcast", 0) == 0) return n.x(1);
  const std::int64_t first = n.integer("axis", n.rank(0) - n.rank(1));
  const std::int64_t begin = first < 0 ? first + n.rank(0) : first;
  refuse(begin < 0 || begin + n.rank(1) > n.rank(0), "the axes of the second input are not among those of the first");
  Integers shape = extents_of(n.dims(1));
  shape.resize(static_cast<std::size_t>(n.rank(0) - begin), 1);
  return n.reshaped(n.x(1), shape);
}

/// The operation of the row on two operands, which join by broadcasting.
[[nodiscard]] Values joining(NodeTranslation& n) {
  n.read_over({"consumed_inputs"});
  refuse(n.dtype(0) != n.dtype(1), "mixed element types are not promoted");
  return {n.one(n.meaning(), {n.x(0), second_operand(n)})};
}

/// Integers are divided towards zero, which for those that are not negative is downwards.
[[nodiscard]] Values div(NodeTranslation& n) {
  if (kind_of(n.dtype()) == Kind::real) return joining(n);
  refuse(!n.x(0)->known || !n.x(1)->known, "a division of integers that are not known in advance");
  const Integers a = n.known_integers(0), b = n.known_integers(1);
  const bool is_plain = std::all_of(a.begin(), a.end(), [](std::int64_t v) { return v >= 0; }) &&
                        std::all_of(b.begin(), b.end(), [](std::int64_t v) { return v > 0; });
  refuse(!is_plain, "a division of integers that are negative");
  return {n.one("floor_divide", {n.x(0), n.x(1)})};
}

[[nodiscard]] Values mod(NodeTranslation& n) {
  refuse(n.integer("fmod", 0) != 0, "the remainder with the sign of the dividend is not offered");
  return {n.one("remainder", {n.x(0), n.x(1)})};
}

/// The operation of the row from operand to operand.
[[nodiscard]] Value accumulated(NodeTranslation& n, std::string_view operation) {
  Value all = n.x();
  for (std::size_t i = 1; i < n.all().size(); ++i) all = n.one(operation, {all, n.x(i)});
  return all;
}

[[nodiscard]] Values variadic(NodeTranslation& n) {
  n.read_over({"consumed_inputs"});
  return {accumulated(n, n.meaning())};
}

[[nodiscard]] Values mean_of_all(NodeTranslation& n) {
  n.read_over({"consumed_inputs"});
  return {n.one("div", {accumulated(n, "add"), scalar(static_cast<double>(n.all().size()), n.dtype())})};
}

[[nodiscard]] Values identity(NodeTranslation& n) { return {n.x()}; }

/// Bounds are operands, and before opset 11 attributes.
[[nodiscard]] Values clip(NodeTranslation& n) {
  n.read_over({"consumed_inputs"});
  Value y = n.x();
  if (n.says("min")) y = n.one("maximum", {y, scalar(n.real("min", 0), n.dtype())});
  if (n.says("max")) y = n.one("minimum", {y, scalar(n.real("max", 0), n.dtype())});
  if (n.has(1)) y = n.one("maximum", {y, n.x(1)});
  if (n.has(2)) y = n.one("minimum", {y, n.x(2)});
  return {y};
}

[[nodiscard]] Value cast_to(NodeTranslation& n, DType dtype) {
  if (n.dtype() == dtype) return n.x();
  if (dtype == DType::boolean) return n.one("ne", {n.x(), scalar(0, n.dtype())});
  if (n.dtype() == DType::boolean) return n.one("where", {n.x(), scalar(1, dtype), scalar(0, dtype)});
  return n.one("cast", {n.x()}, {{"dtype", std::string(name_of(dtype))}});
}

[[nodiscard]] Values cast(NodeTranslation& n) {
  n.read_over({"saturate"});  // of types of 8 bits
  const std::int64_t to = n.integer("to", 0);
  const std::optional<DType> dtype = dtype_of(to);
  refuse(!dtype, "a cast to " + type_name(to));
  return {cast_to(n, *dtype)};
}

[[nodiscard]] Values cast_like(NodeTranslation& n) {
  n.read_over({"saturate"});
  return {cast_to(n, n.dtype(1))};
}

[[nodiscard]] Values is_infinite(NodeTranslation& n) {
  const bool negative = n.integer("detect_negative", 1) != 0, positive = n.integer("detect_positive", 1) != 0;
  const Value zero = scalar(0, n.dtype());
  Value found = n.one("isinf", {n.x()});
  if (!negative) found = n.one("logical_and", {found, n.one("gt", {n.x(), zero})});
  if (!positive) found = n.one("logical_and", {found, n.one("lt", {n.x(), zero})});
  return {found};
}

constexpr Row rows[] = {
    {"Abs", same_operands, "abs", true},
    {"Add", joining, "add", true},
    {"And", joining, "logical_and", true},
    {"Cast", cast},
    {"CastLike", cast_like},
    of_reals({"Ceil", same_operands, "ceil", true}),
    {"Clip", clip},
    {"Cos", same_operands, "cos", true},
    {"Cosh", same_operands, "cosh", true},
    {"Div", div, "div", true},
    {"Equal", joining, "eq", true},
    {"Erf", same_operands, "erf", true},
    {"Exp", same_operands, "exp", true},
    of_reals({"Floor", same_operands, "floor", true}),
    {"Greater", joining, "gt", true},
    {"GreaterOrEqual", joining, "ge", true},
    {"Identity", identity},
    {"IsInf", is_infinite},
    of_reals({"IsNaN", same_operands, "isnan", true}),
    {"Less", joining, "lt", true},
    {"LessOrEqual", joining, "le", true},
    {"Log", same_operands, "log", true},
    {"Max", variadic, "maximum", true},
    {"Mean", mean_of_all},
    {"Min", variadic, "minimum", true},
    {"Mod", mod},
    {"Mul", joining, "mul", true},
    {"Neg", same_operands, "neg", true},
    {"Not", same_operands, "logical_not", true},
    {"Or", joining, "logical_or", true},
    {"Pow", joining, "pow", true},
    {"Reciprocal", same_operands, "reciprocal", true},
    of_reals({"Round", same_operands, "round", true}),
    {"Sign", same_operands, "sign", true},
    {"Sin", same_operands, "sin", true},
    {"Sinh", same_operands, "sinh", true},
    {"Sqrt", same_operands, "sqrt", true},
    {"Sub", joining, "sub", true},
    {"Sum", variadic, "add"},
    {"Tan", same_operands, "tan", true},
    {"Tanh", same_operands, "tanh", true},
    {"Where", same_operands, "where", true},
    {"Xor", joining, "logical_xor", true},
};

}  // namespace

std::span<const Row> elementwise_rows() { return rows; }

}  // namespace etalon::conformance::onnx
