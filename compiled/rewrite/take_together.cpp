#include "compiled/rewrite/take_together.hpp"

#include "compiled/ir/language.hpp"
#include "compiled/ir/windows.hpp"

namespace etalon::compiled {

namespace {

/// In which type a factor's numbers are where it is read or computed.
DType type_of(const spec::System& system, const Contraction& c, const Expr& factor) {
  return factor.form() == spec::Form::read ? system[factor->tensor].dtype : c.type;
}

}  // namespace

void take_together(spec::System& system, const spec::Equation& equation, Contraction& c, const Machine& machine, const ScheduleOptions& options) {
  if (!options.promises || c.guard.valid()) return;
  c.adder = term_adder(c.type, type_of(system, c, c.left), type_of(system, c, c.right), machine, *options.promises);
  if (c.adder == nullptr) return;
  if (points_of(c.depth) <= c.adder->terms || as_window(system, equation, c, c.left)) {
    c.adder = nullptr;
    return;
  }
  const Binder whole = c.depth.back();
  const Binder turn = system.bind(whole.name, parts(whole.extent, c.adder->terms));
  const Binder term = system.bind("term", c.adder->terms);
  const Expr step = spec::variable(turn) * spec::integer(c.adder->terms) + spec::variable(term);
  for (Expr* factor : {&c.left, &c.right}) {
    *factor = spec::substitute(*factor, {{whole.variable, step}});
    if (whole.extent % c.adder->terms == 0) continue;
    *factor = spec::select(spec::apply(spec::Primitive::lt, {step, spec::integer(whole.extent)}), *factor, spec::decimal(0));
  }
  c.depth.back() = turn;
  c.depth.push_back(term);
}

}  // namespace etalon::compiled
