// Every element that a kernel touches lies in its buffer: by ranges of loops and registers, under the conditions on the way there.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/arithmetic.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/nest.hpp"
#include "spec/error.hpp"
#include "spec/system/reach.hpp"

namespace etalon::compiled::loops {

namespace {

using spec::Form;
using spec::Interval;
using spec::Ranges;
using spec::Reduction;

/// Of no value.
constexpr Interval none{Interval::unbounded, -Interval::unbounded};

constexpr Interval of_i32{std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};

bool is_finite(const Interval& i) { return i.low > -Interval::unbounded && i.high < Interval::unbounded; }

std::string end(std::int64_t v) {
  if (v <= -Interval::unbounded) return "-inf";
  return v >= Interval::unbounded ? "inf" : std::to_string(v);
}

Expr nothing_of(Kind kind) {
  if (kind == Kind::boolean) return spec::boolean(false);
  return kind == Kind::integer ? spec::integer(0) : spec::decimal(0);
}

Expr under(const Expr& condition, const Expr& e) { return condition.valid() ? spec::select(condition, e, nothing_of(e.kind())) : e; }

/// Memory as it is given: the tensors, of which those that a thread has of its own are rows of as many elements as it has of them.
class Memory {
 public:
  explicit Memory(const spec::System& system) : system_(system) { there.tensors = system.tensors; }

  void enter(const Nest& nest) {
    for (const Buffer& b : nest.buffers) {
      if (b.scope != Scope::thread) continue;
      own_.insert(b.tensor);
      there.tensors[static_cast<std::size_t>(b.tensor)].dims = {b.bytes / static_cast<std::int64_t>(size_of(system_[b.tensor].dtype))};
    }
  }

  void leave() {
    for (const TensorId t : own_) there.tensors[static_cast<std::size_t>(t)].dims = system_[t].dims;
    own_.clear();
  }

  /// The same with one index for each element of a thread's own memory.
  [[nodiscard]] Expr seen(const Expr& e) const {
    if (own_.empty() || e->args.empty()) return e;
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(seen(a));
    return e.form() == Form::read ? element(e->tensor, e.kind(), args) : with_args(e, std::move(args));
  }

  [[nodiscard]] Expr element(TensorId t, Kind kind, std::vector<Expr> place) const {
    if (!own_.contains(t)) return spec::read(t, kind, std::move(place));
    Expr number = place.empty() ? spec::integer(0) : place[0];
    for (std::size_t axis = 1; axis < place.size(); ++axis) number = number * spec::integer(system_[t].dims[axis]) + place[axis];
    return spec::read(t, kind, {number});
  }

  spec::System there;

 private:
  const spec::System& system_;
  std::set<TensorId> own_;
};

class Bounds {
 public:
  Bounds(const spec::System& system, Memory& memory, const std::shared_ptr<const std::vector<Interval>>& ranges, const Nest& nest)
      : system_(system), memory_(memory), nest_(nest) {
    known_.tensors = ranges;
    for (const Access& a : accesses_of(nest.steps).elements) {
      if (a.write) written_.insert(a.tensor);
    }
  }

  void run() { steps(nest_.steps, known_); }

 private:
  void steps(const std::vector<Step>& all, Ranges known) {
    for (const Step& s : all) {
      std::visit([&](const auto& one) { step(one, known); }, s.is);
    }
  }

  /// All that is read in an expression, where the condition holds.
  void reads(const Expr& e, const Ranges& known, const Expr& condition = {}) const {
    if (e.valid()) inside(memory_.seen(under(resolved(condition), resolved(e))), known);
  }

  void inside(const Expr& seen, const Ranges& known) const {
    if (is_plainly_inside(seen)) return;
    const auto fault = spec::first_fault(memory_.there, seen, known);
    if (fault) throw InternalError(fmt::format("loops: kernel {}: {}, at {}", nest_.name, fault->rule, to_text(system_, fault->where)));
  }

  /// Quick, and right for most: no condition is needed.
  [[nodiscard]] bool is_plainly_inside(const Expr& e) const {
    return !holds(e, [&](const Expr& x) { return x.form() == Form::read && !in_range(memory_.there, x, extents_); });
  }

  /// Conditions and indices that stand in registers, as they were computed.
  [[nodiscard]] Expr resolved(const Expr& e) const { return e.valid() && !computed_.empty() ? substitute(e, computed_) : e; }

  [[nodiscard]] bool reads_what_is_written(const Expr& e) const {
    return holds(e, [&](const Expr& x) { return x.form() == Form::read && written_.contains(x->tensor); });
  }

  void bind(const Binder& b, Ranges& known) {
    known.bind({b});
    extents_[b.variable] = b.extent;
  }

  void step(const Loop& loop, const Ranges& outer) {
    if (loop.binder.extent <= 0) return;
    Ranges known = outer;
    reads(loop.limit, known);
    bind(loop.binder, known);
    if (loop.limit.valid()) known.assume(spec::apply(spec::Primitive::lt, {variable(loop.binder), resolved(loop.limit)}));
    steps(loop.steps, std::move(known));
  }

  void step(const Reduce& r, Ranges& outer) {
    Ranges known = outer;
    reads(r.reached, known);
    // What holds before the loops holds in them, unless they write what it was made of.
    if (r.reached.valid() && !reads_what_is_written(r.reached)) known.assume(resolved(r.reached));
    reads(r.otherwise, known);
    Interval beyond = none;
    if (r.otherwise.valid() && r.otherwise.kind() == Kind::integer) beyond = interval(resolved(r.otherwise), known);
    const Interval terms = in_loops(r, 0, std::move(known));
    if (kind_of(r) == Kind::integer) outer.variables[r.target] = {std::min(terms.low, beyond.low), std::max(terms.high, beyond.high)};
  }

  /// \returns what the result is if it is one of the terms, or one of their positions; any where it is neither
  Interval in_loops(const Reduce& r, std::size_t level, Ranges known) {
    if (level < r.loops.size()) {
      const Loop& loop = r.loops[level];
      if (loop.binder.extent <= 0) return none;
      bind(loop.binder, known);
      for (const Step& s : loop.steps) {
        std::visit([&](const auto& one) { step(one, known); }, s.is);
      }
      return in_loops(r, level + 1, std::move(known));
    }
    reads(r.guard, known);
    reads(r.body, known, r.guard);
    if (r.reduction == Reduction::argmax || r.reduction == Reduction::argmin) {
      std::int64_t last = 1;
      for (const Loop& loop : r.loops) last *= loop.binder.extent;
      return {0, last - 1};
    }
    const bool is_a_term = r.reduction == Reduction::max || r.reduction == Reduction::min;
    if (!is_a_term || r.body.kind() != Kind::integer) return {};
    known.assume(resolved(r.guard));
    return interval(resolved(r.body), known);
  }

  void step(const Store& store, Ranges& known) {
    const Kind kind = kind_of(system_[store.tensor].dtype);
    reads(store.guard, known);
    for (const Expr& p : store.place) reads(p, known, store.guard);
    reads(store.value, known, store.guard);
    std::vector<Expr> place;
    for (const Expr& p : store.place) place.push_back(memory_.seen(resolved(p)));
    const Expr guard = store.guard.valid() ? memory_.seen(resolved(store.guard)) : Expr{};
    inside(under(guard, memory_.element(store.tensor, kind, std::move(place))), known);
    if (kind == Kind::integer && !store.add) within_range(store, known);
  }

  /// Who reads an integer counts on the range that equations or a caller promise.
  void within_range(const Store& store, Ranges known) const {
    const Interval promised = (*known.tensors)[static_cast<std::size_t>(store.tensor)];
    // What is stored wraps.
    const bool by_type = system_[store.tensor].dtype == DType::i32 && promised.low <= of_i32.low && promised.high >= of_i32.high;
    if (!is_finite(promised) || by_type) return;
    if (store.guard.valid()) known.assume(resolved(store.guard));
    const Interval found = interval(resolved(store.value), known);
    if (found.low >= promised.low && found.high <= promised.high) return;
    throw InternalError(fmt::format("loops: kernel {}: what is stored in {} is in {}..{}, wanted {}..{}", nest_.name,
                                    system_[store.tensor].name, end(found.low), end(found.high), promised.low, promised.high));
  }

  void step(const Define& d, Ranges& known) {
    reads(d.value, known);
    if (d.value.kind() == Kind::real) return;
    bool as_computed = true;
    if (d.value.kind() == Kind::integer) {
      const Interval i = interval(resolved(d.value), known);
      as_computed = d.dtype != DType::i32 || (i.low >= of_i32.low && i.high <= of_i32.high);  // else it wraps
      known.variables[d.target] = as_computed ? i : of_i32;
    }
    if (as_computed && !reads_what_is_written(d.value)) computed_.emplace(d.target, resolved(d.value));
  }

  void step(const Contract& c, const Ranges& outer) {
    Ranges known = outer;
    of_block(c.row, c.first_row, c.schedule.tile_rows, c.schedule.block_rows, known);
    of_block(c.column, c.first_column, c.schedule.tile_columns, c.schedule.block_columns, known);
    Ranges terms = known;
    for (const Binder& b : c.depth) bind(b, terms);
    for (const Expr* e : {&c.first_row, &c.first_column, &c.wanted, &c.guard, &c.taps}) reads(*e, terms);
    for (const Expr* factor : {&c.left, &c.right}) reads(*factor, terms, c.taps);
    steps(c.steps, std::move(known));
  }

  /// Rows or columns of the tiles from the first one on, as far as there are any.
  void of_block(const Binder& b, const Expr& first_tile, std::int64_t tile, std::int64_t tiles, Ranges& known) {
    bind(b, known);
    const Expr first = first_tile * spec::integer(tile);
    known.assume(spec::apply(spec::Primitive::le, {first, variable(b)}));
    known.assume(spec::apply(spec::Primitive::lt, {variable(b), first + spec::integer(tile * tiles)}));
  }

  void step(const Transpose& t, const Ranges& outer) {
    Ranges known = outer;
    for (const Binder& b : {t.across, t.down}) bind(b, known);
    reads(t.value, known);
    step(t.store, known);
  }

  const spec::System& system_;
  Memory& memory_;
  const Nest& nest_;
  Ranges known_;
  Extents extents_;
  spec::Substitution computed_;
  std::set<TensorId> written_;
};

}  // namespace

void verify_bounds(const spec::System& system, std::span<const Nest> nests) {
  const auto ranges = std::make_shared<const std::vector<Interval>>(spec::value_ranges(system));
  Memory memory(system);
  for (const Nest& nest : nests) {
    memory.enter(nest);
    Bounds(system, memory, ranges, nest).run();
    memory.leave();
  }
}

}  // namespace etalon::compiled::loops
