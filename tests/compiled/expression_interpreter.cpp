#include "tests/compiled/expression_interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace etalon::test {

using namespace etalon::spec;

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && ((a % b < 0) != (b < 0)) ? q - 1 : q;
}

std::int64_t wrapped(Primitive p, std::int64_t a, std::int64_t b) {
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  switch (p) {
    case Primitive::add:
      return static_cast<std::int64_t>(ua + ub);
    case Primitive::sub:
      return static_cast<std::int64_t>(ua - ub);
    case Primitive::mul:
      return static_cast<std::int64_t>(ua * ub);
    case Primitive::neg:
      return static_cast<std::int64_t>(-ua);
    case Primitive::abs:
      return a < 0 ? static_cast<std::int64_t>(-ua) : a;
    case Primitive::sign:
      return (a > 0) - (a < 0);
    case Primitive::maximum:
      return std::max(a, b);
    case Primitive::minimum:
      return std::min(a, b);
    case Primitive::floor_div:
      return floor_div(a, b);
    case Primitive::modulo:
      return a - floor_div(a, b) * b;
    default:
      throw std::logic_error("the interpreter of the tests lacks an integer primitive");
  }
}

template <class T>
bool compared(Primitive p, T a, T b) {
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
    default:
      return a >= b;
  }
}

/// Calls visit for every value of the binders in row-major order.
template <class Visit>
void loop(const std::vector<Binder>& binders, std::size_t depth, Environment& at, Visit visit) {
  if (depth == binders.size()) {
    visit();
    return;
  }
  for (std::int64_t i = 0; i < binders[depth].extent; ++i) {
    at[binders[depth].variable] = i;
    loop(binders, depth + 1, at, visit);
  }
}

}  // namespace

Scalar Evaluation::operator()(const Expr& e, Environment& at) {
  switch (e.form()) {
    case Form::number:
      return number(e);
    case Form::variable:
      return {0, at.at(e->variable)};
    case Form::read:
      return read(e, at);
    case Form::apply:
      return apply(e, at);
    case Form::select: {
      Scalar chosen = (*this)(e->args[(*this)(e->args[0], at).integer != 0 ? 1 : 2], at);
      if (single(e)) chosen.real = static_cast<double>(static_cast<float>(chosen.real));
      return chosen;
    }
    case Form::reduce:
      return reduce(e, at);
    case Form::detach:
      return (*this)(e->args[0], at);
  }
  throw std::logic_error("no such form");
}

bool Evaluation::single(const Expr& e) {
  if (!single_ || e.kind() != Kind::real) return false;
  const auto found = known_.find(&*e);
  if (found != known_.end()) return found->second;
  const bool meets = meets_single(e);
  known_.emplace(&*e, meets);
  return meets;
}

bool Evaluation::meets_single(const Expr& e) {
  const auto& args = e->args;
  switch (e.form()) {
    case Form::number:
    case Form::variable:
      return false;
    case Form::read:
      return !wide_(e->tensor);
    case Form::select:
      return single(args[1]) || single(args[2]);
    case Form::reduce:
      return single(args[1]);
    case Form::apply:
    case Form::detach:
      return std::any_of(args.begin(), args.end(), [&](const Expr& a) { return single(a); });
  }
  return false;
}

Scalar Evaluation::number(const Expr& e) {
  const Number& n = e->number;
  if (e.kind() != Kind::real) return {0, n.mantissa};
  if (n.is_binary) return {n.binary, 0};
  return {static_cast<double>(static_cast<long double>(n.mantissa) * std::pow(10.0L, n.exponent)), 0};
}

Scalar Evaluation::read(const Expr& e, Environment& at) {
  std::vector<std::int64_t> index;
  for (const Expr& a : e->args) index.push_back((*this)(a, at).integer);
  return reader_(e->tensor, index);
}

double Evaluation::real_result(Primitive p, double a, double b, bool single) {
  const auto fa = static_cast<float>(a);
  const auto fb = static_cast<float>(b);
  if (single) {
    a = static_cast<double>(fa);
    b = static_cast<double>(fb);
  }
  switch (p) {
    case Primitive::add:
      return single ? static_cast<double>(fa + fb) : a + b;
    case Primitive::sub:
      return single ? static_cast<double>(fa - fb) : a - b;
    case Primitive::mul:
      return single ? static_cast<double>(fa * fb) : a * b;
    case Primitive::div:
      return single ? static_cast<double>(fa / fb) : a / b;
    case Primitive::neg:
      return -a;
    case Primitive::abs:
      return std::abs(a);
    case Primitive::floor:
      return std::floor(a);
    case Primitive::exp:
      return single ? static_cast<double>(std::exp(fa)) : std::exp(a);
    case Primitive::sqrt:
      return single ? static_cast<double>(std::sqrt(fa)) : std::sqrt(a);
    case Primitive::maximum:
      return std::isnan(a) || std::isnan(b) ? a + b : (a >= b ? a : b);
    case Primitive::minimum:
      return std::isnan(a) || std::isnan(b) ? a + b : (a <= b ? a : b);
    default:
      throw std::logic_error("the interpreter of the tests lacks a real primitive");
  }
}

Scalar Evaluation::apply(const Expr& e, Environment& at) {
  const Primitive p = e->primitive;
  const Scalar a = (*this)(e->args[0], at);
  if (p == Primitive::logical_and) return a.integer == 0 ? a : (*this)(e->args[1], at);
  if (p == Primitive::logical_or) return a.integer != 0 ? a : (*this)(e->args[1], at);
  if (p == Primitive::logical_not) return {0, a.integer == 0};
  if (p == Primitive::is_nan) return {0, std::isnan(a.real)};
  if (p == Primitive::to_integer) return {0, a.integer};
  if (p == Primitive::to_real) return {static_cast<double>(a.integer), 0};
  const Scalar b = e->args.size() > 1 ? (*this)(e->args[1], at) : a;
  if (p >= Primitive::eq && p <= Primitive::ge) {
    const bool real = e->args[0].kind() == Kind::real;
    return {0, real ? compared(p, a.real, b.real) : compared(p, a.integer, b.integer)};
  }
  if (e.kind() == Kind::real) return {real_result(p, a.real, b.real, single(e)), 0};
  return {0, wrapped(p, a.integer, b.integer)};
}

Scalar Evaluation::reduce(const Expr& e, Environment& at) {
  const Reduction r = e->reduction;
  Scalar value;
  value.real = r == Reduction::prod ? 1 : 0;
  value.integer = r == Reduction::prod || r == Reduction::all;
  bool empty = true;
  std::int64_t position = -1;
  loop(e->binders, 0, at, [&] {
    ++position;
    if ((*this)(e->args[0], at).integer == 0) return;
    const Scalar x = (*this)(e->args[1], at);
    combine(e, value, x, empty, position);
    empty = false;
  });
  if (empty && e->args.size() > 2) return (*this)(e->args[2], at);
  if (r == Reduction::argmax || r == Reduction::argmin) return {0, value.integer};
  return value;
}

void Evaluation::combine(const Expr& e, Scalar& value, const Scalar& x, bool first, std::int64_t position) {
  const bool real = e->args[1].kind() == Kind::real;
  const auto larger = [&] { return real ? x.real > value.real : x.integer > value.integer; };
  const auto smaller = [&] { return real ? x.real < value.real : x.integer < value.integer; };
  switch (e->reduction) {
    case Reduction::sum:
      value = real ? Scalar{real_result(Primitive::add, value.real, x.real, single(e)), 0}
                   : Scalar{0, wrapped(Primitive::add, value.integer, x.integer)};
      break;
    case Reduction::prod:
      value = real ? Scalar{real_result(Primitive::mul, value.real, x.real, single(e)), 0}
                   : Scalar{0, wrapped(Primitive::mul, value.integer, x.integer)};
      break;
    case Reduction::max:
      value = first || larger() ? x : value;
      break;
    case Reduction::min:
      value = first || smaller() ? x : value;
      break;
    case Reduction::any:
      value.integer |= x.integer;
      break;
    case Reduction::all:
      value.integer &= x.integer;
      break;
    case Reduction::argmax:
      if (first || larger()) value = {x.real, position};
      break;
    case Reduction::argmin:
      if (first || smaller()) value = {x.real, position};
      break;
  }
}

}  // namespace etalon::test
