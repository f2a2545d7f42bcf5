#include "compiled/ir/affine.hpp"

#include <algorithm>

#include "compiled/ir/language.hpp"

namespace etalon::compiled::loops {

namespace {

using Range = std::pair<std::int64_t, std::int64_t>;

/// Beyond this, products of bounds might overflow and nothing is claimed.
constexpr std::int64_t limit = std::int64_t{1} << 31;

bool is_number(const Expr& e) { return e.form() == Form::number; }

/// a + b · c as machines compute it, whose integers wrap: so an index that fits has its value though its terms do not.
std::int64_t multiply_add(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b) * static_cast<std::uint64_t>(c));
}

void add(Affine& to, const Affine& what, std::int64_t factor) {
  to.constant = multiply_add(to.constant, factor, what.constant);
  for (const auto& [v, c] : what.variables) {
    const std::int64_t sum = multiply_add(to.variables[v], factor, c);
    if (sum == 0) to.variables.erase(v);
    else to.variables[v] = sum;
  }
  for (const auto& [c, e] : what.opaque) to.opaque.emplace_back(multiply_add(0, factor, c), e);
}

/// Whether `q` is what remains above the digit `r`: e // c beside e % c, which for e = x // d is also written x // (d · c).
bool is_above(const Expr& q, const Expr& r) {
  if (!q.is(Primitive::floor_div)) return false;
  if (q->args == r->args) return true;
  const Expr& e = r->args[0];
  if (!e.is(Primitive::floor_div) || !is_number(e->args[1]) || !is_number(q->args[1])) return false;
  const std::int64_t d = e->args[1]->number.mantissa;
  const std::int64_t c = r->args[1]->number.mantissa;
  std::int64_t both = 0;
  if (d <= 0 || c <= 0 || __builtin_mul_overflow(d, c, &both)) return false;
  return q->args[0] == e->args[0] && q->args[1]->number.mantissa == both;
}

/// (e // c) · c·s + (e % c) · s is e · s: what reshapes leave behind.
bool join_quotient_and_remainder(Affine& a) {
  for (std::size_t i = 0; i < a.opaque.size(); ++i) {
    const auto [s, r] = a.opaque[i];
    if (!r.is(Primitive::modulo) || !is_number(r->args[1])) continue;
    for (std::size_t j = 0; j < a.opaque.size(); ++j) {
      const auto [k, q] = a.opaque[j];
      if (!is_above(q, r)) continue;
      if (k != multiply_add(0, s, r->args[1]->number.mantissa)) continue;
      const Affine inner = affine(r->args[0]);
      a.opaque.erase(a.opaque.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
      a.opaque.erase(a.opaque.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
      add(a, inner, s);
      return true;
    }
  }
  return false;
}

std::optional<Range> clipped(std::int64_t lo, std::int64_t hi) {
  if (lo < -limit * limit / 2 || hi > limit * limit / 2) return std::nullopt;
  return Range{lo, hi};
}

std::optional<Range> product(const Range& a, const Range& b) {
  for (const std::int64_t x : {a.first, a.second, b.first, b.second}) {
    if (x < -limit || x > limit) return std::nullopt;
  }
  const auto [lo, hi] =
      std::minmax({a.first * b.first, a.first * b.second, a.second * b.first, a.second * b.second});
  return clipped(lo, hi);
}

std::int64_t floor_division(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

std::optional<Range> range_of_quotient(Primitive p, const Range& a, const Range& b) {
  if (b.first != b.second || b.first <= 0) return std::nullopt;
  if (p == Primitive::floor_div) return Range{floor_division(a.first, b.first), floor_division(a.second, b.first)};
  if (a.first >= 0 && a.second < b.first) return a;
  return Range{0, b.first - 1};
}

std::optional<Range> range_of_binary(Primitive p, const Range& a, const Range& b) {
  switch (p) {
    case Primitive::add: return clipped(a.first + b.first, a.second + b.second);
    case Primitive::sub: return clipped(a.first - b.second, a.second - b.first);
    case Primitive::mul: return product(a, b);
    case Primitive::maximum: return Range{std::max(a.first, b.first), std::max(a.second, b.second)};
    case Primitive::minimum: return Range{std::min(a.first, b.first), std::min(a.second, b.second)};
    case Primitive::floor_div:
    case Primitive::modulo: return range_of_quotient(p, a, b);
    default: return std::nullopt;
  }
}

}  // namespace

std::int64_t Affine::coefficient(spec::VariableId v) const {
  const auto it = variables.find(v);
  return it == variables.end() ? 0 : it->second;
}

Affine affine(const Expr& e) {
  Affine out;
  if (is_number(e)) {
    out.constant = e->number.mantissa;
  } else if (e.form() == Form::variable) {
    out.variables[e->variable] = 1;
  } else if (e.form() == Form::detach) {
    return affine(e->args[0]);
  } else if (e.is(Primitive::add) || e.is(Primitive::sub)) {
    out = affine(e->args[0]);
    add(out, affine(e->args[1]), e.is(Primitive::add) ? 1 : -1);
  } else if (e.is(Primitive::neg)) {
    add(out, affine(e->args[0]), -1);
  } else if (e.is(Primitive::mul) && (is_number(e->args[0]) || is_number(e->args[1]))) {
    const std::size_t number = is_number(e->args[0]) ? 0 : 1;
    add(out, affine(e->args[1 - number]), e->args[number]->number.mantissa);
  } else {
    out.opaque.emplace_back(1, e);
  }
  return out;
}

Affine element_number(const std::vector<Expr>& indices, const Dims& dims) {
  Affine out;
  std::int64_t stride = 1;
  for (std::size_t axis = indices.size(); axis-- > 0;) {
    add(out, affine(indices[axis]), stride);
    stride *= dims[axis];
  }
  while (join_quotient_and_remainder(out)) {
  }
  return out;
}

bool mentions(const Expr& e, spec::VariableId v) {
  if (e.form() == Form::variable) return e->variable == v;
  return std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return mentions(a, v); });
}

std::optional<Range> range_of(const Expr& e, const Extents& extents) {
  if (e.kind() != Kind::integer) return std::nullopt;
  if (is_number(e)) return clipped(e->number.mantissa, e->number.mantissa);
  if (e.form() == Form::variable) {
    const auto it = extents.find(e->variable);
    if (it == extents.end()) return std::nullopt;
    return Range{0, std::max<std::int64_t>(it->second - 1, 0)};
  }
  if (e.form() == Form::detach) return range_of(e->args[0], extents);
  if (e.form() != Form::apply) return std::nullopt;
  std::vector<Range> args;
  for (const Expr& a : e->args) {
    const auto r = range_of(a, extents);
    if (!r) return std::nullopt;
    args.push_back(*r);
  }
  if (args.size() == 1 && e.is(Primitive::neg)) return Range{-args[0].second, -args[0].first};
  if (args.size() == 2) return range_of_binary(e->primitive, args[0], args[1]);
  return std::nullopt;
}

}  // namespace etalon::compiled::loops
