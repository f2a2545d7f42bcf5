#include "compiled/emit/text/words.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

namespace etalon::compiled::source {

using spec::Primitive;

namespace {

constexpr Spelling none{};
constexpr Spelling form{Shape::form, ""};

constexpr Spelling infix(std::string_view word, int precedence) { return {Shape::infix, word, precedence}; }
constexpr Spelling wrapping(std::string_view word, int precedence, std::string_view function) {
  return {Shape::wrapping, word, precedence, function};
}
constexpr Spelling library(std::string_view word) { return {Shape::library, word}; }
constexpr Spelling own(std::string_view word) { return {Shape::own, word}; }
constexpr Spelling macro(std::string_view word) { return {Shape::macro, word}; }

constexpr std::array table{
    Words{Primitive::add, none, wrapping("+", sum, "add")},
    Words{Primitive::sub, none, wrapping("-", sum, "sub")},
    Words{Primitive::mul, none, wrapping("*", product, "mul")},
    Words{Primitive::neg, none, wrapping("-", unary, "neg")},
    Words{Primitive::maximum, none, own("maximum")},
    Words{Primitive::minimum, none, own("minimum")},
    Words{Primitive::div, none, none},
    Words{Primitive::pow, library("pow"), none},
    Words{Primitive::atan2, library("atan2"), none},
    Words{Primitive::exp, library("exp"), none},
    Words{Primitive::exp2, library("exp2"), none},
    Words{Primitive::log, library("log"), none},
    Words{Primitive::log2, library("log2"), none},
    Words{Primitive::sqrt, none, none},
    Words{Primitive::sin, library("sin"), none},
    Words{Primitive::cos, library("cos"), none},
    Words{Primitive::tan, library("tan"), none},
    Words{Primitive::sinh, library("sinh"), none},
    Words{Primitive::cosh, library("cosh"), none},
    Words{Primitive::tanh, library("tanh"), none},
    Words{Primitive::erf, library("erf"), none},
    Words{Primitive::expm1, library("expm1"), none},
    Words{Primitive::log1p, library("log1p"), none},
    Words{Primitive::abs, none, own("absolute")},
    Words{Primitive::sign, own("sign"), own("sign")},
    Words{Primitive::floor, none, none},
    Words{Primitive::ceil, none, none},
    Words{Primitive::trunc, none, none},
    Words{Primitive::round, none, none},
    Words{Primitive::floor_div, none, wrapping("/", product, "floor_div")},
    Words{Primitive::modulo, own("modulo"), wrapping("%", product, "modulo")},
    Words{Primitive::eq, infix("==", equality), infix("==", equality)},
    Words{Primitive::ne, infix("!=", equality), infix("!=", equality)},
    Words{Primitive::lt, infix("<", relation), infix("<", relation)},
    Words{Primitive::le, infix("<=", relation), infix("<=", relation)},
    Words{Primitive::gt, infix(">", relation), infix(">", relation)},
    Words{Primitive::ge, infix(">=", relation), infix(">=", relation)},
    Words{Primitive::logical_and, infix("&&", conjunction), none},
    Words{Primitive::logical_or, infix("||", disjunction), none},
    Words{Primitive::logical_not, {Shape::prefix, "!", unary}, none},
    Words{Primitive::is_nan, macro("isnan"), none},
    Words{Primitive::is_inf, macro("isinf"), none},
    Words{Primitive::is_finite, macro("isfinite"), none},
    Words{Primitive::to_real, form, none},
    Words{Primitive::to_integer, none, form},
    Words{Primitive::philox, none, own("philox")},
    Words{Primitive::pi, form, none},
};

static_assert(table.size() == static_cast<std::size_t>(Primitive::count_), "one row per primitive");
static_assert([] {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].primitive) != i) return false;
  }
  return true;
}(), "the rows stand in the order of the enumeration");

template <class Real>
std::string real_literal(Real value, const char* suffix) {
  // The macros are of type float, and functions may be overloaded.
  const std::string type = sizeof(Real) == sizeof(float) ? "" : "(double)";
  if (std::isnan(value)) return type + "NAN";
  if (std::isinf(value)) return type + (value > 0 ? "INFINITY" : "-INFINITY");
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + suffix;
}

}  // namespace

Spelling spelling_of(const Instruction& i) {
  if (i.c.find('(') != std::string_view::npos) return {Shape::call, i.c.substr(0, i.c.find('('))};
  if (i.c.starts_with('-')) return {Shape::prefix, i.c.substr(0, 1), unary};
  const std::size_t space = i.c.find(' ');
  const std::string_view word = i.c.substr(space + 1, i.c.rfind(' ') - space - 1);
  return infix(word, word == "+" || word == "-" ? sum : product);
}

const Words& words_of(Primitive p) { return table[static_cast<std::size_t>(p)]; }

std::string_view type_name(loops::Type type) {
  constexpr std::string_view names[] = {"float", "double", "int64_t", "bool"};
  return names[static_cast<std::size_t>(type)];
}

std::string_view type_suffix(loops::Type type) {
  constexpr std::string_view names[] = {"f32", "f64", "i64", "bool"};
  return names[static_cast<std::size_t>(type)];
}

std::string_view element_type(DType dtype) {
  switch (dtype) {
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::i32: return "int32_t";
    case DType::i64: return "int64_t";
    case DType::boolean: return "uint8_t";
    case DType::f16:
    case DType::bf16: return "uint16_t";
  }
  return "";
}

std::string literal(float value) { return real_literal(value, "f"); }
std::string literal(double value) { return real_literal(value, ""); }

std::string literal(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) return "INT64_MIN";
  constexpr std::int64_t of_int = std::numeric_limits<std::int32_t>::max();
  return value >= -of_int && value <= of_int ? std::to_string(value) : fmt::format("INT64_C({})", value);
}

}  // namespace etalon::compiled::source
