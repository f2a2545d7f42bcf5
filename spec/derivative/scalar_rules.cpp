#include "spec/derivative/scalar_rules.hpp"

namespace etalon::spec {

namespace {

using P = Primitive;

Expr call(P p, std::vector<Expr> args) { return apply(p, std::move(args)); }
Expr one() { return decimal(1); }
Expr half() { return decimal(5, -1); }

/// `t` shared evenly between the two sides of a tie, whole to the winner.
Expr shared_at_tie(const Arguments& a, const Expr& t) { return select(call(P::eq, {a[0], a[1]}), t * half(), t); }

bool is_decimal(const Expr& e, std::int64_t value) {
  return e.form() == Form::number && !e->number.is_binary && e->number.exponent == 0 && e->number.mantissa == value;
}

Expr lowered(const Expr& exponent) {
  const bool whole = exponent.form() == Form::number && !exponent->number.is_binary && exponent->number.exponent == 0;
  return whole ? decimal(exponent->number.mantissa - 1) : exponent - one();
}

Expr push_base(const Arguments& a, const Expr& t) {
  if (is_decimal(a[1], 1)) return t;
  if (is_decimal(a[1], 2)) return t * (a[1] * a[0]);
  return t * (a[1] * call(P::pow, {a[0], lowered(a[1])}));
}

Expr base_matters(const Arguments& a) {
  if (a[1].form() == Form::number && !is_decimal(a[1], 0)) return {};
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

constexpr Expr (*same)(const Arguments&, const Expr&) = [](const Arguments&, const Expr& t) { return t; };
constexpr Expr (*negated)(const Arguments&, const Expr&) = [](const Arguments&, const Expr& t) { return -t; };

constexpr ArgumentRule zero{};

/// Kinks: maximum and minimum give one half to each side of a tie; abs'(0) = sign(0) = 0; sign and floor are flat.
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
    ScalarRule{P::exp, {{{[](const Arguments& a, const Expr& t) { return t * call(P::exp, {a[0]}); }}, zero}}},
    ScalarRule{P::log, {{{[](const Arguments& a, const Expr& t) { return t / a[0]; }}, zero}}},
    ScalarRule{P::sqrt,
               {{{[](const Arguments& a, const Expr& t) { return t / (decimal(2) * call(P::sqrt, {a[0]})); }}, zero}}},
    ScalarRule{P::sin, {{{[](const Arguments& a, const Expr& t) { return t * call(P::cos, {a[0]}); }}, zero}}},
    ScalarRule{P::cos, {{{[](const Arguments& a, const Expr& t) { return -(t * call(P::sin, {a[0]})); }}, zero}}},
    ScalarRule{P::tanh, {{{push_tanh}, zero}}},
    ScalarRule{P::erf, {{{push_erf}, zero}}},
    ScalarRule{P::expm1, {{{[](const Arguments& a, const Expr& t) { return t * call(P::exp, {a[0]}); }}, zero}}},
    ScalarRule{P::log1p, {{{[](const Arguments& a, const Expr& t) { return t / (one() + a[0]); }}, zero}}},
    ScalarRule{P::abs, {{{[](const Arguments& a, const Expr& t) { return t * call(P::sign, {a[0]}); }}, zero}}},
    ScalarRule{P::sign, {{zero, zero}}},
    ScalarRule{P::floor, {{zero, zero}}},
    ScalarRule{P::floor_div, {{zero, zero}}},
    ScalarRule{P::modulo, {{zero, zero}}},
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
