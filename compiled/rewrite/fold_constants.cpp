#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <optional>

#include "compiled/ir/language.hpp"
#include "compiled/rewrite/passes.hpp"
#include "compiled/rewrite/rewriting.hpp"

namespace etalon::compiled {

using spec::Number;

namespace {

/// Every arithmetic type holds the normal binary32 numbers, so that an operation between them whose exact result is
/// one too gives that result in every type.
std::optional<double> exact(double x) {
  if (!std::isfinite(x) || static_cast<double>(static_cast<float>(x)) != x) return std::nullopt;
  if (x != 0 && std::abs(x) < static_cast<double>(FLT_MIN)) return std::nullopt;
  return x;
}

std::optional<double> exact_value(const Number& n) {
  if (n.is_binary) return exact(n.binary);
  if (!n.rest.empty()) return std::nullopt;
  constexpr std::int64_t exact_integers = std::int64_t{1} << 53U;
  if (std::abs(n.exponent) > 15 || n.mantissa >= exact_integers || n.mantissa <= -exact_integers) return std::nullopt;
  double power = 1;
  for (int i = 0; i < std::abs(n.exponent); ++i) power *= 10;
  const double mantissa = static_cast<double>(n.mantissa);
  const double value = n.exponent < 0 ? mantissa / power : mantissa * power;
  const double error = n.exponent < 0 ? std::fma(value, power, -mantissa) : std::fma(mantissa, power, -value);
  return error == 0 ? exact(value) : std::nullopt;
}

bool is_number(const Expr& e) { return e.form() == Form::number; }

bool all_numbers(const Expr& e, Kind kind) {
  return e.form() == Form::apply && !e->args.empty() &&
         std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return is_number(a) && a.kind() == kind; });
}

/// Integers stay decimal so that dumps read well; negative zero has no decimal form.
Expr real_constant(double value) {
  constexpr double readable = 1e9;
  const bool whole = value == std::floor(value) && std::abs(value) < readable && !(value == 0 && std::signbit(value));
  return whole ? spec::decimal(static_cast<std::int64_t>(value)) : spec::binary64(value);
}

std::optional<double> exact_sum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return (a - (s - t)) + (b - t) == 0 ? exact(s) : std::nullopt;
}

std::optional<double> exact_product(double a, double b) {
  const double p = a * b;
  return std::fma(a, b, -p) == 0 && (p != 0 || a == 0 || b == 0) ? exact(p) : std::nullopt;
}

std::optional<double> exact_quotient(double a, double b) {
  if (b == 0) return std::nullopt;
  const double q = a / b;
  return std::fma(q, b, -a) == 0 ? exact(q) : std::nullopt;
}

std::optional<double> exact_root(double a) {
  if (!(a >= 0)) return std::nullopt;
  const double r = std::sqrt(a);
  return std::fma(r, r, -a) == 0 ? exact(r) : std::nullopt;
}

std::optional<double> real_result(Primitive p, double a, double b) {
  switch (p) {
    case Primitive::add:
      return exact_sum(a, b);
    case Primitive::sub:
      return exact_sum(a, -b);
    case Primitive::mul:
      return exact_product(a, b);
    case Primitive::div:
      return exact_quotient(a, b);
    case Primitive::sqrt:
      return exact_root(a);
    case Primitive::abs:
      return std::abs(a);
    case Primitive::floor:
      return std::floor(a);
    case Primitive::ceil:
      return std::ceil(a);
    case Primitive::trunc:
      return std::trunc(a);
    case Primitive::round:
      return std::nearbyint(a);
    case Primitive::maximum:
      return a == b ? std::nullopt : std::optional(std::max(a, b));
    case Primitive::minimum:
      return a == b ? std::nullopt : std::optional(std::min(a, b));
    default:
      return std::nullopt;
  }
}

template <class T>
std::optional<bool> compared(Primitive p, T a, T b) {
  switch (p) {
    case Primitive::eq:
      return a == b;
    case Primitive::ne:
      return a != b;
    case Primitive::lt:
      return a < b;
    case Primitive::le:
      return a <= b;
    case Primitive::gt:
      return a > b;
    case Primitive::ge:
      return a >= b;
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> divided(Primitive p, std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return std::nullopt;
  std::int64_t quotient = a / b;
  std::int64_t remainder = a % b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) {
    quotient -= 1;
    remainder += b;
  }
  return p == Primitive::floor_div ? quotient : remainder;
}

std::optional<std::int64_t> integer_result(Primitive p, std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  switch (p) {
    case Primitive::add:
      return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case Primitive::sub:
      return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case Primitive::mul:
      return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case Primitive::neg:
      return __builtin_sub_overflow(std::int64_t{0}, a, &r) ? std::nullopt : std::optional(r);
    case Primitive::abs:
      return a == INT64_MIN ? std::nullopt : std::optional(a < 0 ? -a : a);
    case Primitive::sign:
      return (a > 0) - (a < 0);
    case Primitive::maximum:
      return std::max(a, b);
    case Primitive::minimum:
      return std::min(a, b);
    case Primitive::floor_div:
    case Primitive::modulo:
      return divided(p, a, b);
    default:
      return std::nullopt;
  }
}

Expr integers(const Expr& e) {
  if (!all_numbers(e, Kind::integer) || e->args.size() > 2) return {};
  const std::int64_t a = e->args.front()->number.mantissa;
  const std::int64_t b = e->args.back()->number.mantissa;
  if (e.kind() == Kind::boolean) {
    const auto result = compared(e->primitive, a, b);
    return result ? spec::boolean(*result) : Expr{};
  }
  if (e.kind() != Kind::integer) return {};
  const auto result = integer_result(e->primitive, a, b);
  return result ? spec::integer(*result) : Expr{};
}

Expr truth_values(const Expr& e) {
  if (!all_numbers(e, Kind::boolean) || e.kind() != Kind::boolean) return {};
  const bool a = e->args.front()->number.mantissa != 0;
  const bool b = e->args.back()->number.mantissa != 0;
  switch (e->primitive) {
    case Primitive::logical_and:
      return spec::boolean(a && b);
    case Primitive::logical_or:
      return spec::boolean(a || b);
    case Primitive::logical_not:
      return spec::boolean(!a);
    case Primitive::eq:
      return spec::boolean(a == b);
    case Primitive::ne:
      return spec::boolean(a != b);
    default:
      return {};
  }
}

Expr conversions(const Expr& e) {
  if (!e.is(Primitive::to_real) && !e.is(Primitive::to_integer)) return {};
  if (e.is(Primitive::to_integer) && e->args[0].kind() == Kind::real) return {};
  if (!is_number(e->args[0])) return e->args[0].kind() == e.kind() ? e->args[0] : Expr{};
  const std::int64_t value = e->args[0]->number.mantissa;
  if (e.is(Primitive::to_integer)) return spec::integer(value);
  if (e->args[0].kind() == Kind::real) return e->args[0];
  return exact(static_cast<double>(value)) ? spec::decimal(value) : Expr{};
}

Expr exact_reals(const Expr& e) {
  if (!all_numbers(e, Kind::real) || e->args.size() > 2) return {};
  const auto a = exact_value(e->args.front()->number);
  const auto b = exact_value(e->args.back()->number);
  if (!a || !b) return {};
  if (e.kind() == Kind::boolean) {
    const auto result = compared(e->primitive, *a, *b);
    return result ? spec::boolean(*result) : Expr{};
  }
  const auto result = real_result(e->primitive, *a, *b);
  return result ? real_constant(*result) : Expr{};
}

/// Rounding to nearest is symmetric, so that a negated constant may be any constant.
Expr negated_constant(const Expr& e) {
  if (!e.is(Primitive::neg) || !is_number(e->args[0]) || e.kind() != Kind::real) return {};
  const Number& n = e->args[0]->number;
  if (!n.is_binary && n.mantissa == 0) return spec::binary64(-0.0);
  const auto negative = spec::negated(n);
  return negative ? spec::decimal(*negative) : Expr{};
}

/// The constant that an integer expression adds to another one: n + 3 or n - 3.
std::optional<std::int64_t> added(const Expr& e) {
  if (e.kind() != Kind::integer || (!e.is(Primitive::add) && !e.is(Primitive::sub))) return std::nullopt;
  if (!is_number(e->args[1])) return std::nullopt;
  const std::int64_t c = e->args[1]->number.mantissa;
  if (c == INT64_MIN) return std::nullopt;
  return e.is(Primitive::add) ? c : -c;
}

/// Integers wrap, so that they may be reassociated; reals may not.
Expr index_offsets(const Expr& e) {
  if (e.is(Primitive::add) && e.kind() == Kind::integer && is_number(e->args[0]) && !is_number(e->args[1])) {
    return e->args[1] + e->args[0];
  }
  const auto outer = added(e);
  if (!outer) return {};
  const auto inner = added(e->args[0]);
  std::int64_t sum = 0;
  if (!inner || __builtin_add_overflow(*outer, *inner, &sum)) return {};
  const Expr& n = e->args[0]->args[0];
  if (sum == 0) return n;
  if (sum == INT64_MIN) return {};
  return sum > 0 ? n + spec::integer(sum) : n - spec::integer(-sum);
}

constexpr std::array rules{
    Rule{"integers", "2 + 3 = 5, 7 // 2 = 3, unless it overflows", integers},
    Rule{"truth values", "true and false = false", truth_values},
    Rule{"conversions", "real(3) = 3", conversions},
    Rule{"exact reals", "0.5 + 0.25 = 0.75, where operands and result are binary32 numbers", exact_reals},
    Rule{"negated constant", "-(0.1) = -0.1", negated_constant},
    Rule{"index offsets", "(n + 2) - 3 = n - 1, integers only", index_offsets},
};

}  // namespace

void fold_constants(spec::System& system) { apply_rules(system, rules); }

}  // namespace etalon::compiled
