#include "compiled/rewrite/simplify.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "compiled/ir/language.hpp"
#include "compiled/rewrite/passes.hpp"

namespace etalon::compiled {

using spec::Reduction;

namespace {

bool is_number(const Expr& e) { return e.form() == Form::number; }

bool is_truth(const Expr& e, bool value) {
  return is_number(e) && e.kind() == Kind::boolean && (e->number.mantissa != 0) == value;
}

/// One, as a real or an integer.
bool is_one(const Expr& e) {
  if (!is_number(e) || e.kind() == Kind::boolean) return false;
  return e->number.is(1);
}

/// The real zero with a clear sign bit.
bool is_positive_zero(const Expr& e) {
  return is_number(e) && e.kind() == Kind::real && e->number.is(0);
}

/// The real zero with the sign bit set; a decimal has none.
bool is_negative_zero(const Expr& e) {
  return is_number(e) && e.kind() == Kind::real && e->number.is_binary &&
         std::bit_cast<std::uint64_t>(e->number.binary) == (std::uint64_t{1} << 63U);
}

const Expr& arg(const Expr& e, std::size_t i) { return e->args[i]; }

/// Of two arguments the one that stands beside one of these; the second is asked first.
template <class Is>
Expr beside(const Expr& e, const Is& is) {
  return is(arg(e, 1)) ? arg(e, 0) : is(arg(e, 0)) ? arg(e, 1) : Expr{};
}

/// The comparison of the same two that holds where this one does not, but for NaN.
std::optional<Primitive> opposite(Primitive comparison) {
  switch (comparison) {
    case Primitive::eq: return Primitive::ne;
    case Primitive::ne: return Primitive::eq;
    case Primitive::lt: return Primitive::ge;
    case Primitive::le: return Primitive::gt;
    case Primitive::gt: return Primitive::le;
    case Primitive::ge: return Primitive::lt;
    default: return std::nullopt;
  }
}

bool is_integer_apply(const Expr& e, Primitive p) { return e.is(p) && e.kind() == Kind::integer; }

// --- real and integer arithmetic ---

Expr times_one(const Expr& e) { return e.is(Primitive::mul) ? beside(e, is_one) : Expr{}; }

Expr over_one(const Expr& e) {
  return (e.is(Primitive::div) || e.is(Primitive::floor_div)) && is_one(arg(e, 1)) ? arg(e, 0) : Expr{};
}

Expr minus_zero(const Expr& e) { return e.is(Primitive::sub) && is_positive_zero(arg(e, 1)) ? arg(e, 0) : Expr{}; }

Expr plus_negative_zero(const Expr& e) { return e.is(Primitive::add) ? beside(e, is_negative_zero) : Expr{}; }

Expr twice_negated(const Expr& e) {
  return e.is(Primitive::neg) && arg(e, 0).is(Primitive::neg) ? arg(arg(e, 0), 0) : Expr{};
}

Expr plus_negated(const Expr& e) {
  if (!e.is(Primitive::add)) return {};
  if (arg(e, 1).is(Primitive::neg)) return arg(e, 0) - arg(arg(e, 1), 0);
  if (arg(e, 0).is(Primitive::neg)) return arg(e, 1) - arg(arg(e, 0), 0);
  return {};
}

Expr minus_negated(const Expr& e) {
  return e.is(Primitive::sub) && arg(e, 1).is(Primitive::neg) ? arg(e, 0) + arg(arg(e, 1), 0) : Expr{};
}

Expr integer_zero(const Expr& e) {
  if (is_integer_apply(e, Primitive::add)) return beside(e, [](const Expr& x) { return x.is_integer(0); });
  if (is_integer_apply(e, Primitive::sub)) {
    if (arg(e, 1).is_integer(0)) return arg(e, 0);
    if (arg(e, 0) == arg(e, 1)) return spec::integer(0);
  }
  if (is_integer_apply(e, Primitive::mul) && (arg(e, 0).is_integer(0) || arg(e, 1).is_integer(0))) {
    return spec::integer(0);
  }
  return {};
}

Expr modulo_one(const Expr& e) {
  return e.is(Primitive::modulo) && arg(e, 1).is_integer(1) ? spec::integer(0) : Expr{};
}

Expr extremum_of_same(const Expr& e) {
  return (e.is(Primitive::maximum) || e.is(Primitive::minimum)) && arg(e, 0) == arg(e, 1) ? arg(e, 0) : Expr{};
}

// --- truth values ---

Expr decided_and(const Expr& e) {
  if (!e.is(Primitive::logical_and)) return {};
  if (is_truth(arg(e, 0), true) || arg(e, 0) == arg(e, 1)) return arg(e, 1);
  if (is_truth(arg(e, 1), true)) return arg(e, 0);
  if (is_truth(arg(e, 0), false) || is_truth(arg(e, 1), false)) return spec::boolean(false);
  return {};
}

Expr decided_or(const Expr& e) {
  if (!e.is(Primitive::logical_or)) return {};
  if (is_truth(arg(e, 0), false) || arg(e, 0) == arg(e, 1)) return arg(e, 1);
  if (is_truth(arg(e, 1), false)) return arg(e, 0);
  if (is_truth(arg(e, 0), true) || is_truth(arg(e, 1), true)) return spec::boolean(true);
  return {};
}

Expr twice_not(const Expr& e) {
  return e.is(Primitive::logical_not) && arg(e, 0).is(Primitive::logical_not) ? arg(arg(e, 0), 0) : Expr{};
}

/// Orders of integers only: with NaN, neither a < b nor b <= a. `==` and `!=` are each other's negation also then.
Expr not_of_comparison(const Expr& e) {
  if (!e.is(Primitive::logical_not) || arg(e, 0).form() != Form::apply) return {};
  const Expr& c = arg(e, 0);
  const auto other = opposite(c->primitive);
  const bool equality = c.is(Primitive::eq) || c.is(Primitive::ne);
  return other && (equality || arg(c, 0).kind() == Kind::integer) ? spec::apply(*other, c->args) : Expr{};
}

/// For integers only: a NaN does not equal itself.
Expr integer_compared_with_itself(const Expr& e) {
  if (e.form() != Form::apply || e->args.size() != 2 || e.kind() != Kind::boolean) return {};
  if (arg(e, 0).kind() != Kind::integer || !(arg(e, 0) == arg(e, 1))) return {};
  switch (e->primitive) {
    case Primitive::eq:
    case Primitive::le:
    case Primitive::ge:
      return spec::boolean(true);
    case Primitive::ne:
    case Primitive::lt:
    case Primitive::gt:
      return spec::boolean(false);
    default:
      return {};
  }
}

// --- select, detach, reductions ---

Expr decided_select(const Expr& e) {
  if (e.form() != Form::select) return {};
  if (is_truth(arg(e, 0), true) || arg(e, 1) == arg(e, 2)) return arg(e, 1);
  if (is_truth(arg(e, 0), false)) return arg(e, 2);
  return {};
}

Expr select_on_not(const Expr& e) {
  if (e.form() != Form::select || !arg(e, 0).is(Primitive::logical_not)) return {};
  return spec::select(arg(arg(e, 0), 0), arg(e, 2), arg(e, 1));
}

/// Derivatives are taken before any pass, so that only the value counts.
Expr value_of_detach(const Expr& e) { return e.form() == Form::detach ? arg(e, 0) : Expr{}; }

bool runs_over_nothing(const Expr& e) {
  if (is_truth(arg(e, 0), false)) return true;
  for (const Binder& b : e->binders) {
    if (b.extent == 0) return true;
  }
  return false;
}

Expr reduce_over_nothing(const Expr& e) {
  if (e.form() != Form::reduce || !runs_over_nothing(e)) return {};
  const bool real = e.kind() == Kind::real;
  switch (e->reduction) {
    case Reduction::sum:
      return real ? spec::decimal(0) : spec::integer(0);
    case Reduction::prod:
      return real ? spec::decimal(1) : spec::integer(1);
    case Reduction::any:
      return spec::boolean(false);
    case Reduction::all:
      return spec::boolean(true);
    default:
      return e->args.size() > 2 ? arg(e, 2) : Expr{};
  }
}

/// Not for real sums: 0 + -0 is 0. Every reduction over one element else is that element.
Expr reduce_over_one(const Expr& e) {
  if (e.form() != Form::reduce || !is_truth(arg(e, 0), true)) return {};
  if (e->reduction == Reduction::sum && e.kind() == Kind::real) return {};
  spec::Substitution zero;
  for (const Binder& b : e->binders) {
    if (b.extent != 1) return {};
    zero.emplace(b.variable, spec::integer(0));
  }
  if (e->reduction == Reduction::argmax || e->reduction == Reduction::argmin) return spec::integer(0);
  return spec::substitute(arg(e, 1), zero);
}

constexpr std::array rules{
    Rule{"times one", "x*1 = x", times_one},
    Rule{"over one", "x/1 = x, n//1 = n", over_one},
    Rule{"minus zero", "x - 0 = x", minus_zero},
    Rule{"plus negative zero", "x + -0 = x", plus_negative_zero},
    Rule{"twice negated", "-(-x) = x", twice_negated},
    Rule{"plus negated", "x + -y = x - y", plus_negated},
    Rule{"minus negated", "x - -y = x + y", minus_negated},
    Rule{"integer zero", "n + 0 = n, n - 0 = n, n - n = 0, n*0 = 0", integer_zero},
    Rule{"modulo one", "n % 1 = 0", modulo_one},
    Rule{"extremum of same", "maximum(x, x) = x", extremum_of_same},
    Rule{"decided and", "true and c = c, false and c = false, c and c = c", decided_and},
    Rule{"decided or", "false or c = c, true or c = true, c or c = c", decided_or},
    Rule{"twice not", "not not c = c", twice_not},
    Rule{"not of comparison", "not m < n = m >= n for integers, not x == y = x != y", not_of_comparison},
    Rule{"integer compared with itself", "n == n = true, n < n = false", integer_compared_with_itself},
    Rule{"decided select", "if true then x else y = x, if c then x else x = x", decided_select},
    Rule{"select on not", "if not c then x else y = if c then y else x", select_on_not},
    Rule{"value of detach", "detach(x) = x", value_of_detach},
    Rule{"reduce over nothing", "sum[] x = 0, max[] x else v = v", reduce_over_nothing},
    Rule{"reduce over one", "max[k < 1] x[k] = x[0], not for real sums", reduce_over_one},
};

}  // namespace

std::span<const Rule> simplification_rules() { return rules; }

void simplify(spec::System& system) { apply_rules(system, rules); }

}  // namespace etalon::compiled
