// The pass over boxes: functions of one argument by pieces of it, branches of open decisions joined, boxes narrowed.
#include <algorithm>
#include <cmath>

#include "reference/bounds/evaluator.hpp"
#include "spec/error.hpp"

namespace etalon::reference::bounds {
namespace {

constexpr std::size_t most_branches = 64;
constexpr std::size_t sweep_budget = std::size_t{1} << 31U;  // edges over all sweeps

}  // namespace

template <class R>
void Evaluator<R>::over_boxes(Narrowing narrowing) {
  narrowing_ = narrowing;
  if (narrowing == Narrowing::lines || narrowing == Narrowing::both) tape().keep_lines();
  std::vector<std::uint8_t> varies(system_.tensors.size(), 0);
  for (const spec::TensorId t : system_.inputs) {
    Elements<R>& e = elements_[static_cast<std::size_t>(t)];
    if (e.within == nullptr) continue;
    varies[static_cast<std::size_t>(t)] = 1;
    arithmetic_.use(Rounding::of(system_[t].dtype), Rounding::of(system_[t].dtype));
    for (std::size_t i = 0; i < e.within->lower.size(); ++i) {
      Interval box{e.within->lower[i], e.within->upper[i]};
      if (arithmetic_.contract().flush_operands && box.least() < arithmetic_.rounding().tau) box = hull(box, just(0));
      e.reals.push_back(fresh(between(static_cast<R>(e.within->reference[i]), box)));
    }
    e.input = nullptr;
  }
  arguments_ = arguments_of(system_, plan_, std::move(varies));
}

template <class R>
Interval Evaluator<R>::narrow(const Value<R>& v) {
  Interval box = v;
  if (v.node == no_node || !v.ordinary() || narrowing_ == Narrowing::intervals) return box;
  const Interval reference = Wide<R>::around(v.reference);
  const auto take = [&](const Interval& other) {
    box = {std::max(box.lower, other.lower), std::min(box.upper, other.upper)};
  };
  if (narrowing_ != Narrowing::lines) {
    const double error = mul_up(std::fabs(v.coefficient), tape().error(v.node, sweep_budget).bound);
    if (error < infinity) take(widened(reference, add_up(error, v.local)));
  }
  if (narrowing_ != Narrowing::sweep) {
    const Interval error = tape().error_by_lines(v.node, sweep_budget);
    if (error.magnitude() < infinity) take(widened(reference + just(v.coefficient) * error, v.local));
  }
  // Where no double is inside, neither end cuts anything off.
  return box.lower <= box.upper ? box : Interval{box.upper, box.lower};
}

template <class R>
void Evaluator<R>::store_over_boxes(const PlannedEquation& q, Value<R>& v) {
  if (arguments_.bent[static_cast<std::size_t>(q.target)] != 0) v.enclose(narrow(v));
}

template <class R>
std::int64_t Evaluator<R>::branch(std::int64_t natural, const std::vector<std::int64_t>& answers) {
  if (path_ == nullptr) throw Unsupported("bounds over boxes: where an element is written hangs on what is computed");
  if (path_->met == path_->choices.size()) path_->choices.push_back({0, answers.size()});
  const Choice& choice = path_->choices[path_->met++];
  const auto found = std::find(answers.begin(), answers.end(), natural);
  const auto first = found == answers.end() ? 0 : static_cast<std::size_t>(found - answers.begin());
  return answers[(first + choice.taken) % answers.size()];
}

/// The natural branch comes first.
template <class R>
template <class Evaluate>
auto Evaluator<R>::along_branches(const Evaluate& evaluate) -> std::vector<decltype(evaluate())> {
  std::vector<decltype(evaluate())> all;
  Path path;
  Path* const outer = std::exchange(path_, &path);
  do {
    path.met = 0;
    all.push_back(evaluate());
    while (!path.choices.empty() && path.choices.back().taken + 1 == path.choices.back().of) path.choices.pop_back();
    if (!path.choices.empty()) ++path.choices.back().taken;
  } while (!path.choices.empty() && all.size() < most_branches);
  if (!path.choices.empty()) all.clear();
  path_ = outer;
  return all;
}

template <class R>
Value<R> Evaluator<R>::joined_branches(const std::function<Value<R>()>& evaluate) {
  if (!narrowing_) return evaluate();
  const std::vector<Value<R>> branches = along_branches(evaluate);
  if (branches.empty()) return unresolved();
  Value<R> all = branches.front();
  if (branches.size() == 1) return all;
  all.node = no_node;
  all.coefficient = 1;
  all.quantum = no_quantum;
  all.positive_zero = all.negative_zero = false;
  for (const Value<R>& v : branches) {
    if (v.may(admits_finite)) all.enclose(all.may(admits_finite) ? hull(all, v) : Interval{v});
    all.flags |= v.flags;
    all.scale = std::max(all.scale, v.scale);
  }
  const Interval around = Wide<R>::around(all.reference);
  all.local = all.may(interval_only) ? 0 : std::max(sub_up(all.upper, around.lower), sub_up(around.upper, all.lower));
  return all;
}

template <class R>
std::int64_t Evaluator<R>::integer_over_boxes(const std::function<std::int64_t()>& evaluate) {
  if (!narrowing_) return evaluate();
  const std::vector<std::int64_t> all = along_branches(evaluate);
  const bool one = !all.empty() && std::all_of(all.begin(), all.end(), [&](std::int64_t n) { return n == all.front(); });
  if (!one) (void)unresolved();
  return all.empty() ? 0 : all.front();
}

template <class R>
bool Evaluator<R>::stands_whole(OperationId id, bool as_product) const {
  if (!narrowing_ || given_ != nullptr || arguments_.argument[static_cast<std::size_t>(id)] == no_argument) return false;
  if (arguments_.opens[static_cast<std::size_t>(id)] == 0) return true;
  // Whoever rounds the factors of what is added up has to see them.
  const bool sees_factors = as_product || arithmetic_.contract().product_operand_precision != 0;
  return !sees_factors && is_product(plan_.operations[static_cast<std::size_t>(id)]);
}

template <class R>
Value<R> Evaluator<R>::real_over_boxes(OperationId id) {
  const auto n = static_cast<std::size_t>(id);
  if (given_ != nullptr && arguments_.same[n] == given_->argument) return given_->value;
  const OperationId argument = arguments_.argument[n];
  if (given_ != nullptr || argument == no_argument) return real_of(plan_.operations[n], id);
  Value<R> x = real(argument);
  if (!x.ordinary() || x.exact()) return with_argument(id, x);
  // Elements were narrowed where they were stored.
  if (plan_.operations[static_cast<std::size_t>(argument)].form != spec::Form::read) x.enclose(narrow(x));
  return through_pieces(id, fresh(x));
}

/// As a node of its own.
template <class R>
Value<R> Evaluator<R>::fresh(Value<R> v) {
  arithmetic_.share(v);
  if (v.coefficient == 1) return v;
  const NodeId below = v.node;
  v.node = tape().open(0);
  if (below != no_node) tape().edge({below, just(v.coefficient)});
  v.coefficient = 1;
  return v;
}

template <class R>
Value<R> Evaluator<R>::with_argument(OperationId id, const Value<R>& argument) {
  const Given given{arguments_.argument[static_cast<std::size_t>(id)], argument};
  given_ = &given;
  const Value<R> v = real_of(plan_.operations[static_cast<std::size_t>(id)], id);
  given_ = nullptr;
  return v;
}

/// What is known of the function of one argument where that lies in the domain.
/// \param x the argument \param origin what values are measured from
template <class R>
Piece Evaluator<R>::piece_of(OperationId id, const Value<R>& x, const Interval& domain, R origin) {
  const bool is_point = domain.lower == domain.upper;
  const double middle = domain.lower + (domain.upper - domain.lower) / 2;
  Value<R> given = is_point ? point<R>(static_cast<R>(middle)) : between(static_cast<R>(middle), domain);
  if (!is_point) {
    given.node = x.node;
    given.local = 0;
  }
  return {domain, middle, branches_of(id, given, x.node, origin)};
}

template <class R>
std::vector<Branch> Evaluator<R>::branches_of(OperationId id, const Value<R>& given, NodeId argument, R origin) {
  const std::size_t first = tape().size();
  const DecisionSet before = current_;
  const std::vector<Value<R>> values = along_branches([&] { return with_argument(id, given); });
  const bool unresolved = values.empty() || current_ != before;
  current_ = before;
  std::vector<Branch> branches;
  const Interval zero = Wide<R>::around(origin);
  for (const Value<R>& v : values) {
    Branch b;
    b.bounded = v.ordinary() && !unresolved;
    b.values = Interval(v) - zero;
    b.base = Wide<R>::around(v.reference) - zero;
    b.error = v.local;
    if (v.node != no_node && b.bounded) {
      const Dependence d = tape().dependence(v.node, argument, first);
      b.slope = just(v.coefficient) * d.slope;
      b.error = add_up(b.error, mul_up(std::fabs(v.coefficient), d.error));
    }
    branches.push_back(b);
  }
  if (branches.empty()) branches.push_back({{}, {}, {}, 0, false});
  tape().take_back(first);
  return branches;
}

template <class R>
Value<R> Evaluator<R>::through_pieces(OperationId id, const Value<R>& x) {
  const std::size_t first = tape().size();
  Value<R> v;
  // Of the natural branch.
  v.reference = along_branches([&] { return with_argument(id, point<R>(x.reference)); }).front().reference;
  tape().take_back(first);
  const Interval zero = Wide<R>::around(v.reference);
  double known = 0;
  for (const Branch& b : branches_of(id, point<R>(x.reference), no_node, v.reference)) {
    known = b.bounded ? std::max(known, std::min(b.values.magnitude(), add_up(b.base.magnitude(), b.error))) : infinity;
  }
  const auto origin = static_cast<double>(x.reference);
  if (!(known < infinity)) return with_argument(id, x);
  const Relaxation r = relaxed(x, origin, known, [&](const Interval& domain) { return piece_of(id, x, domain, v.reference); });
  if (!r.bounded) return with_argument(id, x);
  // An argument's reference is not always a double.
  const double off = Wide<R>::around(x.reference - static_cast<R>(origin)).magnitude();
  v.enclose(zero + r.values);
  v.scale = std::fabs(static_cast<double>(v.reference));
  v.node = tape().open(add_up(r.error, mul_up(r.slope.magnitude(), off)));
  tape().edge({x.node, r.slope});
  if (!tape().keeps_lines()) return v;
  const auto shifted = [&](Line line, int side) {
    const double shift = mul_up(std::fabs(line.slope), off);
    line.offset = side < 0 ? sub_down(line.offset, shift) : add_up(line.offset, shift);
    return line;
  };
  tape().relax({x.node, shifted(r.below, -1), shifted(r.above, 1), r.values.magnitude()});
  return v;
}

#define ETALON_INSTANTIATE(R)                                                                            \
  template void Evaluator<R>::over_boxes(Narrowing);                                                     \
  template Interval Evaluator<R>::narrow(const Value<R>&);                                               \
  template void Evaluator<R>::store_over_boxes(const PlannedEquation&, Value<R>&);                       \
  template std::int64_t Evaluator<R>::branch(std::int64_t, const std::vector<std::int64_t>&);            \
  template Value<R> Evaluator<R>::joined_branches(const std::function<Value<R>()>&);                     \
  template std::int64_t Evaluator<R>::integer_over_boxes(const std::function<std::int64_t()>&);          \
  template bool Evaluator<R>::stands_whole(OperationId, bool) const;                                     \
  template Value<R> Evaluator<R>::real_over_boxes(OperationId);
ETALON_INSTANTIATE(double)
ETALON_INSTANTIATE(Quad)
#undef ETALON_INSTANTIATE

}  // namespace etalon::reference::bounds
