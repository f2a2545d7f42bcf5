#include "spec/derivative/scalar_rules.hpp"

#include <cmath>

namespace etalon::spec {

namespace {

using P = Primitive;

Expr call(P p, std::vector<Expr> args) { return apply(p, std::move(args)); }
Expr one() { return decimal(1); }
Expr half() { return decimal(5, -1); }

/// `t` shared evenly between the two sides of a tie, whole to the winner.
Expr shared_at_tie(const Arguments& a, const Expr& t) { return select(call(P::eq, {a[0], a[1]}), t * half(), t); }

bool is_whole(const Expr& e, std::int64_t value) {
  return e.form() == Form::number && e->number.is(value);
}

Expr lowered(const Expr& exponent) {
  if (exponent.form() != Form::number) return exponent - one();
  const Number& n = exponent->number;
  constexpr double exact_below = 1e15;
  if (n.is_binary && std::fabs(n.binary) < exact_below && n.binary == std::floor(n.binary)) {
    return decimal(static_cast<std::int64_t>(n.binary) - 1);
  }
  return !n.is_binary && n.exponent == 0 && n.rest.empty() ? decimal(n.mantissa - 1) : exponent - one();
}

Expr push_base(const Arguments& a, const Expr& t) {
  if (is_whole(a[1], 1)) return t;
  if (is_whole(a[1], 2)) return t * (a[1] * a[0]);
  return t * (a[1] * call(P::pow, {a[0], lowered(a[1])}));
}

Expr base_matters(const Arguments& a) {
  if (a[1].form() == Form::number && !is_whole(a[1], 0)) return {};
  return call(P::ne, {a[1], decimal(0)});
}

Expr exponent_matters(const Arguments& a) {
  return call(P::logical_or, {call(P::ne, {a[0], decimal(0)}), call(P::lt, {a[1], decimal(0)})});
}

Expr push_erf(const Arguments& a, const Expr& t) {
  const Expr density = call(P::exp, {-(a[0] * a[0])});
  return t * (decimal(2) / call(P::sqrt, {call(P::pi, {})}) * density);
}

Expr push_tanh(const Arguments& a, const Expr& t) {
  const Expr y = call(P::tanh, {a[0]});
  return t * (one() - y * y);
}

Expr push_tan(const Arguments& a, const Expr& t) {
  const Expr y = call(P::tan, {a[0]});
  return t * (one() + y * y);
}

Expr log_of_2() { return call(P::log, {decimal(2)}); }

Expr squared_radius(const Arguments& a) { return a[0] * a[0] + a[1] * a[1]; }

constexpr Expr (*same)(const Arguments&, const Expr&) = [](const Arguments&, const Expr& t) { return t; };
constexpr Expr (*negated)(const Arguments&, const Expr&) = [](const Arguments&, const Expr& t) { return -t; };

constexpr ArgumentRule zero{};

/// Kinks: maximum and minimum give one half to each side of a tie; abs'(0) = sign(0) = 0; sign and the roundings are
/// flat; the remainder's jumps do not count.
constexpr std::array rules{
    ScalarRule{P::add, {{{same}, {same}}}},
    ScalarRule{P::sub, {{{same}, {negated}}}},
    ScalarRule{P::mul, {{{[](const Arguments& a, const Expr& t) { return t * a[1]; }},
                         {[](const Arguments& a, const Expr& t) { return t * a[0]; }}}}},
    ScalarRule{P::neg, {{{negated}, zero}}},
    ScalarRule{P::maximum, {{{shared_at_tie, [](const Arguments& a) { return call(P::ge, {a[0], a[1]}); }},
                             {shared_at_tie, [](const Arguments& a) { return call(P::le, {a[0], a[1]}); }}}}},
    ScalarRule{P::minimum, {{{shared_at_tie, [](const Arguments& a) { return call(P::le, {a[0], a[1]}); }},
                             {shared_at_tie, [](const Arguments& a) { return call(P::ge, {a[0], a[1]}); }}}}},
    ScalarRule{P::div, {{{[](const Arguments& a, const Expr& t) { return t / a[1]; }},
                         {[](const Arguments& a, const Expr& t) { return -(t * (a[0] / a[1] / a[1])); }}}}},
    ScalarRule{P::pow, {{{push_base, base_matters},
                         {[](const Arguments& a, const Expr& t) {
                            return t * (call(P::pow, {a[0], a[1]}) * call(P::log, {a[0]}));
                          },
                          exponent_matters}}}},
    ScalarRule{P::atan2, {{{[](const Arguments& a, const Expr& t) { return t * (a[1] / squared_radius(a)); }},
                           {[](const Arguments& a, const Expr& t) { return -(t * (a[0] / squared_radius(a))); }}}}},
    ScalarRule{P::exp, {{{[](const Arguments& a, const Expr& t) { return t * call(P::exp, {a[0]}); }}, zero}}},
    ScalarRule{P::exp2,
               {{{[](const Arguments& a, const Expr& t) { return t * (log_of_2() * call(P::exp2, {a[0]})); }}, zero}}},
    ScalarRule{P::log, {{{[](const Arguments& a, const Expr& t) { return t / a[0]; }}, zero}}},
    ScalarRule{P::log2, {{{[](const Arguments& a, const Expr& t) { return t / a[0] / log_of_2(); }}, zero}}},
    ScalarRule{P::sqrt,
               {{{[](const Arguments& a, const Expr& t) { return t / (decimal(2) * call(P::sqrt, {a[0]})); }}, zero}}},
    ScalarRule{P::sin, {{{[](const Arguments& a, const Expr& t) { return t * call(P::cos, {a[0]}); }}, zero}}},
    ScalarRule{P::cos, {{{[](const Arguments& a, const Expr& t) { return -(t * call(P::sin, {a[0]})); }}, zero}}},
    ScalarRule{P::tan, {{{push_tan}, zero}}},
    ScalarRule{P::sinh, {{{[](const Arguments& a, const Expr& t) { return t * call(P::cosh, {a[0]}); }}, zero}}},
    ScalarRule{P::cosh, {{{[](const Arguments& a, const Expr& t) { return t * call(P::sinh, {a[0]}); }}, zero}}},
    ScalarRule{P::tanh, {{{push_tanh}, zero}}},
    ScalarRule{P::erf, {{{push_erf}, zero}}},
    ScalarRule{P::expm1, {{{[](const Arguments& a, const Expr& t) { return t * call(P::exp, {a[0]}); }}, zero}}},
    ScalarRule{P::log1p, {{{[](const Arguments& a, const Expr& t) { return t / (one() + a[0]); }}, zero}}},
    ScalarRule{P::abs, {{{[](const Arguments& a, const Expr& t) { return t * call(P::sign, {a[0]}); }}, zero}}},
    ScalarRule{P::sign, {{zero, zero}}},
    ScalarRule{P::floor, {{zero, zero}}},
    ScalarRule{P::ceil, {{zero, zero}}},
    ScalarRule{P::trunc, {{zero, zero}}},
    ScalarRule{P::round, {{zero, zero}}},
    ScalarRule{P::floor_div, {{zero, zero}}},
    ScalarRule{P::modulo, {{{same}, {[](const Arguments& a, const Expr& t) {
                              return -(t * call(P::floor, {a[0] / a[1]}));
                            }}}}},
    ScalarRule{P::eq, {{zero, zero}}},
    ScalarRule{P::ne, {{zero, zero}}},
    ScalarRule{P::lt, {{zero, zero}}},
    ScalarRule{P::le, {{zero, zero}}},
    ScalarRule{P::gt, {{zero, zero}}},
    ScalarRule{P::ge, {{zero, zero}}},
    ScalarRule{P::logical_and, {{zero, zero}}},
    ScalarRule{P::logical_or, {{zero, zero}}},
    ScalarRule{P::logical_not, {{zero, zero}}},
    ScalarRule{P::is_nan, {{zero, zero}}},
    ScalarRule{P::is_inf, {{zero, zero}}},
    ScalarRule{P::is_finite, {{zero, zero}}},
    ScalarRule{P::to_real, {{zero, zero}}},
    ScalarRule{P::to_integer, {{zero, zero}}},
    ScalarRule{P::philox, {{zero, zero}}},
    ScalarRule{P::pi, {{zero, zero}}},
};

consteval bool covers_every_primitive() {
  if (rules.size() != static_cast<std::size_t>(P::count_)) return false;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (static_cast<std::size_t>(rules[i].primitive) != i) return false;
  }
  return true;
}
static_assert(covers_every_primitive(), "each primitive has its row, in the order of the enumeration");

}  // namespace

const ArgumentRule& derivative_rule(Primitive primitive, std::size_t argument) {
  const auto& row = rules[static_cast<std::size_t>(primitive)].arguments;
  return argument < row.size() ? row[argument] : zero;
}

}  // namespace etalon::spec
