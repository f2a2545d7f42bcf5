// Indices, integers and decisions of a run: exact, but for the reals that they hang on.
#include <algorithm>
#include <cmath>
#include <limits>

#include "spec/philox.hpp"
#include "tests/simulator/simulator.hpp"

namespace etalon::bounds_test {
namespace {

using spec::Form;
using spec::Primitive;
using spec::Reduction;

/// Towards 0, beyond the integers their nearest end, NaN as 0.
template <class T>
std::int64_t cut(T x) {
  if (std::isnan(x)) return 0;
  constexpr T end = 0x1p63F;
  if (x >= end) return std::numeric_limits<std::int64_t>::max();
  return x < -end ? std::numeric_limits<std::int64_t>::min() : static_cast<std::int64_t>(x);
}

std::int64_t of_two(Primitive p, std::int64_t a, std::int64_t b) {
  if (b == 0 && (p == Primitive::floor_div || p == Primitive::modulo)) return 0;
  const auto u = static_cast<std::uint64_t>(a), v = static_cast<std::uint64_t>(b);  // wraps as machines do
  const auto floor = [&] { return b == -1 ? static_cast<std::int64_t>(-u) : a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); };
  switch (p) {
    case Primitive::add: return static_cast<std::int64_t>(u + v);
    case Primitive::sub: return static_cast<std::int64_t>(u - v);
    case Primitive::mul: return static_cast<std::int64_t>(u * v);
    case Primitive::floor_div: return floor();
    case Primitive::modulo: return b == -1 ? 0 : a - floor() * b;
    case Primitive::maximum: return std::max(a, b);
    default: return std::min(a, b);
  }
}

template <class Number>
bool compared(Primitive p, Number a, Number b) {
  switch (p) {
    case Primitive::eq: return a == b;
    case Primitive::ne: return a != b;
    case Primitive::lt: return a < b;
    case Primitive::le: return a <= b;
    case Primitive::gt: return a > b;
    default: return a >= b;
  }
}

}  // namespace

template <class T>
std::int64_t Simulator<T>::integer(const Expr& e) {
  switch (e.form()) {
    case Form::number: return e->number.mantissa;
    case Form::variable: return variables_[index(e->variable)];
    case Form::read: return integers_[index(e->tensor)][place_of(e)];
    case Form::select: return integer(boolean(e->args[0]) ? e->args[1] : e->args[2]);
    case Form::detach: return integer(e->args[0]);
    case Form::reduce: return e->args[1].kind() == Kind::real ? position(e) : reduced(e);
    case Form::apply: break;
  }
  return integer_primitive(e);
}

template <class T>
std::int64_t Simulator<T>::integer_primitive(const Expr& e) {
  if (e->args[0].kind() == Kind::real) return cut(real(e->args[0]));
  const std::int64_t a = e->args[0].kind() == Kind::boolean ? boolean(e->args[0]) : integer(e->args[0]);
  if (e->args.size() == 1) {
    if (e->primitive == Primitive::sign) return (a > 0) - (a < 0);
    // The lowest integer is its own negative.
    const bool negated = e->primitive == Primitive::neg || (e->primitive == Primitive::abs && a < 0);
    return negated ? static_cast<std::int64_t>(-static_cast<std::uint64_t>(a)) : a;
  }
  const std::int64_t b = integer(e->args[1]);
  if (e->primitive != Primitive::philox) return of_two(e->primitive, a, b);
  const auto word = [](std::int64_t x) { return static_cast<std::uint64_t>(x); };
  return spec::philox_word(word(a), word(b), word(integer(e->args[2])), word(integer(e->args[3])));
}

/// Where the extreme of reals is.
template <class T>
std::int64_t Simulator<T>::position(const Expr& e) {
  std::int64_t best = 0;
  std::int64_t at = -1;
  bool any = false;
  T extreme = 0;
  each(e->binders, [&] {
    ++at;
    if (!boolean(e->args[0])) return;
    const T x = real(e->args[1]);
    if (!any || (e->reduction == Reduction::argmax ? x > extreme : x < extreme)) {
      extreme = x;
      best = at;
    }
    any = true;
  });
  return best;
}

/// A reduction of integers or truth values: exact, and wrapping.
template <class T>
std::int64_t Simulator<T>::reduced(const Expr& e) {
  const auto whole = [&](const Expr& x) { return x.kind() == Kind::boolean ? std::int64_t{boolean(x)} : integer(x); };
  const bool smallest = e->reduction == Reduction::min || e->reduction == Reduction::argmin;
  auto total = static_cast<std::uint64_t>(e->reduction == Reduction::prod ? 1 : 0);
  std::int64_t extreme = 0;
  std::int64_t best = 0;
  std::int64_t at = -1;
  bool any = false;
  each(e->binders, [&] {
    ++at;
    if (!boolean(e->args[0])) return;
    const std::int64_t x = whole(e->args[1]);
    if (e->reduction == Reduction::prod) total *= static_cast<std::uint64_t>(x);
    else total += static_cast<std::uint64_t>(x);
    if (!any || (smallest ? x < extreme : x > extreme)) {
      extreme = x;
      best = at;
    }
    any = true;
  });
  if (e->reduction == Reduction::argmax || e->reduction == Reduction::argmin) return best;
  if (e->reduction == Reduction::sum || e->reduction == Reduction::prod) return static_cast<std::int64_t>(total);
  return !any && e->args.size() > 2 ? whole(e->args[2]) : extreme;
}

template <class T>
bool Simulator<T>::boolean(const Expr& e) {
  switch (e.form()) {
    case Form::number: return e->number.mantissa != 0;
    case Form::read: return integers_[index(e->tensor)][place_of(e)] != 0;
    case Form::select: return boolean(boolean(e->args[0]) ? e->args[1] : e->args[2]);
    case Form::reduce: return quantified(e);
    default: break;
  }
  switch (e->primitive) {
    case Primitive::logical_and: return boolean(e->args[0]) && boolean(e->args[1]);
    case Primitive::logical_or: return boolean(e->args[0]) || boolean(e->args[1]);
    case Primitive::logical_not: return !boolean(e->args[0]);
    case Primitive::is_nan: return std::isnan(real(e->args[0]));
    case Primitive::is_inf: return std::isinf(real(e->args[0]));
    case Primitive::is_finite: return std::isfinite(real(e->args[0]));
    default: return compare(e);
  }
}

template <class T>
bool Simulator<T>::quantified(const Expr& e) {
  if (e->reduction != Reduction::all && e->reduction != Reduction::any) return reduced(e) != 0;
  bool result = e->reduction == Reduction::all;
  each(e->binders, [&] {
    if (!boolean(e->args[0])) return;
    const bool x = boolean(e->args[1]);
    result = e->reduction == Reduction::all ? result && x : result || x;
  });
  return result;
}

template <class T>
bool Simulator<T>::compare(const Expr& e) {
  const auto both = [&](const auto& value) {
    const auto a = value(e->args[0]);
    return compared(e->primitive, a, value(e->args[1]));
  };
  switch (e->args[0].kind()) {
    case Kind::real: return both([&](const Expr& x) { return real(x); });
    case Kind::boolean: return both([&](const Expr& x) { return boolean(x); });
    default: return both([&](const Expr& x) { return integer(x); });
  }
}

template class Simulator<float>;
template class Simulator<double>;

}  // namespace etalon::bounds_test
