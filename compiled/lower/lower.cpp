#include "compiled/lower/lower.hpp"

#include <algorithm>
#include <utility>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/arithmetic.hpp"
#include "compiled/ir/blocks.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/lower/lowering.hpp"

namespace etalon::compiled::loops {

namespace {

Expr negated(const Expr& a) { return apply(Primitive::logical_not, {a}); }

/// The number of a row among those of a strip.
Expr row_in_strip(const Expr& row, const Expr& first) {
  if (first.is_integer(0)) return row;
  return row.is(Primitive::add) && row->args[0] == first ? row->args[1] : row - first;
}

}  // namespace

void Lowering::open(const Binder& binder) {
  Loop loop;
  loop.binder = binder;
  if (binder.variable == lanes_.variable) {
    loop.width = lanes_.width;
  }
  open_.push_back({std::move(loop)});
  depth_[binder.variable] = open_.size() - 1;
  extents_[binder.variable] = binder.extent;
}

void Lowering::close() {
  Loop loop = std::move(open_.back().loop);
  open_.pop_back();
  std::erase_if(reductions_, [&](const auto& entry) { return depth_.at(entry.second->variable) >= open_.size(); });
  append(open_.size() - 1, {std::move(loop)});
}

Expr Lowering::fresh_register(Kind kind, std::size_t depth) {
  depth_[next_] = depth;
  return value_of(next_++, kind);
}

std::size_t Lowering::depth_of(const Expr& e) const {
  std::size_t depth = floor_;
  for_each(e, [&](const Expr& x) {
    spec::VariableId v = -1;
    if (x.form() == Form::variable) v = x->variable;
    if (x.form() == Form::read) {
      const auto in_register = registers_.find(x->tensor);
      if (in_register != registers_.end()) v = in_register->second->variable;
    }
    const auto it = depth_.find(v);
    if (v >= 0 && it != depth_.end() && it->second < open_.size()) depth = std::max(depth, it->second);
  });
  return depth;
}

bool Lowering::always_in_range(const Expr& e) const {
  Extents extents = extents_;
  for_each(e, [&](const Expr& x) {
    for (const Binder& b : x->binders) extents[b.variable] = b.extent;
  });
  return !holds(e, [&](const Expr& x) { return x.form() == Form::read && !in_range(system_, x, extents); });
}

Expr Lowering::strip(const Expr& e, const Expr& reached) {
  switch (e.form()) {
    case Form::number:
    case Form::variable: return e;
    case Form::detach: return strip(e->args[0], reached);
    case Form::read: return strip_read(e, reached);
    case Form::reduce: return strip_reduction(e, reached);
    case Form::select: return strip_branches(e, reached);
    case Form::apply: break;
  }
  if (e.is(Primitive::logical_and) || e.is(Primitive::logical_or)) return strip_branches(e, reached);
  std::vector<Expr> args;
  for (const Expr& a : e->args) args.push_back(strip(a, reached));
  return with_args(e, std::move(args));
}

Expr Lowering::strip_read(const Expr& e, const Expr& reached) {
  const auto in_register = registers_.find(e->tensor);
  if (in_register != registers_.end()) return in_register->second;
  std::vector<Expr> args;
  for (const Expr& a : e->args) args.push_back(strip(a, reached));
  of_one_turn(e->tensor, args);
  const TensorId stead = plan_.residences.at(static_cast<std::size_t>(e->tensor)).stead;
  return stead < 0 ? with_args(e, std::move(args)) : spec::read(stead, e.kind(), std::move(args));
}

/// Memory of one iteration holds no other's elements.
void Lowering::of_one_turn(TensorId t, std::vector<Expr>& indices) const {
  const Residence& home = plan_.residences.at(static_cast<std::size_t>(t));
  if (home.home != Home::turn) return;
  if (rows_) {
    const std::vector<std::size_t>& axes = rows_->axes.at(t);
    for (const std::size_t axis : axes) indices[axis] = axis == axes.back() ? row_in_strip(indices[axis], rows_->first) : spec::integer(0);
    return;
  }
  for (std::size_t axis = 0; axis < home.index; ++axis) indices[axis] = spec::integer(0);
}

Expr Lowering::strip_branches(const Expr& e, const Expr& reached) {
  std::vector<Expr> args{strip(e->args[0], reached)};
  const Expr& c = args[0];
  const auto under = [&](const Expr& branch, bool when) {
    if (!has_reduction(branch)) return strip(branch, reached);
    return strip(branch, both(reached, when ? c : negated(c)));
  };
  if (e.form() == Form::select) {
    Expr then = under(e->args[1], true);
    Expr otherwise = under(e->args[2], false);
    args.push_back(std::move(then));
    args.push_back(std::move(otherwise));
  } else {
    args.push_back(under(e->args[1], e.is(Primitive::logical_and)));
  }
  return with_args(e, std::move(args));
}

Expr Lowering::strip_reduction(const Expr& e, const Expr& reached) {
  const Expr when = reached.valid() && always_in_range(e) ? Expr{} : reached;
  for (const auto& [key, value] : reductions_) {
    if (key.first == e && (when.valid() ? key.second.valid() && key.second == when : !key.second.valid())) return value;
  }
  const std::size_t depth = std::max(depth_of(e), when.valid() ? depth_of(when) : 0);
  Reduce r;
  r.reduction = e->reduction;
  r.reached = when;
  if (e->args.size() > 2) r.otherwise = strip(e->args[2], reached);
  std::vector<Binder> binders = e->binders;
  std::stable_partition(binders.begin(), binders.end(),
                        [&](const Binder& b) { return b.variable != lanes_.variable; });
  const std::size_t height = open_.size();
  for (const Binder& b : binders) open(b);
  r.guard = strip(e->args[0], when);
  const bool nested = has_reduction(e->args[1]);
  r.body = strip(e->args[1], nested ? both(when, r.guard) : when);
  for (std::size_t i = height; i < open_.size(); ++i) r.loops.push_back(std::move(open_[i].loop));
  open_.resize(height);
  std::erase_if(reductions_, [&](const auto& entry) { return depth_.at(entry.second->variable) >= height; });
  r.tree = tree_of(r.reduction, r.body.kind(), r.loops);
  Expr result = fresh_register(e.kind(), depth);
  r.target = result->variable;
  append(depth, step(std::move(r)));
  reductions_.push_back({{e, when}, result});
  return result;
}

VectorWidth Lowering::vectors_for(const Equation& equation) const {
  const unsigned numbers = arithmetic_type(system_, equation) == DType::f64 ? 2 : 1;
  return {machine_.lanes_f32 / numbers, order_lanes_f32 / numbers};
}

void Lowering::start(const Equation& equation) {
  const Type real = arithmetic_type(system_, equation) == DType::f64 ? Type::f64 : Type::f32;
  if (real != real_) reductions_.clear();  // the same sum in another type is another number
  real_ = real;
}

void Lowering::count_work(const std::vector<Binder>& binders, const Expr& value) {
  work_ += points_of<double>(binders) * (1 + operations(value));
}

void Lowering::assign(const Equation& equation) {
  start(equation);
  count_work(equation.binders, equation.value);
  const Expr value = strip(equation.value, {});
  const Residence& home = plan_.residences.at(static_cast<std::size_t>(equation.target));
  if (home.home == Home::in_register) {
    const Expr held = fresh_register(equation.value.kind(), open_.size() - 1);
    append(open_.size() - 1, step(Define{held->variable, value, system_[equation.target].dtype}));
    registers_[equation.target] = held;
    return;
  }
  Store store;
  store.tensor = home.stead < 0 ? equation.target : home.stead;
  for (const Expr& p : equation.place) store.place.push_back(strip(p, {}));
  of_one_turn(equation.target, store.place);
  store.value = value;
  append(open_.size() - 1, step(std::move(store)));
}

/// The equation over the kernel's own variables for the shared loops.
Equation Lowering::aligned(const Kernel& kernel, const Statement& statement) const {
  Equation e = system_.equations.at(statement.equation);
  spec::Substitution by;
  for (std::size_t a = 0; a < statement.shared.size(); ++a) {
    Binder& b = e.binders.at(statement.shared[a]);
    const Binder& loop = shared_[shared_loop(kernel, statement, a)];
    const Expr v = a == 0 && row_.valid() ? row_ : variable(loop);
    const bool down = kernel.backwards && a + 1 == kernel.loops.size();
    by.emplace(b.variable, down ? spec::integer(b.extent - 1) - v : v);
    b = loop;
  }
  if (rows_ && rows_->local.valid()) {
    const Expr row = rows_->first.is_integer(0) ? rows_->local : rows_->first + rows_->local;
    by.at(system_.equations.at(statement.equation).binders.at(statement.shared.back()).variable) = row;
  }
  for (Expr& p : e.place) p = substitute(p, by);
  e.value = substitute(e.value, by);
  return e;
}

bool Lowering::is_shared(const Binder& binder) const {
  return std::any_of(shared_.begin(), shared_.end(), [&](const Binder& s) { return s.variable == binder.variable; });
}

bool Lowering::adds_up(const Kernel& kernel) const {
  return std::any_of(kernel.statements.begin(), kernel.statements.end(), [&](const Statement& s) { return has_reduction(system_.equations.at(s.equation).value); });
}

/// Of the loops, and those of the reductions in what is assigned, the one that runs in lanes; it becomes the innermost.
void Lowering::choose_among(std::vector<Binder>& loops, std::size_t equation, const std::vector<Assignment>& assignments, VectorWidth vectors) {
  std::vector<Candidate> candidates;
  for (const Binder& b : loops) candidates.push_back({b, nullptr});
  for (const Assignment& a : assignments) collect_reduction_candidates(a.value, candidates);
  lanes_ = decisions_.follow(equation, choose_lanes(system_, assignments, candidates, vectors), candidates);
  in_lanes_last(loops);
}

void Lowering::in_lanes_last(std::vector<Binder>& loops) const {
  std::stable_partition(loops.begin(), loops.end(), [&](const Binder& b) { return b.variable != lanes_.variable; });
}

/// One statement: all its loops may be reordered.
void Lowering::lower_alone(const Statement& statement) {
  const Equation e = system_.equations.at(statement.equation);
  if (lower_transposed(e)) return;
  std::vector<Binder> order = e.binders;
  choose_among(order, statement.equation, {{e.target, e.place, e.value}}, vectors_for(e));
  for (const Binder& b : order) open(b);
  assign(e);
  for (std::size_t i = 0; i < order.size(); ++i) close();
}

/// A statement inside shared loops that are already open.
void Lowering::lower_inner(const Kernel& kernel, const Statement& statement, bool lanes_taken) {
  const Equation e = aligned(kernel, statement);
  std::vector<Binder> own;
  for (const Binder& b : e.binders) {
    if (!is_shared(b)) own.push_back(b);
  }
  if (!lanes_taken) choose_among(own, statement.equation, {{e.target, e.place, e.value}}, vectors_for(e));
  for (const Binder& b : own) open(b);
  assign(e);
  for (std::size_t i = 0; i < own.size(); ++i) close();
}

void Lowering::share(const Kernel& kernel) {
  for (const std::int64_t extent : kernel.loops) shared_.push_back({next_++, extent, "s" + std::to_string(shared_.size())});
}

void Lowering::lower_loops(const Kernel& kernel) {
  if (!kernel.lanes && kernel.statements.size() == 1 && kernel.kind == KernelKind::loops) {
    return lower_alone(kernel.statements.front());
  }
  PinnedLanes lanes;
  if (kernel.lanes) {
    lanes = *kernel.lanes;
    share(kernel);
  } else {
    lanes = lanes_of(kernel);
  }
  std::vector<Binder> order = shared_;
  const LaneChoice by_cost{lanes.loop == PinnedLanes::none ? lanes.reduction : shared_[lanes.loop].variable, lanes.width};
  // Where costs find no lanes for all, each sum has those of its own.
  const bool together = !lanes.each_its_own && (by_cost.variable >= 0 || !adds_up(kernel));
  if (together) {
    std::vector<Candidate> candidates;
    for (const Binder& b : shared_) candidates.push_back({b, nullptr});
    lanes_ = decisions_.follow(kernel.statements.front().equation, by_cost, candidates);
    in_lanes_last(order);
  }
  for (const Binder& b : order) open(b);
  for (const Statement& s : kernel.statements) lower_inner(kernel, s, together);
  for (std::size_t i = 0; i < order.size(); ++i) close();
}

/// The steps of a recurrence in order; within a step the elements of a statement are independent.
void Lowering::lower_sequence(const Kernel& kernel) {
  share(kernel);
  for (const Binder& b : shared_) open(b);
  floor_ = open_.size() - 1;
  for (const Statement& s : kernel.statements) lower_inner(kernel, s, false);
  for (std::size_t i = 0; i < shared_.size(); ++i) close();
}

Nest Lowering::lower(const Kernel& kernel) {
  open_.push_back({});
  Nest nest;
  if (kernel.kind == KernelKind::scatter) {
    nest.zeroed.push_back(system_.equations.at(kernel.statements.front().equation).target);
    lower_scatter(kernel);
  } else if (kernel.kind == KernelKind::sequence) {
    lower_sequence(kernel);
  } else if (kernel.kind == KernelKind::strips) {
    lower_strips(kernel);
  } else if (kernel.schedule) {
    lower_contraction(kernel);
  } else if (kernel.stretch != 0) {
    lower_passing(kernel);
  } else {
    lower_loops(kernel);
  }
  nest.steps = std::move(open_.front().loop.steps);
  for (const Statement& s : kernel.statements) {
    const TensorId t = system_.equations.at(s.equation).target;
    const Residence& home = plan_.residences.at(static_cast<std::size_t>(t));
    if (home.home != Home::turn || home.stead >= 0) continue;
    nest.buffers.push_back({t, Scope::thread, true, true, static_cast<std::int64_t>(home.bytes), {}});
    if (kernel.scratch) nest.buffers.back().offset = static_cast<std::int64_t>(home.offset);
  }
  const std::vector<Buffer> arguments = arguments_of(nest.steps, nest.buffers, nest.zeroed);
  nest.buffers.insert(nest.buffers.begin(), arguments.begin(), arguments.end());
  nest.work = work_;
  return nest;
}

std::vector<Nest> lower(const spec::System& system, const Plan& plan, const Machine& machine, const ScheduleOptions& options, Deciding& deciding) {
  std::vector<Nest> nests;
  Register next = system.next_variable;
  LaneDecisions decisions(system, machine, options.lanes, deciding);
  const std::vector<std::string> names = addresses(system);
  for (const Kernel& kernel : plan.kernels) {
    nests.push_back(Lowering(system, plan, machine, decisions, next).lower(kernel));
    nests.back().name = names.at(kernel.statements.back().equation);
  }
  return nests;
}

}  // namespace etalon::compiled::loops
