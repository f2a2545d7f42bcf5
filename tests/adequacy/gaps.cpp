#include "tests/adequacy/gaps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "tests/adequacy/only_equation.hpp"

namespace etalon::adequacy {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;

constexpr double safe = 1 - 0x1p-40;  // library functions are a few last places off

// A real constant that binary64 holds.
std::optional<double> exact_number(const Expr& e) {
  if (e.form() != Form::number || e.kind() != Kind::real) return std::nullopt;
  if (e->number.is_binary) return e->number.binary;
  const bool small = e->number.exponent == 0 && e->number.rest.empty() && std::llabs(e->number.mantissa) < (std::int64_t{1} << 53);
  return small ? std::optional(static_cast<double>(e->number.mantissa)) : std::nullopt;
}

// Of x + c or x - c, where x has at most 53 bits: beside c both are multiples of a last place of half of it, and elsewhere
// they are far apart.
double beside_constant(const Expr& x, double c) {
  return x.form() == Form::read ? std::fabs(c) * 0x1p-54 : 0;
}

// Of 1 - base^n for whole n: the powers beside 1 are the first, up and down.
double beside_one(const Expr& power) {
  if (!power.is(Primitive::pow) || !power->args[1].is(Primitive::to_real)) return 0;
  const auto base = exact_number(power->args[0]);
  if (!base || !std::isfinite(*base)) return 0;
  const double b = std::fabs(*base);
  return b == 0 || b == 1 ? 1 : std::min(std::fabs(1 - b), std::fabs(1 - 1 / b)) * safe;
}

double of_sum(const Expr& e) {
  for (const std::size_t k : {0U, 1U}) {
    const auto c = exact_number(e->args[k]);
    if (!c || *c == 0) continue;
    const bool from_one = *c == 1 && k == 0 && e.is(Primitive::sub);
    return std::max(beside_constant(e->args[1 - k], *c), from_one ? beside_one(e->args[1]) : 0);
  }
  return 0;
}

double least_of(const spec::System& system, spec::TensorId tensor, int depth);

double least(const spec::System& system, const Expr& e, int depth) {
  if (e.kind() == Kind::integer) return 1;
  if (e.form() == Form::read) return least_of(system, e->tensor, depth);
  if (const auto c = exact_number(e)) return *c == 0 ? std::numeric_limits<double>::infinity() : std::fabs(*c);
  if (e.is(Primitive::to_real) || e.is(Primitive::neg) || e.is(Primitive::abs)) return least(system, e->args[0], depth);
  if (e.is(Primitive::sqrt)) return std::sqrt(least(system, e->args[0], depth)) * safe;
  return e.is(Primitive::add) || e.is(Primitive::sub) ? of_sum(e) : 0;
}

double least_of(const spec::System& system, spec::TensorId tensor, int depth) {
  const spec::Equation* only = only_equation(system, tensor);
  return depth > 8 || only == nullptr ? 0 : least(system, only->value, depth + 1);
}

}  // namespace

double least_unless_zero(const spec::System& system, const Expr& e) { return least(system, e, 0); }
double least_unless_zero(const spec::System& system, spec::TensorId tensor) { return least_of(system, tensor, 0); }

}  // namespace etalon::adequacy
