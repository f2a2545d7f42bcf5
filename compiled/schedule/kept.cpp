#include "compiled/schedule/kept.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "compiled/ir/language.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/ir/windows.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled {

namespace {

std::size_t index(TensorId t) { return static_cast<std::size_t>(t); }

/// Whether every index is a loop of its own.
bool plain(const std::vector<Expr>& indices) {
  std::set<spec::VariableId> seen;
  return std::all_of(indices.begin(), indices.end(), [&](const Expr& i) { return i.form() == Form::variable && seen.insert(i->variable).second; });
}

/// The tensors that must lie like one of them.
class Companions {
 public:
  Companions(const System& system, const Uses& uses, const std::map<TensorId, TensorId>& next, TensorId first)
      : system_(system), uses_(uses), next_(next), first_(first) {
    for (const auto& [input, output] : next) before_.emplace(output, input);
  }

  /// \returns why there are none, or an empty text.
  std::string find() {
    take(first_);
    while (!todo_.empty() && why_.empty()) {
      const TensorId t = todo_.back();
      todo_.pop_back();
      follow_state(t);
      follow_writer(t);
      for (const std::size_t e : uses_.readers[index(t)]) follow_reader(t, system_.equations[e]);
    }
    return why_;
  }

  [[nodiscard]] const std::set<TensorId>& tensors() const { return tensors_; }
  /// Those with memory before or after a run.
  [[nodiscard]] std::size_t in_memory() const {
    return static_cast<std::size_t>(std::count_if(tensors_.begin(), tensors_.end(), [&](TensorId t) { return uses_.is_input[index(t)] || uses_.is_output[index(t)]; }));
  }
  [[nodiscard]] bool computed_by_contraction() const { return contraction_; }

 private:
  void take(TensorId t) {
    if (tensors_.insert(t).second) todo_.push_back(t);
  }

  void fail(TensorId t, const char* what) {
    if (why_.empty()) why_ = fmt::format("{} {}", system_[t].name, what);
  }

  /// A state's next value lies like the state.
  void follow_state(TensorId t) {
    if (uses_.is_input[index(t)]) {
      const auto next = next_.find(t);
      if (next == next_.end()) return fail(t, "is given at each run");
      if (next->second >= 0) take(next->second);
    }
    if (uses_.is_output[index(t)]) {
      const auto before = before_.find(t);
      if (before == before_.end()) return fail(t, "is given to the caller");
      take(before->second);
    }
  }

  void follow_writer(TensorId t) {
    if (uses_.is_input[index(t)]) return;
    if (uses_.writers[index(t)] != 1 || uses_.recurrent[index(t)]) return fail(t, "has several equations");
    const Equation& equation = system_.equations[uses_.equation[index(t)]];
    if (is_elementwise(equation)) return follow_reads(equation);
    if (!std::holds_alternative<Contraction>(recognise_contraction(system_, equation)) || !plain(equation.place)) return fail(t, "is a sum in plain loops");
    contraction_ = true;
  }

  /// What an element by element equation reads at its own place lies like its target.
  void follow_reads(const Equation& equation) {
    spec::for_each(equation.value, [&](const Expr& e) {
      if (e.form() != Form::read || !(system_[e->tensor].dims == system_[first_].dims)) return;
      if (!(e->args == equation.place)) return fail(e->tensor, "is read at other places than those that are written");
      take(e->tensor);
    });
  }

  void follow_reader(TensorId t, const Equation& equation) {
    if (is_elementwise(equation) && system_[equation.target].dims == system_[first_].dims) return take(equation.target);
    const auto seen = recognise_contraction(system_, equation);
    const auto* c = std::get_if<Contraction>(&seen);
    const auto as_factor = [&](const Expr& factor) { return !reads(factor, t) || (factor.form() == Form::read && plain(factor->args)); };
    if (c == nullptr || uses_.recurrent[index(equation.target)] || !as_factor(c->left) || !as_factor(c->right) || (c->guard.valid() && reads(c->guard, t))) fail(t, "is read by more than contractions and its update");
  }

  const System& system_;
  const Uses& uses_;
  const std::map<TensorId, TensorId>& next_;  ///< of a kept input; -1 where it has no next value
  std::map<TensorId, TensorId> before_;
  TensorId first_;
  std::set<TensorId> tensors_;
  std::vector<TensorId> todo_;
  bool contraction_ = false;
  std::string why_;
};

class Chooser {
 public:
  Chooser(const System& system, std::span<const KeptInput> kept) : system_(system), kept_(kept), uses_(uses_of(system)) {
    for (const KeptInput& k : kept) next_.emplace(system.inputs[k.input], k.output ? system.outputs[*k.output] : -1);
    result_.kept.resize(kept.size());
    result_.tensors.resize(system.tensors.size());
  }

  Layouts choose(const Machine& machine, const ScheduleOptions& options, const Deciding& deciding) {
    for (const KeptInput& k : kept_) {
      const TensorId t = system_.inputs[k.input];
      if (result_.tensors[index(t)]) continue;
      const DecisionLine* given = deciding.given("keep", system_[t].name);
      const auto wish = given != nullptr ? following(t, *given) : wished(t, machine, options);
      if (const auto* why = std::get_if<std::string>(&wish)) reasons_[t] = *why;
      else serve(t, std::get<Panels>(wish));
    }
    return finished();
  }

  Layouts follow(std::span<const std::optional<Panels>> given) {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const TensorId t = system_.inputs[kept_[i].input];
      result_.tensors[index(t)] = given[i];
      if (next_.at(t) >= 0) result_.tensors[index(next_.at(t))] = given[i];
      reasons_[t] = "as the store holds it";
    }
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (given[i]) lead(system_.inputs[kept_[i].input], *given[i]);
    }
    return finished();
  }

 private:
  Layouts finished() {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const TensorId t = system_.inputs[kept_[i].input];
      result_.kept[i] = {result_.tensors[index(t)], reasons_[t]};
    }
    return std::move(result_);
  }

  /// The panels that are given for a tensor.
  std::variant<Panels, std::string> following(TensorId t, const DecisionLine& line) const {
    if (line.is("off")) return "as given";
    const Dims& dims = system_[t].dims;
    if (dims.rank == 0 || dims.rank == Dims::max_rank) line.refuse("it has no axes for panels");
    const Panels panels{static_cast<std::size_t>(line.number("axis", 0, static_cast<std::int64_t>(dims.rank) - 1)), line.number("width", 1, dims.count())};
    if (dims[panels.axis] % panels.width != 0) line.refuse(fmt::format("its {} columns are no whole panels of {}", dims[panels.axis], panels.width));
    return panels;
  }

  /// The panels into which a contraction copies the tensor, or why there are none.
  std::variant<Panels, std::string> wished(TensorId t, const Machine& machine, const ScheduleOptions& options) const {
    std::optional<Panels> best;
    std::string why = "no contraction copies it into panels";
    const Dims& dims = system_[t].dims;
    if (dims.rank < 2 || dims.rank == Dims::max_rank) return why;
    for (const std::size_t e : uses_.readers[index(t)]) {
      const Equation& equation = system_.equations[e];
      auto seen = recognise_contraction(system_, equation);
      auto* c = std::get_if<Contraction>(&seen);
      if (c == nullptr || uses_.recurrent[index(equation.target)]) continue;
      if (options.windows) (void)turn_windows(system_, equation, *c);
      if (c->right.form() != Form::read || c->right->tensor != t || !plain(c->right->args) || c->guard.valid()) continue;
      const Decision decision = decide(system_, equation, *c, machine, options);
      if (!decision.schedule || decision.schedule->right.layout != Layout::panels || system_[t].dtype != c->type) continue;
      const spec::VariableId column = equation.binders[c->column].variable;
      const auto at = std::find_if(c->right->args.begin(), c->right->args.end(), [&](const Expr& i) { return i->variable == column; });
      const Panels panels{static_cast<std::size_t>(at - c->right->args.begin()), decision.schedule->tile_columns};
      if (dims[panels.axis] % panels.width != 0) {
        why = fmt::format("its {} columns are no whole panels of {}", dims[panels.axis], panels.width);
        continue;
      }
      if (!best || (best->axis + 1 == dims.rank && panels.axis + 1 != dims.rank)) best = panels;
    }
    if (best) return *best;
    return why;
  }

  void serve(TensorId t, const Panels& panels) {
    Companions companions(system_, uses_, next_, t);
    std::string why = companions.find();
    if (why.empty() && companions.computed_by_contraction() && companions.in_memory() <= threshold<std::size_t>("most_beside_a_contraction")) why = "its update rides along with a contraction";
    if (!why.empty()) {
      reasons_[t] = std::move(why);
      return;
    }
    for (const TensorId c : companions.tensors()) {
      result_.tensors[index(c)] = panels;
      if (c != t) reasons_[c] = fmt::format("like {}", system_[t].name);
    }
    reasons_[t] = "its contraction reads it so";
  }

  /// Where all states of its update lie like it, what is computed between them does too.
  void lead(TensorId t, const Panels& panels) {
    Companions companions(system_, uses_, next_, t);
    if (!companions.find().empty()) return;
    for (const TensorId c : companions.tensors()) {
      if (uses_.is_input[index(c)] && !(result_.tensors[index(c)] == std::optional(panels))) return;
    }
    for (const TensorId c : companions.tensors()) result_.tensors[index(c)] = panels;
  }

  const System& system_;
  std::span<const KeptInput> kept_;
  Uses uses_;
  std::map<TensorId, TensorId> next_;
  std::map<TensorId, std::string> reasons_;
  Layouts result_;
};

}  // namespace

bool is_elementwise(const Equation& equation) {
  return equation.place.size() == equation.binders.size() && plain(equation.place) && !has_reduction(equation.value);
}

Layouts choose_layouts(const System& system, const Machine& machine, const ScheduleOptions& options, std::span<const KeptInput> kept, const Deciding& deciding) {
  return Chooser(system, kept).choose(machine, options, deciding);
}

void take_layouts(Deciding& deciding, const System& system, std::span<const KeptInput> kept, const Layouts& layouts) {
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::string& name = system[system.inputs[kept[i].input]].name;
    const std::optional<Panels>& panels = layouts.kept[i].panels;
    if (!panels) deciding.take(switched("keep", name, false));
    else deciding.take({"keep", name, {{"axis", std::to_string(panels->axis)}, {"width", std::to_string(panels->width)}}});
  }
}

Layouts follow_layouts(const System& system, std::span<const KeptInput> kept, std::span<const std::optional<Panels>> given) {
  return Chooser(system, kept).follow(given);
}

std::string layout_text(const KeptLayout& layout) {
  return fmt::format("panels of {} along axis {}: {}", layout.panels->width, layout.panels->axis, layout.reason);
}

std::string to_text(const System& system, std::span<const KeptInput> kept, const Layouts& layouts) {
  std::string text;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const KeptLayout& layout = layouts.kept[i];
    text += fmt::format("{}: {}\n", system[system.inputs[kept[i].input]].name, layout.panels ? "in " + layout_text(layout) : "as it is: " + layout.reason);
  }
  return text;
}

}  // namespace etalon::compiled
