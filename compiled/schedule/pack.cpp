// Factors that are copied first become equations of their own, so that planning, checking and fusing need not know of them.
#include <utility>

#include "compiled/loops/affine.hpp"
#include "compiled/schedule/schedule.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::compiled {

using spec::Binder;
using spec::Equation;
using spec::Expr;
using spec::Primitive;
using spec::System;
using spec::TensorId;

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

/// Copies a factor into panels of `width` values of `own`: panel[outer…, own / width, depth, own % width].
class Packer {
 public:
  Packer(System& system, const Equation& equation, const Contraction& c) : system_(system), equation_(equation), c_(c) {}

  /// Adds the equation to `before`. \returns the factor as it is read from the panels.
  Expr pack(const Expr& factor, std::size_t own, std::int64_t width, const char* name, std::vector<Equation>& before) {
    const Binder& along = equation_.binders[own];
    std::vector<Binder> binders;
    std::vector<Expr> read;
    spec::Substitution by;
    for (std::size_t b = 0; b < equation_.binders.size(); ++b) {
      const Binder& outer = equation_.binders[b];
      if (b == own || !loops::mentions(factor, outer.variable)) continue;
      binders.push_back(system_.bind(outer.name, outer.extent));
      by.emplace(outer.variable, spec::variable(binders.back()));
      read.push_back(spec::variable(outer));
    }
    std::int64_t depth = 1;
    for (const Binder& b : c_.depth) depth *= b.extent;
    const Binder panel = system_.bind("panel", (along.extent + width - 1) / width);
    const Binder step = system_.bind("step", depth);
    const Binder within = system_.bind("within", width);
    binders.insert(binders.end(), {panel, step, within});
    const Expr number = spec::variable(panel) * spec::integer(width) + spec::variable(within);
    by.emplace(along.variable, number);
    at_position(c_.depth, spec::variable(step), by);
    Expr value = spec::substitute(factor, by);
    if (along.extent % width != 0) {
      value = spec::select(spec::apply(Primitive::lt, {number, spec::integer(along.extent)}), value, spec::decimal(0));
    }
    Dims dims;
    for (const Binder& b : binders) dims.push_back(b.extent);
    const TensorId panels = system_.add_tensor(system_[equation_.target].name + name, c_.type, dims);
    before.push_back({panels, binders, spec::variables(binders), value, equation_.origin});
    read.insert(read.end(), {quotient(spec::variable(along), width), position(c_.depth), remainder(spec::variable(along), width)});
    return system_.at(panels, std::move(read));
  }

 private:
  System& system_;
  const Equation& equation_;
  const Contraction& c_;
};

void apply(System& system, Equation& equation, Contraction& c, const Schedule& s, std::vector<Equation>& before) {
  Packer packer(system, equation, c);
  if (s.left.packed) c.left = packer.pack(c.left, s.row, s.tile_rows, ".rows", before);
  if (s.right.packed) c.right = packer.pack(c.right, s.column, s.tile_columns, ".columns", before);
  equation.value = spec::reduce(spec::Reduction::sum, c.depth, spec::boolean(true), c.left * c.right);
}

}  // namespace

std::vector<Decision> schedule_contractions(System& system, const Machine& machine) {
  std::vector<bool> recurrent(system.equations.size());
  for (const auto& group : spec::recurrent_groups(system)) {
    for (const std::size_t e : group) recurrent[e] = true;
  }
  std::vector<Decision> decisions;
  std::vector<Equation> result;
  for (std::size_t i = 0; i < recurrent.size(); ++i) {
    Equation& equation = system.equations[i];
    Decision decision;
    auto seen = recognise_contraction(system, equation);
    if (auto* c = std::get_if<Contraction>(&seen)) {
      decision = recurrent[i] ? Decision{std::nullopt, "a contraction in plain loops: part of a recurrence"}
                              : decide(system, equation, *c, machine);
      if (decision.schedule) apply(system, equation, *c, *decision.schedule, result);
    }
    decisions.resize(result.size());
    result.push_back(std::move(equation));
    decisions.push_back(std::move(decision));
  }
  system.equations = std::move(result);
  return decisions;
}

}  // namespace etalon::compiled
