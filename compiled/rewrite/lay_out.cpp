// Tensors that lie in panels get the axes of their memory, and every read and place the indices that belong to them.
#include <algorithm>
#include <utility>

#include "compiled/ir/language.hpp"
#include "compiled/rewrite/rewriting.hpp"
#include "compiled/schedule/kept.hpp"

namespace etalon::compiled {

namespace {

/// A loop along an axis of panels becomes one over panels and one within them.
struct SplitLoop {
  spec::VariableId variable = -1;
  Binder panel;
  Binder within;
};

class LayOut {
 public:
  LayOut(System& system, const std::vector<std::optional<Panels>>& tensors) : system_(system), tensors_(tensors) {}

  void run() {
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      if (tensors_[t]) system_.tensors[t].dims = in_panels(system_.tensors[t].dims, *tensors_[t]);
    }
    for (Equation& equation : system_.equations) rewrite(equation);
  }

 private:
  const std::optional<Panels>& panels_of(spec::TensorId t) const {
    static constexpr std::optional<Panels> none;
    return index(t) < tensors_.size() ? tensors_[index(t)] : none;
  }
  static std::size_t index(spec::TensorId t) { return static_cast<std::size_t>(t); }

  void rewrite(Equation& equation) {
    split_ = {};
    const std::optional<Panels>& panels = panels_of(equation.target);
    if (panels && is_elementwise(equation)) split(equation, *panels);
    Rewriter move([&](const Expr& e) {
      return e.form() == Form::read && panels_of(e->tensor) ? system_.at(e->tensor, indices(e->args, *panels_of(e->tensor))) : Expr{};
    });
    equation.value = move(equation.value);
    if (panels) equation.place = indices(equation.place, *panels);
    if (split_.variable < 0) return;
    const Expr whole = spec::variable(split_.panel) * spec::integer(split_.within.extent) + spec::variable(split_.within);
    equation.value = spec::substitute(equation.value, {{split_.variable, whole}});
  }

  /// The loops of an element by element equation run as its target lies.
  void split(Equation& equation, const Panels& panels) {
    std::vector<Binder> binders(1);
    for (std::size_t axis = 0; axis < equation.place.size(); ++axis) {
      const auto at = std::find_if(equation.binders.begin(), equation.binders.end(), [&](const Binder& b) { return b.variable == equation.place[axis]->variable; });
      if (axis != panels.axis) {
        binders.push_back(*at);
        continue;
      }
      split_.variable = at->variable;
      split_.panel = system_.bind(at->name + ".panel", at->extent / panels.width);
      split_.within = system_.bind(at->name, panels.width);
    }
    binders.front() = split_.panel;
    binders.push_back(split_.within);
    equation.binders = std::move(binders);
  }

  std::vector<Expr> indices(const std::vector<Expr>& given, const Panels& panels) const {
    const Expr& along = given[panels.axis];
    const bool is_split = along.form() == Form::variable && along->variable == split_.variable;
    const Expr width = spec::integer(panels.width);
    std::vector<Expr> out{is_split ? spec::variable(split_.panel) : spec::apply(Primitive::floor_div, {along, width})};
    for (std::size_t axis = 0; axis < given.size(); ++axis) {
      if (axis != panels.axis) out.push_back(given[axis]);
    }
    out.push_back(is_split ? spec::variable(split_.within) : spec::apply(Primitive::modulo, {along, width}));
    return out;
  }

  System& system_;
  const std::vector<std::optional<Panels>>& tensors_;
  SplitLoop split_;
};

}  // namespace

void lay_out(System& system, const std::vector<std::optional<Panels>>& tensors) { LayOut(system, tensors).run(); }

}  // namespace etalon::compiled
