// Factors that are copied first become equations of their own, so that planning, checking and fusing need not know of them.
#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiled/ir/affine.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/schedule.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/ir/windows.hpp"
#include "compiled/machine/thresholds.hpp"
#include "compiled/rewrite/rewriting.hpp"
#include "compiled/rewrite/take_together.hpp"
#include "compiled/schedule/strips.hpp"
#include "spec/system/reach.hpp"

namespace etalon::compiled {

namespace {

Expr quotient(const Expr& e, std::int64_t by) { return spec::apply(Primitive::floor_div, {e, spec::integer(by)}); }
Expr remainder(const Expr& e, std::int64_t by) { return spec::apply(Primitive::modulo, {e, spec::integer(by)}); }

/// The row-major position among the loops.
Expr position(const std::vector<Binder>& loops) {
  Expr at = spec::variable(loops.front());
  for (std::size_t l = 1; l < loops.size(); ++l) at = at * spec::integer(loops[l].extent) + spec::variable(loops[l]);
  return at;
}

/// What each of the loops is at a position.
void at_position(const std::vector<Binder>& loops, const Expr& position, spec::Substitution& by) {
  std::int64_t inner = 1;
  for (std::size_t l = loops.size(); l-- > 0; inner *= loops[l].extent) {
    const Expr rest = inner == 1 ? position : quotient(position, inner);
    by.emplace(loops[l].variable, l == 0 ? rest : remainder(rest, loops[l].extent));
  }
}

/// Positions of the equations that copy a factor, by the tensor that each reads first, -1 where it reads none: equal
/// copies read the same, and only a few are of one tensor.
using Copies = std::unordered_map<TensorId, std::vector<std::size_t>>;

TensorId first_read(const Expr& value) {
  TensorId first = -1;
  spec::for_each(value, [&](const Expr& e) {
    if (first < 0 && e.form() == spec::Form::read) first = e->tensor;
  });
  return first;
}

/// Copies factors.
class Packer {
 public:
  /// \param copies those of `all` that copy; new ones are added
  Packer(System& system, const Equation& equation, const Contraction& c, std::vector<Equation>& all, Copies& copies)
      : system_(system), equation_(equation), c_(c), all_(all), copies_(copies) {}

  /// \returns the factor as it is read from the copy.
  Expr pack(const Expr& factor, std::size_t own, const Packing& packing, std::int64_t width, const char* name) {
    binders_.clear();
    read_.clear();
    by_.clear();
    for (std::size_t b = 0; b < equation_.binders.size(); ++b) {
      const Binder& outer = equation_.binders[b];
      if (b != own && loops::mentions(factor, outer.variable)) read_.push_back(runs_along(outer));
    }
    const Binder& along = equation_.binders[own];
    const Expr within = packing.layout == Layout::panels ? in_panels(along, width) : in_rows(along);
    Expr value = spec::substitute(factor, by_);
    if (within.valid()) value = spec::select(within, value, spec::decimal(0));
    Dims dims;
    for (const Binder& b : binders_) dims.push_back(b.extent);
    return system_.at(copied(within_tensors(std::move(value)), dims, name), read_);
  }

  /// The same for a window: copy[axes…], from the least index of each axis on.
  Expr pack_window(const Expr& factor) {
    binders_.clear();
    read_.clear();
    const Window window = *as_window(system_, equation_, c_, factor);
    std::vector<std::pair<Expr, Expr>> by;
    Expr within;
    const auto require = [&](const Expr& condition) { within = within.valid() ? within && condition : condition; };
    Dims dims;
    for (const Window::Axis& axis : window.axes) {
      const Expr at = bind("at" + std::to_string(dims.rank), axis.extent);
      const Expr there = axis.low == 0 ? at : at + spec::integer(axis.low);
      by.emplace_back(axis.at, there);
      read_.push_back(axis.low == 0 ? axis.at : axis.at - spec::integer(axis.low));
      if (axis.low < 0) require(spec::apply(Primitive::le, {spec::integer(0), there}));
      if (axis.low + axis.extent > axis.dim) require(spec::apply(Primitive::lt, {there, spec::integer(axis.dim)}));
      dims.push_back(axis.extent);
    }
    Expr value = reading(window.inside, by);
    if (within.valid()) value = spec::select(within, value, spec::decimal(0));
    return system_.at(copied(value, dims, ".window"), read_);
  }

 private:
  /// The same with zeros in place of elements beside their tensors: terms that the contraction's guard leaves out are copied, too.
  Expr within_tensors(Expr value) const {
    spec::Ranges known;
    known.bind(binders_);
    std::vector<Expr> guarded;
    for (auto fault = spec::first_fault(system_, value, known); fault; fault = spec::first_fault(system_, value, known)) {
      const Expr& where = fault->where;
      if (where.form() != spec::Form::read || std::find(guarded.begin(), guarded.end(), where) != guarded.end()) break;
      guarded.push_back(where);
      Expr inside;
      for (std::size_t axis = 0; axis < where->args.size(); ++axis) {
        const Expr& at = where->args[axis];
        const spec::Interval range = spec::interval(at, known);
        if (range.low >= 0 && range.high < system_[where->tensor].dims[axis]) continue;
        const Expr here = spec::apply(Primitive::le, {spec::integer(0), at}) &&
                          spec::apply(Primitive::lt, {at, spec::integer(system_[where->tensor].dims[axis])});
        inside = inside.valid() ? inside && here : here;
      }
      if (!inside.valid()) break;
      const Expr guarded_read = spec::select(inside, where, spec::decimal(0));
      Rewriter guard([&](const Expr& e) { return e == where ? guarded_read : Expr{}; });
      value = guard(value);
    }
    return value;
  }

  /// The tensor of copy[binders…] = value: an earlier one where there is the same.
  TensorId copied(const Expr& value, const Dims& dims, const char* name) {
    std::vector<std::size_t>& alike = copies_[first_read(value)];
    for (const std::size_t e : alike) {
      const Equation& other = all_[e];
      if (!(system_[other.target].dims == dims) || system_[other.target].dtype != c_.held()) continue;
      spec::Substitution by;
      for (std::size_t b = 0; b < binders_.size(); ++b) by.emplace(other.binders[b].variable, spec::variable(binders_[b]));
      if (spec::substitute(other.value, by) == value) return other.target;
    }
    const TensorId copy = system_.add_tensor(system_[equation_.target].name + name, c_.held(), dims);
    alike.push_back(all_.size());
    all_.push_back({copy, binders_, spec::variables(binders_), value, equation_.origin});
    return copy;
  }

  /// An expression whose reads have other indices.
  static Expr reading(const Expr& e, const std::vector<std::pair<Expr, Expr>>& by) {
    std::vector<Expr> args;
    for (const Expr& a : e->args) {
      const auto other = std::find_if(by.begin(), by.end(), [&](const auto& pair) { return pair.first == a; });
      args.push_back(e.form() == spec::Form::read ? (other == by.end() ? a : other->second) : reading(a, by));
    }
    return args.empty() ? e : spec::with_args(e, std::move(args));
  }

  /// The depth in steps: without the loop that is taken at once.
  std::vector<Binder> steps() const {
    return {c_.depth.begin(), c_.depth.end() - (c_.adder != nullptr ? 1 : 0)};
  }

  std::int64_t terms() const { return c_.adder != nullptr ? c_.adder->terms : 1; }

  Expr bind(const std::string& name, std::int64_t extent) {
    binders_.push_back(system_.bind(name, extent));
    return spec::variable(binders_.back());
  }

  Expr runs_along(const Binder& b) {
    by_.emplace(b.variable, bind(b.name, b.extent));
    return spec::variable(b);
  }

  /// Loops of the depth as axes of their own, whose row-major position is the loops', or as one where there would be too many.
  void bind_depth(const std::vector<Binder>& loops, std::size_t others) {
    if (binders_.size() + others + loops.size() <= Dims::max_rank) {
      for (const Binder& b : loops) read_.push_back(runs_along(b));
    } else {
      at_position(loops, bind("step", points_of(loops)), by_);
      read_.push_back(position(loops));
    }
  }

  /// copy[outer…, own / width, steps…, own % width], and last the terms that are taken at once. \returns where the copy is of the factor;
  /// beyond it is zero.
  Expr in_panels(const Binder& along, std::int64_t width) {
    const Expr own = spec::variable(along);
    const Expr panel = bind("panel", (along.extent + width - 1) / width);
    read_.push_back(quotient(own, width));
    bind_depth(steps(), c_.adder != nullptr ? 2 : 1);
    read_.push_back(remainder(own, width));
    const Expr number = panel * spec::integer(width) + bind("within", width);
    by_.emplace(along.variable, number);
    if (c_.adder != nullptr) read_.push_back(runs_along(c_.depth.back()));
    return along.extent % width == 0 ? Expr{} : spec::apply(Primitive::lt, {number, spec::integer(along.extent)});
  }

  /// copy[outer…, own, depth…]; with one axis of depth, each row is of whole lines. \returns the same.
  Expr in_rows(const Binder& along) {
    read_.push_back(runs_along(along));
    const std::vector<Binder> loops = steps();
    if (c_.adder == nullptr && loops.size() > 1) {
      bind_depth(loops, 0);
      return {};
    }
    if (loops.size() > 1) {
      bind_depth({loops.begin(), loops.end() - 1}, 1);
      return bind_last(loops.back(), loops.back().extent * terms());
    }
    const auto size = static_cast<std::int64_t>(size_of(c_.held()));
    std::int64_t line = (points_of(c_.depth) * size + threshold("line_bytes") - 1) / threshold("line_bytes") * threshold("line_bytes") / size;
    if (line * size % threshold("conflicting_bytes") == 0) line += threshold("line_bytes") / size;
    return bind_last(loops[0], line);
  }

  /// The last loop of steps with the terms of each, which lie side by side, as one axis. \returns where it is within the depth.
  Expr bind_last(const Binder& turn, std::int64_t extent) {
    const Expr step = bind("step", extent);
    if (c_.adder == nullptr) {
      by_.emplace(turn.variable, step);
      read_.push_back(spec::variable(turn));
    } else {
      // Factors know the two loops by their position alone.
      by_.emplace(turn.variable, spec::integer(0));
      by_.emplace(c_.depth.back().variable, step);
      read_.push_back(position({turn, c_.depth.back()}));
    }
    return extent == turn.extent * terms() ? Expr{} : spec::apply(Primitive::lt, {step, spec::integer(turn.extent * terms())});
  }

  System& system_;
  const Equation& equation_;
  const Contraction& c_;
  std::vector<Equation>& all_;       ///< so far
  Copies& copies_;
  std::vector<Binder> binders_;  ///< of the copy
  std::vector<Expr> read_;       ///< its indices in the contraction
  spec::Substitution by_;        ///< what the contraction's loops are in the copy
};

void apply(Packer& packer, Equation& equation, Contraction& c, const Schedule& s) {
  if (s.shared) {
    equation.value = spec::reduce(spec::Reduction::sum, c.depth, c.guard.valid() ? c.guard : spec::boolean(true), c.left * c.right);
    return;
  }
  if (s.left.layout == Layout::margins) c.left = packer.pack_window(c.left);
  else if (s.left.packed()) c.left = packer.pack(c.left, s.row, s.left, s.tile_rows, ".rows");
  Expr guard = s.guards_taps ? c.guard : spec::boolean(true);
  if (c.guard.valid() && !s.guards_taps) {
    // A term that does not count is multiplied too, and not added: the left factor may be infinite there.
    c.right = spec::select(c.guard, c.right, spec::decimal(0));
    const Expr one = spec::select(c.guard, spec::decimal(1), spec::decimal(0));
    const Expr counts = packer.pack(one, s.column, s.right, s.tile_columns, ".guards");
    guard = spec::apply(Primitive::ne, {counts, spec::decimal(0)});
  }
  if (s.right.packed()) c.right = packer.pack(c.right, s.column, s.right, s.tile_columns, ".columns");
  equation.value = spec::reduce(spec::Reduction::sum, c.depth, guard, c.left * c.right);
}

/// The equations of a group, until what their contractions copy stands before them all.
struct StripsInHand {
  std::vector<Equation> equations;
  std::vector<Decision> decisions;
  std::unordered_set<TensorId> written;

  void take(Equation equation, Decision decision) {
    written.insert(equation.target);
    equations.push_back(std::move(equation));
    decisions.push_back(std::move(decision));
  }

  void put_down(std::vector<Equation>& all, std::vector<Decision>& about) {
    std::move(equations.begin(), equations.end(), std::back_inserter(all));
    std::move(decisions.begin(), decisions.end(), std::back_inserter(about));
    *this = {};
  }
};

}  // namespace

std::vector<Decision> schedule_contractions(System& system, const Machine& machine, const ScheduleOptions& options, std::span<const std::optional<Strip>> given,
                                            Deciding& deciding) {
  std::vector<std::optional<Strip>> strips(given.begin(), given.end());
  strips.resize(system.equations.size());
  const std::vector<bool> recurrent = recurrent_equations(system);
  const std::vector<std::string> names = addresses(system);
  std::vector<Decision> decisions;
  std::vector<Equation> result;
  Copies copies;
  StripsInHand in_hand;
  for (std::size_t i = 0; i < recurrent.size(); ++i) {
    Equation& equation = system.equations[i];
    Decision decision;
    if (!in_hand.equations.empty() && (!strips[i] || strips[i]->group != in_hand.decisions.back().strip->group)) in_hand.put_down(result, decisions);
    auto seen = recognise_contraction(system, equation);
    if (auto* c = std::get_if<Contraction>(&seen)) {
      if (options.windows) (void)turn_windows(system, equation, *c);
      if (!recurrent[i] && !strips[i]) take_together(system, equation, *c, machine, options);
      decision = recurrent[i] ? Decision{std::nullopt, false, std::nullopt, "a contraction in plain loops: part of a recurrence"}
                              : decide(system, equation, *c, machine, options, given_tile(deciding, names[i]));
      const bool is_choice = decision.schedule || deciding.given("tile", names[i]) != nullptr;
      if (strips[i] && decision.schedule) {
        decision.reason = fit_strips(system, *decision.schedule, *strips[i], equation, *c, in_hand.written);
        if (!decision.reason.empty()) decision.schedule.reset();
      }
      if (is_choice) take_tile(deciding, names[i], decision.schedule, !strips[i]);
      if (decision.schedule) {
        Packer packer(system, equation, *c, result, copies);
        apply(packer, equation, *c, *decision.schedule);
      }
    }
    decisions.resize(result.size(), Decision{std::nullopt, true, std::nullopt, "a factor of a contraction, copied for its tiles"});
    decision.strip = strips[i];
    if (strips[i]) {
      in_hand.take(std::move(equation), std::move(decision));
      continue;
    }
    result.push_back(std::move(equation));
    decisions.push_back(std::move(decision));
  }
  in_hand.put_down(result, decisions);
  system.equations = std::move(result);
  return decisions;
}

}  // namespace etalon::compiled
