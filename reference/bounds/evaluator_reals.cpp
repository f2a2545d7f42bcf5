// The real-valued half of the pass but for sums and products, and decisions on reals.
#include <algorithm>
#include <cmath>

#include "reference/bounds/constants.hpp"
#include "reference/bounds/evaluator.hpp"
#include "reference/bounds/evaluator_loop.hpp"
#include "reference/scalar_math.hpp"
#include "spec/error.hpp"

namespace etalon::reference::bounds {
namespace {

using spec::Form;
using spec::Primitive;
using spec::Reduction;

/// The ends of all values, infinite ones included.
template <class R>
double least(const Value<R>& v) {
  if (v.may(admits_negative_infinity)) return -infinity;
  return v.may(admits_finite) ? v.lower : infinity;
}
template <class R>
double most(const Value<R>& v) {
  if (v.may(admits_positive_infinity)) return infinity;
  return v.may(admits_finite) ? v.upper : -infinity;
}

template <class R>
bool only(const Value<R>& v, std::uint8_t classes) {
  const auto all = admits_finite | admits_positive_infinity | admits_negative_infinity | admits_nan;
  return (v.flags & all & ~classes) == 0;
}

template <class R>
bool compare(Primitive p, const R& a, const R& b) {
  switch (p) {
    case Primitive::eq: return a == b;
    case Primitive::ne: return a != b;
    case Primitive::lt: return a < b;
    case Primitive::le: return a <= b;
    case Primitive::gt: return a > b;
    default: return a >= b;
  }
}

enum class Answer : std::uint8_t { no, yes, either };

Answer not_(Answer a) { return a == Answer::either ? a : a == Answer::yes ? Answer::no : Answer::yes; }

/// a < b, or a <= b with `or_equal`, for numbers in these boxes.
template <class R>
Answer less(const Value<R>& a, const Value<R>& b, bool or_equal) {
  if (or_equal ? most(a) <= least(b) : most(a) < least(b)) return Answer::yes;
  if (or_equal ? least(a) > most(b) : least(a) >= most(b)) return Answer::no;
  return Answer::either;
}

template <class R>
Answer answer(Primitive p, const Value<R>& a, const Value<R>& b) {
  if (only(a, admits_nan) || only(b, admits_nan)) return p == Primitive::ne ? Answer::yes : Answer::no;
  if (a.may(admits_nan) || b.may(admits_nan)) return Answer::either;
  const bool same = a.node != no_node && a.node == b.node && a.coefficient == b.coefficient && a.local == 0 && b.local == 0;
  if (same || (a.exact() && b.exact())) {
    return compare(p, a.reference, same ? a.reference : b.reference) ? Answer::yes : Answer::no;
  }
  switch (p) {
    case Primitive::lt: return less(a, b, false);
    case Primitive::le: return less(a, b, true);
    case Primitive::gt: return less(b, a, false);
    case Primitive::ge: return less(b, a, true);
    default: break;
  }
  Answer equal = Answer::either;
  if (most(a) < least(b) || most(b) < least(a)) equal = Answer::no;
  if (least(a) == most(a) && least(b) == most(b) && least(a) == least(b)) equal = Answer::yes;
  return p == Primitive::eq ? equal : not_(equal);
}

}  // namespace

template <class R>
Value<R> Evaluator<R>::real(OperationId id) {
  ++steps_;
  const Operation& o = plan_.operations[static_cast<std::size_t>(id)];
  if (o.constant >= 0) return constant(o);
  return narrowing_ ? real_over_boxes(id) : real_of(o, id);
}

template <class R>
Value<R> Evaluator<R>::real_of(const Operation& o, OperationId id) {
  switch (o.form) {
    case Form::read: {
      const std::size_t at = read_at(o);
      const Value<R> v = real_at(o.tensor, at);
      return o.converts ? arithmetic_.stored(v, arithmetic_.rounding()) : v;
    }
    case Form::select: return selected(o);
    case Form::detach: return real(o.args[0]);
    case Form::reduce:
      if (o.reduction == Reduction::sum) return sum_of(id);
      if (o.reduction == Reduction::prod) return product_of(id, false);
      return extremum_of(o);
    case Form::apply:
      if (is_sum(o)) return sum_of(id);
      if (is_product(o)) return product_of(id, false);
      return real_primitive(o, id);
    default: throw InternalError("bounds: not a real expression");
  }
}

/// Whether a comparison of two zeros picks one of two: others take a maximum or minimum then, which may be either zero.
template <class R>
bool Evaluator<R>::picks_between_zeros(const Operation& o) {
  const Operation& asked = plan_.operations[static_cast<std::size_t>(o.args[0])];
  const bool orders = asked.form == Form::apply && (asked.primitive == Primitive::lt || asked.primitive == Primitive::le ||
                                                    asked.primitive == Primitive::gt || asked.primitive == Primitive::ge);
  const auto is_zero = [&](OperationId id) { return plan_.operations[static_cast<std::size_t>(id)].kind == Kind::real && real(id).is_zero(); };
  return orders && is_zero(asked.args[0]) && is_zero(asked.args[1]) && is_zero(o.args[1]) && is_zero(o.args[2]);
}

template <class R>
Value<R> Evaluator<R>::selected(const Operation& o) {
  Value<R> taken = real(boolean(o.args[0]) ? o.args[1] : o.args[2]);
  if (!taken.is_zero() || !picks_between_zeros(o)) return taken;
  const bool alike = real(o.args[1]).positive_zero == real(o.args[2]).positive_zero;
  if (!alike) taken.positive_zero = taken.negative_zero = false;
  return taken;
}

/// What the constant is held as; nothing where no number says it.
template <class R>
std::optional<Value<R>> Evaluator<R>::held_constant(const spec::Expr& e) {
  const Held held = hold(e);
  if (held.unbounded) return std::nullopt;
  const auto rounded = static_cast<R>(held.value);
  const Quad off = held.value - static_cast<Quad>(rounded);
  const double error = add_up(held.error, Wide<Quad>::around(off).magnitude());
  const bool finite = std::isfinite(static_cast<double>(rounded));
  if (finite && !std::isfinite(error)) return std::nullopt;
  return arithmetic_.constant(rounded, finite ? error : 0);
}

/// R0: a closed subexpression is held as float64 would, then rounded at most once; where that is no number, such as a quotient
/// by 0, it is evaluated like any other.
template <class R>
Value<R> Evaluator<R>::constant(const Operation& o) {
  auto& cached = constants_[static_cast<std::size_t>(o.constant)];
  if (cached) return *cached;
  const spec::Expr& e = plan_.constants[static_cast<std::size_t>(o.constant)];
  if (arithmetic_.rounding().precision < 53) cached = held_constant(e);
  if (cached) return *cached;
  if (o.form == Form::number) {
    const Nearly<R> x = e->number.is_binary ? Nearly<R>{static_cast<R>(e->number.binary), 0, {}}
                                            : from_decimal<R>(e->number);
    cached = arithmetic_.constant(x.value, x.error);
  } else {
    Operation open = o;
    open.constant = -1;
    const OperationId id = static_cast<OperationId>(&o - plan_.operations.data());
    Value<R> v;
    if (o.form == Form::select) v = real(boolean(o.args[0]) ? o.args[1] : o.args[2]);
    else if (o.form == Form::detach) v = real(o.args[0]);
    else if (is_sum(o)) v = sum_of(id);
    else if (is_product(o)) v = product_of(id, false);
    else v = real_primitive(o, id);
    return v;  // its nodes belong to this use
  }
  return *cached;
}

template <class R>
Value<R> Evaluator<R>::extremum_of(const Operation& o) {
  std::vector<Value<R>> values;
  loop(o.binders, [&] {
    if (boolean(o.args[0])) values.push_back(real(o.args[1]));
    return true;
  });
  if (!values.empty()) return arithmetic_.extremum(values, o.reduction == Reduction::max);
  if (o.args.size() == 3) return real(o.args[2]);
  throw InternalError("bounds: an extremum over nothing");
}

template <class R>
Value<R> Evaluator<R>::real_primitive(const Operation& o, OperationId id) {
  switch (o.primitive) {
    case Primitive::to_real: {
      const bool truth = plan_.operations[static_cast<std::size_t>(o.args[0])].kind == Kind::boolean;
      const std::int64_t x = truth ? static_cast<std::int64_t>(boolean(o.args[0])) : integer(o.args[0]);
      // Not every integer is a number of the type.
      const auto rounded = static_cast<R>(x);
      return arithmetic_.constant(rounded, Wide<R>::is_integer(rounded, x) ? 0 : Wide<R>::rounding_of(rounded));
    }
    case Primitive::pi: {
      const Nearly<R> pi = Wide<R>::nearly(Primitive::pi, 0);
      return arithmetic_.constant(pi.value, pi.error);
    }
    case Primitive::maximum:
    case Primitive::minimum: {
      const Value<R> both[] = {real(o.args[0]), real(o.args[1])};
      return arithmetic_.extremum(both, o.primitive == Primitive::maximum);
    }
    case Primitive::abs: return arithmetic_.absolute(real(o.args[0]));
    case Primitive::pow: {
      const Value<R> base = real(o.args[0]);
      return arithmetic_.power(base, real(o.args[1]));
    }
    case Primitive::atan2: {
      const Value<R> y = real(o.args[0]);
      return arithmetic_.angle(y, real(o.args[1]));
    }
    case Primitive::modulo: {
      const Value<R> dividend = real(o.args[0]);
      return arithmetic_.remainder(dividend, real(o.args[1]));
    }
    case Primitive::sign:
    case Primitive::floor:
    case Primitive::ceil:
    case Primitive::trunc:
    case Primitive::round: return step_function(o, id);
    default: return arithmetic_.function(o.primitive, real(o.args[0]));
  }
}

template <class R>
Value<R> Evaluator<R>::step_function(const Operation& o, OperationId id) {
  const Value<R> x = real(o.args[0]);
  const auto step = [&](double at) {
    return o.primitive != Primitive::sign ? Wide<double>::evaluate(o.primitive, at) : at > 0 ? 1.0 : at < 0 ? -1.0 : 0.0;
  };
  // Infinities and NaN stay what they are.
  if (only(x, admits_nan) || (!x.may(admits_finite) && o.primitive != Primitive::sign)) return x;
  if (x.may(admits_nan)) return unresolved();
  if (x.exact() && o.primitive != Primitive::sign) return point<R>(Wide<R>::evaluate(o.primitive, x.reference));
  const double low = step(least(x));
  const double high = step(most(x));
  if (low == high) return point<R>(static_cast<R>(low));
  if (!(high - low <= 3)) return unresolved();
  std::vector<std::int64_t> answers;
  for (auto k = static_cast<std::int64_t>(low); k <= static_cast<std::int64_t>(high); ++k) answers.push_back(k);
  const auto natural = static_cast<std::int64_t>(step(static_cast<double>(x.reference)));
  return point<R>(static_cast<R>(decide(id, natural, std::move(answers))));
}

/// The integer toward zero: out of range the nearest end, NaN is 0.
template <class R>
std::int64_t Evaluator<R>::whole_part(const Operation& o, OperationId id) {
  const Value<R> x = real(o.args[0]);
  if (only(x, admits_nan)) return 0;
  if (x.may(admits_nan)) {
    (void)unresolved();
    return 0;
  }
  const std::int64_t low = Math<double>::to_integer(least(x));
  const std::int64_t high = Math<double>::to_integer(most(x));
  if (low == high) return low;
  const std::int64_t natural = std::clamp(Math<double>::to_integer(static_cast<double>(x.reference)), low, high);
  if (static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) > 3) {
    (void)unresolved();
    return natural;
  }
  std::vector<std::int64_t> answers;
  for (std::int64_t k = low; k != high; ++k) answers.push_back(k);
  answers.push_back(high);
  return decide(id, natural, std::move(answers));
}

template <class R>
bool Evaluator<R>::compare_reals(const Operation& o, OperationId id) {
  const Value<R> a = real(o.args[0]);
  const Value<R> b = real(o.args[1]);
  const Answer known = answer(o.primitive, a, b);
  if (known != Answer::either) return known == Answer::yes;
  return decide(id, compare(o.primitive, a.reference, b.reference) ? 1 : 0, {0, 1}) != 0;
}

template <class R>
bool Evaluator<R>::test(const Operation& o, OperationId id) {
  const Value<R> x = real(o.args[0]);
  const auto infinite = static_cast<std::uint8_t>(admits_positive_infinity | admits_negative_infinity);
  std::uint8_t wanted = infinite;
  if (o.primitive == Primitive::is_nan) wanted = admits_nan;
  if (o.primitive == Primitive::is_finite) wanted = admits_finite;
  if (only(x, wanted)) return true;
  if (!x.may(wanted)) return false;
  return decide(id, 0, {0, 1}) != 0;
}

/// The members that take part in a reduction to a position, and where they stand.
template <class R>
template <class Member>
auto Evaluator<R>::members(const Operation& o, const Member& member) {
  std::vector<std::pair<decltype(member()), std::int64_t>> all;
  std::int64_t position = -1;
  loop(o.binders, [&] {
    ++position;
    if (boolean(o.args[0])) all.emplace_back(member(), position);
    return true;
  });
  return all;
}

template <class R>
std::int64_t Evaluator<R>::position_of_extremum(const Operation& o, OperationId id) {
  const bool reals = plan_.operations[static_cast<std::size_t>(o.args[1])].kind == Kind::real;
  const auto position = reals ? position_among_reals(o, id) : position_among_integers(o);
  if (position) return *position;
  if (o.args.size() == 3) return integer(o.args[2]);
  throw InternalError("bounds: a position over nothing");
}

/// Integers are known, so that only ties leave a choice.
template <class R>
std::optional<std::int64_t> Evaluator<R>::position_among_integers(const Operation& o) {
  const auto values = members(o, [&] { return integer(o.args[1]); });
  if (values.empty()) return std::nullopt;
  const bool largest = o.reduction == Reduction::argmax;
  auto best = values.begin();
  std::size_t ties = 0;
  for (auto v = values.begin(); v != values.end(); ++v) {
    if (v->first == best->first) {
      ++ties;
      if (arithmetic_.contract().ties == spec::TiePolicy::last) best = v;
    } else if (largest ? v->first > best->first : v->first < best->first) {
      best = v;
      ties = 1;
    }
  }
  if (ties > 1 && arithmetic_.contract().ties == spec::TiePolicy::even) current_ = DecisionSets::too_many;
  return best->second;
}

template <class R>
std::optional<std::int64_t> Evaluator<R>::position_among_reals(const Operation& o, OperationId id) {
  auto values = members(o, [&] { return real(o.args[1]); });
  if (values.empty()) return std::nullopt;
  if (o.reduction == Reduction::argmin) {
    for (auto& [v, position] : values) scale_exactly(v, true, 0);
  }
  double floor = -infinity;
  bool nan = false;
  for (const auto& [v, position] : values) {
    nan = nan || v.may(admits_nan);
    floor = std::max(floor, least(v));
  }
  if (arithmetic_.contract().nan_of_extrema == spec::NanPolicy::propagate) {
    // The first NaN is the extremum; where only perhaps a value is one, so is its position.
    const auto first = std::find_if(values.begin(), values.end(), [](const auto& at) { return at.first.may(admits_nan); });
    if (first != values.end() && only(first->first, admits_nan)) return first->second;
  }
  std::vector<std::int64_t> answers;
  std::size_t best = values.size();
  std::size_t ties = 0;
  bool exact = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& [v, position] = values[i];
    if (most(v) < floor) continue;
    answers.push_back(position);
    exact = exact && (v.exact() || least(v) == most(v));
    if (best == values.size() || v.reference > values[best].first.reference) {
      best = i;
      ties = 1;
    } else if (v.reference == values[best].first.reference) {
      ++ties;
      if (arithmetic_.contract().ties == spec::TiePolicy::last) best = i;
    }
  }
  const std::int64_t natural = values[best < values.size() ? best : 0].second;
  const bool spread = exact && ties > 1 && arithmetic_.contract().ties == spec::TiePolicy::even;
  if (nan || spread || (!exact && answers.size() > 8)) {
    current_ = DecisionSets::too_many;
    return natural;
  }
  if (exact || answers.size() == 1) return natural;
  return decide(id, natural, std::move(answers));
}

#define ETALON_INSTANTIATE(R)                                                                             \
  template bool Evaluator<R>::picks_between_zeros(const Operation&);                                      \
  template Value<R> Evaluator<R>::real(OperationId);                                                      \
  template Value<R> Evaluator<R>::real_of(const Operation&, OperationId);                                 \
  template std::int64_t Evaluator<R>::whole_part(const Operation&, OperationId);                          \
  template bool Evaluator<R>::compare_reals(const Operation&, OperationId);                               \
  template bool Evaluator<R>::test(const Operation&, OperationId);                                        \
  template std::int64_t Evaluator<R>::position_of_extremum(const Operation&, OperationId);
ETALON_INSTANTIATE(double)
ETALON_INSTANTIATE(Quad)
#undef ETALON_INSTANTIATE

}  // namespace etalon::reference::bounds
