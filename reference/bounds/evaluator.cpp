// Loops, tensors, integers and booleans of the pass; the reals are in evaluator_reals.cpp.
#include "reference/bounds/evaluator.hpp"

#include <cmath>

#include "reference/bounds/evaluator_loop.hpp"
#include "reference/bounds/host_element.hpp"
#include "spec/error.hpp"
#include "spec/philox.hpp"

namespace etalon::reference::bounds {
namespace {

using spec::Form;
using spec::Primitive;
using spec::Reduction;

std::int64_t wrap(std::uint64_t x) { return static_cast<std::int64_t>(x); }
std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }

std::int64_t floor_division(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return wrap(0 - bits(a));
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

bool compare(Primitive p, std::int64_t a, std::int64_t b) {
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

template <class R>
Evaluator<R>::Evaluator(const spec::System& system, const Plan& plan, std::span<const HostTensor> inputs,
                        const spec::Contract& contract, Decisions& decisions, DecisionSets& sets,
                        std::span<const Envelope* const> within)
    : system_(system), plan_(plan), arithmetic_(contract), decisions_(decisions), sets_(sets) {
  elements_.resize(system.tensors.size());
  for (const auto& t : system.tensors) strides_.push_back(strides_of(t.dims));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    elements_[static_cast<std::size_t>(system.inputs[i])].input = &inputs[i];
    if (i < within.size()) elements_[static_cast<std::size_t>(system.inputs[i])].within = within[i];
  }
  variables_.resize(plan.variables);
  constants_.resize(plan.constants.size());
}

template <class R>
void Evaluator<R>::run() {
  run_all();
  settled_ = arithmetic_.tape().size();
}

template <class R>
void Evaluator<R>::run_again(const Forced& forced) {
  forced_ = forced;
  arithmetic_.tape().shrink(*settled_);
  run_all();
}

template <class R>
void Evaluator<R>::run_all() {
  auto next = plan_.recurrences.begin();
  for (std::size_t i = 0; i < plan_.equations.size();) {
    if (next != plan_.recurrences.end() && next->equations.front().equation == i) {
      run(*next);
      i += next++->equations.size();
    } else {
      run(plan_.equations[i].binders, plan_.equations[i]);
      ++i;
    }
  }
}

template <class R>
void Evaluator<R>::run(const spec::Recurrence& r) {
  for (std::int64_t n = 0; n < r.steps; ++n) {
    for (const auto& e : r.equations) {
      const PlannedEquation& q = plan_.equations[e.equation];
      std::vector<spec::Binder> others = q.binders;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(e.binder));
      std::int64_t& step = variables_[static_cast<std::size_t>(q.binders[e.binder].variable)];
      step = r.backwards ? r.steps - 1 - n : n;
      run(others, q);
      step = 0;
    }
  }
}

/// The equation for all values of these binders of it.
template <class R>
void Evaluator<R>::run(const std::vector<spec::Binder>& binders, const PlannedEquation& q) {
  Elements<R>& target = elements_[static_cast<std::size_t>(q.target)];
  if (settled_ && target.decisions.empty()) return;
  const auto& info = system_[q.target];
  const auto count = static_cast<std::size_t>(info.dims.count());
  if (kind_of(info.dtype) == Kind::real) target.reals.resize(count);
  else target.integers.resize(count);
  const spec::HalfArithmetic half = spec::half_arithmetic(arithmetic_.contract(), info.dtype);
  arithmetic_.use(Rounding::of(half.own_temporaries ? info.dtype : q.arithmetic),
                  Rounding::of(half.own_accumulators ? info.dtype : q.arithmetic));
  constants_.assign(constants_.size(), std::nullopt);
  loop(binders, [&] {
    store(q);
    return true;
  });
}

/// What is read again: an integer that is only made real is the nearest number of the type.
template <class R>
Value<R> Evaluator<R>::stored_real(OperationId id, DType dtype) {
  const Operation& o = plan_.operations[static_cast<std::size_t>(id)];
  const bool converts = o.form == Form::apply && o.primitive == Primitive::to_real && o.constant < 0;
  if (!converts || plan_.operations[static_cast<std::size_t>(o.args[0])].kind != Kind::integer) return real(id);
  if (dtype != DType::f32 && dtype != DType::f64) return real(id);
  const std::int64_t x = integer(o.args[0]);
  return point<R>(dtype == DType::f32 ? static_cast<R>(static_cast<float>(x)) : static_cast<R>(static_cast<double>(x)));
}

template <class R>
void Evaluator<R>::store(const PlannedEquation& q) {
  Elements<R>& target = elements_[static_cast<std::size_t>(q.target)];
  const auto& info = system_[q.target];
  std::int64_t place = 0;
  if (q.affine >= 0) place = affine(q.affine);
  else {
    const auto& strides = strides_[static_cast<std::size_t>(q.target)];
    for (std::size_t i = 0; i < q.place.size(); ++i) place += strides[i] * integer(q.place[i]);
  }
  const auto at = static_cast<std::size_t>(place);
  // What hangs on no decision reads nothing that does.
  if (settled_ && target.decisions[at] == 0) return;
  current_ = 0;
  // Over boxes every node may have lines, which refer to others.
  if (!narrowing_) arithmetic_.tape().begin_passing();
  switch (kind_of(info.dtype)) {
    case Kind::real: {
      Value<R> v = joined_branches([&] {
        return plan_.is_read[static_cast<std::size_t>(q.target)] != 0 ? stored_real(q.value, info.dtype) : real(q.value);
      });
      const spec::Format format = spec::format_of(info.dtype);
      if (q.narrows || format.precision < arithmetic_.rounding().precision) v = arithmetic_.stored(v, Rounding::of(info.dtype));
      if (plan_.is_read[static_cast<std::size_t>(q.target)] != 0) arithmetic_.share(v);
      if (narrowing_) store_over_boxes(q, v);
      else v.node = arithmetic_.tape().end_passing(v.node);
      target.reals[at] = v;
      break;
    }
    case Kind::integer: {
      const std::int64_t v = integer_over_boxes([&] { return integer(q.value); });
      target.integers[at] = info.dtype == DType::i32 ? static_cast<std::int32_t>(v) : v;
      break;
    }
    case Kind::boolean: target.integers[at] = integer_over_boxes([&] { return boolean(q.value) ? 1 : 0; }); break;
  }
  if (!narrowing_ && kind_of(info.dtype) != Kind::real) (void)arithmetic_.tape().end_passing(no_node);
  if (current_ != 0) {
    target.decisions.resize(static_cast<std::size_t>(info.dims.count()), 0);
    target.decisions[at] = current_;
  }
}

template <class R>
std::int64_t Evaluator<R>::affine(std::int32_t id) const {
  const Affine& a = plan_.affines[static_cast<std::size_t>(id)];
  std::int64_t sum = a.base;
  for (const auto& [v, c] : a.terms) sum += c * variables_[static_cast<std::size_t>(v)];
  return sum;
}

template <class R>
std::int64_t Evaluator<R>::offset_of(const Operation& o) {
  if (o.affine >= 0) return affine(o.affine);
  const auto& strides = strides_[static_cast<std::size_t>(o.tensor)];
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < o.args.size(); ++i) sum += strides[i] * integer(o.args[i]);
  return sum;
}

/// The element that is read; the current element hangs on whatever it hangs on.
template <class R>
std::size_t Evaluator<R>::read_at(const Operation& o) {
  ++steps_;
  const auto at = static_cast<std::size_t>(offset_of(o));
  const Elements<R>& from = elements_[static_cast<std::size_t>(o.tensor)];
  if (at >= static_cast<std::size_t>(system_[o.tensor].dims.count())) {
    throw InternalError("bounds: a read of " + system_[o.tensor].name + " is out of range");
  }
  if (!from.decisions.empty()) current_ = sets_.unite(current_, from.decisions[at]);
  return at;
}

template <class R>
Value<R> Evaluator<R>::real_at(spec::TensorId t, std::size_t at) {
  const Elements<R>& from = elements_[static_cast<std::size_t>(t)];
  if (from.input == nullptr) return from.reals[at];
  if (from.within != nullptr) return between(static_cast<R>(from.within->reference[at]), {from.within->lower[at], from.within->upper[at]});
  return arithmetic_.operand(static_cast<R>(real_element(*from.input, at)));
}

template <class R>
std::int64_t Evaluator<R>::decide(OperationId id, std::int64_t natural, std::vector<std::int64_t> answers) {
  if (narrowing_) return branch(natural, answers);
  std::uint64_t place = static_cast<std::uint64_t>(id) * 0x9E3779B97F4A7C15ULL;
  for (const std::int64_t v : variables_) {
    place = (place ^ bits(v)) * 0xD6E8FEB86659FD93ULL;
    place ^= place >> 32U;
  }
  const DecisionId d = decisions_.meet(place, std::move(answers));
  current_ = sets_.unite(current_, sets_.of(d));
  const auto forced = forced_.find(d);
  return forced == forced_.end() ? natural : forced->second;
}

/// Gives up on the current element.
template <class R>
Value<R> Evaluator<R>::unresolved() {
  current_ = DecisionSets::too_many;
  return point<R>(0);
}

template <class R>
std::int64_t Evaluator<R>::integer(OperationId id) {
  const Operation& o = plan_.operations[static_cast<std::size_t>(id)];
  switch (o.form) {
    case Form::number: return o.integer;
    case Form::variable: return variables_[static_cast<std::size_t>(o.variable)];
    case Form::read: {
      const std::size_t at = read_at(o);
      const Elements<R>& from = elements_[static_cast<std::size_t>(o.tensor)];
      return from.input != nullptr ? integer_element(*from.input, at) : from.integers[at];
    }
    case Form::select: return integer(boolean(o.args[0]) ? o.args[1] : o.args[2]);
    case Form::detach: return integer(o.args[0]);
    case Form::reduce: return integer_reduction(o, id);
    case Form::apply: return o.affine >= 0 ? affine(o.affine) : integer_primitive(o, id);
  }
  return 0;
}

template <class R>
std::int64_t Evaluator<R>::integer_primitive(const Operation& o, OperationId id) {
  if (o.primitive == Primitive::to_integer) {
    const auto& arg = plan_.operations[static_cast<std::size_t>(o.args[0])];
    if (arg.kind == Kind::real) return whole_part(o, id);
    return arg.kind == Kind::boolean ? static_cast<std::int64_t>(boolean(o.args[0])) : integer(o.args[0]);
  }
  const std::int64_t a = integer(o.args[0]);
  if (o.args.size() == 1) {
    if (o.primitive == Primitive::neg) return wrap(0 - bits(a));
    if (o.primitive == Primitive::abs) return a < 0 ? wrap(0 - bits(a)) : a;
    return a > 0 ? 1 : a < 0 ? -1 : 0;
  }
  const std::int64_t b = integer(o.args[1]);
  switch (o.primitive) {
    case Primitive::add: return wrap(bits(a) + bits(b));
    case Primitive::sub: return wrap(bits(a) - bits(b));
    case Primitive::mul: return wrap(bits(a) * bits(b));
    case Primitive::maximum: return a > b ? a : b;
    case Primitive::minimum: return a < b ? a : b;
    case Primitive::floor_div: return floor_division(a, b);
    case Primitive::modulo: return b == 0 ? 0 : wrap(bits(a) - bits(floor_division(a, b)) * bits(b));
    case Primitive::philox:
      return spec::philox_word(bits(a), bits(b), bits(integer(o.args[2])), bits(integer(o.args[3])));
    default: throw InternalError("bounds: not an integer primitive");
  }
}

template <class R>
std::int64_t Evaluator<R>::integer_reduction(const Operation& o, OperationId id) {
  if (o.reduction == Reduction::argmax || o.reduction == Reduction::argmin) return position_of_extremum(o, id);
  std::int64_t result = o.reduction == Reduction::prod ? 1 : 0;
  bool any = false;
  loop(o.binders, [&] {
    if (!boolean(o.args[0])) return true;
    const std::int64_t x = integer(o.args[1]);
    switch (o.reduction) {
      case Reduction::sum: result = wrap(bits(result) + bits(x)); break;
      case Reduction::prod: result = wrap(bits(result) * bits(x)); break;
      case Reduction::max: result = any && result > x ? result : x; break;
      default: result = any && result < x ? result : x; break;
    }
    any = true;
    return true;
  });
  return !any && o.args.size() == 3 ? integer(o.args[2]) : result;
}

template <class R>
bool Evaluator<R>::boolean(OperationId id) {
  const Operation& o = plan_.operations[static_cast<std::size_t>(id)];
  switch (o.form) {
    case Form::number: return o.integer != 0;
    case Form::read: {
      const std::size_t at = read_at(o);
      const Elements<R>& from = elements_[static_cast<std::size_t>(o.tensor)];
      return (from.input != nullptr ? integer_element(*from.input, at) : from.integers[at]) != 0;
    }
    case Form::select: return boolean(boolean(o.args[0]) ? o.args[1] : o.args[2]);
    case Form::detach: return boolean(o.args[0]);
    case Form::reduce: {
      const bool all = o.reduction == Reduction::all;
      bool result = all;
      loop(o.binders, [&] {
        if (boolean(o.args[0]) && boolean(o.args[1]) != all) result = !all;
        return result == all;
      });
      return result;
    }
    case Form::apply: return boolean_primitive(o, id);
    case Form::variable: break;
  }
  throw InternalError("bounds: not a truth value");
}

template <class R>
bool Evaluator<R>::boolean_primitive(const Operation& o, OperationId id) {
  switch (o.primitive) {
    case Primitive::logical_and: return boolean(o.args[0]) && boolean(o.args[1]);
    case Primitive::logical_or: return boolean(o.args[0]) || boolean(o.args[1]);
    case Primitive::logical_not: return !boolean(o.args[0]);
    case Primitive::is_nan:
    case Primitive::is_inf:
    case Primitive::is_finite: return test(o, id);
    default: break;
  }
  switch (plan_.operations[static_cast<std::size_t>(o.args[0])].kind) {
    case Kind::real: return compare_reals(o, id);
    case Kind::integer: return compare(o.primitive, integer(o.args[0]), integer(o.args[1]));
    case Kind::boolean: return compare(o.primitive, boolean(o.args[0]) ? 1 : 0, boolean(o.args[1]) ? 1 : 0);
  }
  return false;
}

// By member: of a class as a whole, members that other files define would be weak here, and no linker looks for those.
#define ETALON_INSTANTIATE(R)                                                                                         \
  template Evaluator<R>::Evaluator(const spec::System&, const Plan&, std::span<const HostTensor>, const spec::Contract&, \
                                   Decisions&, DecisionSets&, std::span<const Envelope* const>);                     \
  template void Evaluator<R>::run();                                                                                  \
  template void Evaluator<R>::run_again(const Forced&);                                                               \
  template Value<R> Evaluator<R>::real_at(spec::TensorId, std::size_t);                                               \
  template std::size_t Evaluator<R>::read_at(const Operation&);                                                       \
  template std::int64_t Evaluator<R>::decide(OperationId, std::int64_t, std::vector<std::int64_t>);                   \
  template Value<R> Evaluator<R>::unresolved();                                                                       \
  template std::int64_t Evaluator<R>::integer(OperationId);                                                           \
  template bool Evaluator<R>::boolean(OperationId);
ETALON_INSTANTIATE(double)
ETALON_INSTANTIATE(Quad)
#undef ETALON_INSTANTIATE

}  // namespace etalon::reference::bounds
