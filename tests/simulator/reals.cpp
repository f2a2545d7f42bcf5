// Reals of a run but for their sums: products in any association, extrema, functions, constants.
#include <algorithm>
#include <cmath>

#include "reference/bounds/wide.hpp"
#include "tests/simulator/recomputed.hpp"
#include "tests/simulator/simulator.hpp"

namespace etalon::bounds_test {

using spec::Form;
using spec::Primitive;
using spec::Reduction;

/// A closed expression as a host computes it.
template <class T>
double Simulator<T>::held(const Expr& e) {
  if (e.form() == Form::number && e.kind() == Kind::integer) return static_cast<double>(e->number.mantissa);
  if (e.form() == Form::number) {
    return e->number.is_binary ? e->number.binary
                               : reference::bounds::from_decimal<double>(e->number).value;
  }
  if (e.form() == Form::select) return held(boolean(e->args[0]) ? e->args[1] : e->args[2]);
  if (e.form() == Form::detach) return held(e->args[0]);
  const double a = e->args.empty() ? 0 : held(e->args[0]);
  const double b = e->args.size() < 2 ? 0 : held(e->args[1]);
  switch (e->primitive) {
    case Primitive::add: return a + b;
    case Primitive::sub: return a - b;
    case Primitive::mul: return a * b;
    case Primitive::div: return a / b;
    case Primitive::neg: return -a;
    case Primitive::to_real:
    case Primitive::to_integer: return a;
    case Primitive::abs: return std::fabs(a);
    case Primitive::maximum: return std::max(a, b);
    case Primitive::minimum: return std::min(a, b);
    default: return reference::bounds::Wide<double>::evaluate(e->primitive, a, b);
  }
}

template <class T>
T Simulator<T>::real(const Expr& e) {
  if (is_closed(e)) return static_cast<T>(held(e));
  switch (e.form()) {
    case Form::read:
      if (computes_anew(e)) return anew(e, [&](const Expr& value) { return real(value); });
      return rounding_.operand(values_[index(e->tensor)][place_of(e)]);
    case Form::select: return real(boolean(e->args[0]) ? e->args[1] : e->args[2]);
    case Form::detach: return real(e->args[0]);
    case Form::reduce:
      if (e->reduction == Reduction::sum) return sum(e);
      if (e->reduction == Reduction::prod) return product(e);
      return extremum(e);
    default: return primitive(e);
  }
}

template <class T>
T Simulator<T>::primitive(const Expr& e) {
  switch (e->primitive) {
    case Primitive::add:
    case Primitive::sub:
    case Primitive::neg: return sum(e);
    case Primitive::mul:
    case Primitive::div: return product(e);
    case Primitive::to_real:
      return static_cast<T>(e->args[0].kind() == Kind::boolean ? boolean(e->args[0]) : integer(e->args[0]));
    default: break;
  }
  const T x = real(e->args[0]);
  const T y = e->args.size() > 1 ? real(e->args[1]) : T(0);
  switch (e->primitive) {
    case Primitive::abs: return std::fabs(x);
    case Primitive::maximum: return std::max(x, y);
    case Primitive::minimum: return std::min(x, y);
    case Primitive::floor: return std::floor(x);
    case Primitive::modulo: {
      using Wider = typename Rounding<T>::Wider;
      return static_cast<T>(reference::bounds::Wide<Wider>::evaluate(e->primitive, x, y));
    }
    case Primitive::sign: return std::isnan(x) ? x : static_cast<T>((x > 0) - (x < 0));
    default: return rounding_.function(e->primitive, x, y);
  }
}

template <class T>
T Simulator<T>::extremum(const Expr& e) {
  bool any = false;
  T best = 0;
  each(e->binders, [&] {
    if (!boolean(e->args[0])) return;
    const T x = real(e->args[1]);
    if (!any || (e->reduction == Reduction::max ? x > best : x < best)) best = x;
    any = true;
  });
  return any || e->args.size() < 3 ? best : real(e->args[2]);
}

template <class T>
void Simulator<T>::factors(const Expr& e, bool divides, std::vector<Factor>& into) {
  if (!is_closed(e)) {
    if (computes_anew(e)) return anew(e, [&](const Expr& value) { factors(value, divides, into); });
    if (e.form() == Form::select) return factors(boolean(e->args[0]) ? e->args[1] : e->args[2], divides, into);
    if (e.form() == Form::detach) return factors(e->args[0], divides, into);
    if (e.form() == Form::reduce && e->reduction == Reduction::prod) {
      return each(e->binders, [&] {
        if (boolean(e->args[0])) factors(e->args[1], divides, into);
      });
    }
    if (e.is(Primitive::mul) || e.is(Primitive::div)) {
      factors(e->args[0], divides, into);
      return factors(e->args[1], e.is(Primitive::div) ? !divides : divides, into);
    }
  }
  into.push_back({real(e), divides});
}

template <class T>
T Simulator<T>::product(const Expr& e) {
  std::vector<Factor> list;
  factors(e, false, list);
  if (list.empty()) return 1;
  while (list.size() > 1) {
    const std::size_t i = random_() % list.size();
    std::size_t j = random_() % (list.size() - 1);
    if (j >= i) ++j;
    Factor joined;
    if (list[i].divides == list[j].divides) joined = {rounding_.result(list[i].value * list[j].value), list[i].divides};
    else if (list[i].divides) joined = {rounding_.quotient(list[j].value, list[i].value), false};
    else joined = {rounding_.quotient(list[i].value, list[j].value), false};
    list[std::min(i, j)] = joined;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
  }
  return list[0].divides ? rounding_.quotient(1, list[0].value) : list[0].value;
}

template class Simulator<float>;
template class Simulator<double>;

}  // namespace etalon::bounds_test
