#include "spec/notation/fold.hpp"

#include <algorithm>

namespace etalon::spec::notation {

namespace {

using Interval = std::pair<std::int64_t, std::int64_t>;

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

std::optional<Expr> fold_integers(Primitive p, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  switch (p) {
    case Primitive::add: return __builtin_add_overflow(a, b, &out) ? std::optional<Expr>{} : integer(out);
    case Primitive::sub: return __builtin_sub_overflow(a, b, &out) ? std::optional<Expr>{} : integer(out);
    case Primitive::mul: return __builtin_mul_overflow(a, b, &out) ? std::optional<Expr>{} : integer(out);
    case Primitive::maximum: return integer(std::max(a, b));
    case Primitive::minimum: return integer(std::min(a, b));
    case Primitive::floor_div: return b > 0 ? std::optional(integer(floor_quotient(a, b))) : std::nullopt;
    case Primitive::modulo: return b > 0 ? std::optional(integer(a % b < 0 ? a % b + b : a % b)) : std::nullopt;
    case Primitive::eq: return boolean(a == b);
    case Primitive::ne: return boolean(a != b);
    case Primitive::lt: return boolean(a < b);
    case Primitive::le: return boolean(a <= b);
    case Primitive::gt: return boolean(a > b);
    case Primitive::ge: return boolean(a >= b);
    default: return std::nullopt;
  }
}

std::optional<Expr> fold_units(Primitive p, const std::vector<Expr>& args) {
  const Expr& a = args[0];
  const Expr& b = args[1];
  switch (p) {
    case Primitive::add:
      if (a.is_integer(0)) return b;
      if (b.is_integer(0)) return a;
      break;
    case Primitive::sub:
      if (b.is_integer(0)) return a;
      break;
    case Primitive::mul:
      if (a.is_integer(1) || b.is_integer(0)) return b;
      if (b.is_integer(1) || a.is_integer(0)) return a;
      break;
    case Primitive::floor_div:
      if (b.is_integer(1)) return a;
      break;
    case Primitive::modulo:
      if (b.is_integer(1)) return integer(0);
      break;
    default: break;
  }
  return std::nullopt;
}

bool is_exact(const Expr& e, std::int64_t value) {
  return e.form() == Form::number && !e->number.is_binary && e->number.is(value);
}

/// What holds for every real, every rounding, NaN and both zeros: 1·x, x·1, x/1, x − 0.
std::optional<Expr> fold_real_units(Primitive p, const std::vector<Expr>& args) {
  if (p == Primitive::mul && is_exact(args[0], 1)) return args[1];
  if ((p == Primitive::mul || p == Primitive::div) && is_exact(args[1], 1)) return args[0];
  if (p == Primitive::sub && is_exact(args[1], 0)) return args[0];
  return std::nullopt;
}

std::optional<Expr> fold_truth(Primitive p, const std::vector<Expr>& args) {
  const std::optional<bool> a = truth_constant(args[0]);
  if (p == Primitive::logical_not) return a ? std::optional(boolean(!*a)) : std::nullopt;
  const std::optional<bool> b = truth_constant(args[1]);
  if (p == Primitive::logical_and) {
    if (a) return *a ? args[1] : args[0];
    if (b) return *b ? args[0] : args[1];
  }
  if (p == Primitive::logical_or) {
    if (a) return *a ? args[0] : args[1];
    if (b) return *b ? args[1] : args[0];
  }
  if (a && b && p == Primitive::eq) return boolean(*a == *b);
  if (a && b && p == Primitive::ne) return boolean(*a != *b);
  return std::nullopt;
}

/// The interval of a sum, difference or product; nothing where an end does not fit, since integers wrap.
std::optional<Interval> combined(Primitive p, const Interval& a, const Interval& b) {
  std::optional<Interval> found;
  for (const std::int64_t x : {a.first, a.second}) {
    for (const std::int64_t y : {b.first, b.second}) {
      std::int64_t end = 0;
      const bool overflow = p == Primitive::add   ? __builtin_add_overflow(x, y, &end)
                            : p == Primitive::sub ? __builtin_sub_overflow(x, y, &end)
                                                  : __builtin_mul_overflow(x, y, &end);
      if (overflow) return std::nullopt;
      found = found ? Interval{std::min(found->first, end), std::max(found->second, end)} : Interval{end, end};
    }
  }
  return found;
}

/// The nearest integer of an interval. An element of fewer bits would keep the low ones.
Expr within(const Expr& e, std::int64_t low, std::int64_t high) {
  return apply(Primitive::minimum, {apply(Primitive::maximum, {e, integer(low)}), integer(high)});
}

}  // namespace

std::optional<std::int64_t> integer_constant(const Expr& e) {
  if (e.form() == Form::number && e.kind() == Kind::integer) return e->number.mantissa;
  return std::nullopt;
}

std::optional<bool> truth_constant(const Expr& e) {
  if (e.form() == Form::number && e.kind() == Kind::boolean) return e->number.mantissa != 0;
  return std::nullopt;
}

Expr folded(Primitive p, std::vector<Expr> args) {
  if (args.empty()) return apply(p, std::move(args));
  const std::optional<std::int64_t> a = integer_constant(args[0]);
  if (args.size() == 1 && a && p == Primitive::neg) {
    if (const std::optional<Expr> e = fold_integers(Primitive::sub, 0, *a)) return *e;
  }
  if (args.size() == 2 && a) {
    if (const std::optional<std::int64_t> b = integer_constant(args[1])) {
      if (std::optional<Expr> e = fold_integers(p, *a, *b)) return *e;
    }
  }
  if (args.size() == 2 && args[0].kind() == Kind::integer) {
    if (std::optional<Expr> e = fold_units(p, args)) return *e;
  }
  if (args.size() == 2 && args[0].kind() == Kind::real && args[1].kind() == Kind::real) {
    if (std::optional<Expr> e = fold_real_units(p, args)) return *e;
  }
  if (args[0].kind() == Kind::boolean && p != Primitive::to_real && p != Primitive::to_integer) {
    if (std::optional<Expr> e = fold_truth(p, args)) return *e;
  }
  return apply(p, std::move(args));
}

Expr real_of(const Expr& e) {
  if (e.kind() == Kind::real) return e;
  if (const std::optional<std::int64_t> c = integer_constant(e)) return decimal(*c);
  return as_real(e);
}

Expr converted(const Expr& e, DType dtype) {
  const Kind kind = kind_of(dtype);
  if (e.kind() == kind) return e;
  switch (kind) {
    case Kind::real: return real_of(e);
    case Kind::integer: {
      const Expr whole = apply(Primitive::to_integer, {e});  // within 64 bits
      return dtype == DType::i32 && e.kind() == Kind::real ? within(whole, INT32_MIN, INT32_MAX) : whole;
    }
    case Kind::boolean: break;
  }
  return apply(Primitive::ne, {e, e.kind() == Kind::real ? decimal(0) : integer(0)});
}

Expr chosen(const Expr& c, const Expr& a, const Expr& b) {
  if (const std::optional<bool> known = truth_constant(c)) return *known ? a : b;
  return select(c, a, b);
}

std::optional<Interval> interval(const Expr& e, const Extents& extents) {
  if (const std::optional<std::int64_t> c = integer_constant(e)) return Interval{*c, *c};
  if (e.form() == Form::variable) {
    const auto found = extents.find(e->variable);
    if (found == extents.end() || found->second < 1) return std::nullopt;
    return Interval{0, found->second - 1};
  }
  if (e.form() != Form::apply || e->args.empty()) return std::nullopt;
  const std::optional<Interval> a = interval(e->args[0], extents);
  if (!a) return std::nullopt;
  if (e->primitive == Primitive::neg) return combined(Primitive::sub, {0, 0}, *a);
  if (e->args.size() != 2) return std::nullopt;
  const std::optional<Interval> b = interval(e->args[1], extents);
  if (!b) return std::nullopt;
  switch (e->primitive) {
    case Primitive::add:
    case Primitive::sub:
    case Primitive::mul: return combined(e->primitive, *a, *b);
    case Primitive::maximum: return Interval{std::max(a->first, b->first), std::max(a->second, b->second)};
    case Primitive::minimum: return Interval{std::min(a->first, b->first), std::min(a->second, b->second)};
    case Primitive::floor_div:
      if (b->first != b->second || b->first <= 0) return std::nullopt;
      return Interval{floor_quotient(a->first, b->first), floor_quotient(a->second, b->first)};
    case Primitive::modulo:
      if (b->first != b->second || b->first <= 0) return std::nullopt;
      if (a->first >= 0 && a->second < b->first) return a;
      return Interval{0, b->first - 1};
    default: return std::nullopt;
  }
}

Expr in_range(const Expr& index, std::int64_t extent, const Extents& extents) {
  const std::optional<Interval> range = interval(index, extents);
  if (range && (range->second < 0 || range->first >= extent)) return boolean(false);
  Expr low = boolean(true);
  Expr high = boolean(true);
  if (!range || range->first < 0) low = apply(Primitive::le, {integer(0), index});
  if (!range || range->second >= extent) high = apply(Primitive::lt, {index, integer(extent)});
  return folded(Primitive::logical_and, {low, high});
}

}  // namespace etalon::spec::notation
