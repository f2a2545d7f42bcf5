#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "compiled/ir/access.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/machine/thresholds.hpp"
#include "compiled/schedule/equation_shape.hpp"
#include "compiled/schedule/fuse.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::compiled {

namespace {

class Fusion {
 public:
  Fusion(const System& system, const PlanOptions& options, std::span<const Decision> decisions, const Deciding* deciding)
      : system_(system), options_(options), decisions_(decisions), deciding_(deciding), uses_(uses_of(system)),
        kernel_of_(system.tensors.size(), none) {
    if (deciding != nullptr) names_ = addresses(system);
  }

  std::vector<Kernel> run() {
    const std::vector<spec::Recurrence> recurrences = spec::recurrences(system_);
    auto next = recurrences.begin();
    for (std::size_t i = 0; i < system_.equations.size();) {
      if (next != recurrences.end() && next->equations.front().equation == i) {
        add(*next);
        i += next++->equations.size();
      } else {
        place(i++);
      }
    }
    return std::move(kernels_);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  const Equation& equation(std::size_t i) const { return system_.equations[i]; }

  void place(std::size_t i) {
    EquationShape shape = shape_of(system_, equation(i));
    const Decision decision = decisions_.empty() ? Decision{} : decisions_[i];
    shape.heavy = shape.heavy || decision.schedule || decision.packs;
    std::size_t latest = none;
    for (const Expr& r : shape.reads) {
      const std::size_t k = kernel_of_[static_cast<std::size_t>(r->tensor)];
      if (k != none && (latest == none || k > latest)) latest = k;
    }
    if (decision.strip && options_.fuse) {
      add_to_strips(i, shape, decision);
    } else if (decision.in_passing) {
      if (!ride(i, shape, kernel_of_[static_cast<std::size_t>(*decision.in_passing)], latest)) add(i, shape, KernelKind::loops, "its rows run elsewhere now");
    } else if (decision.in_turns) {
      copies_.push_back(i);
    } else if (decision.schedule) {
      add(i, shape, KernelKind::loops, "a contraction: " + to_text(*decision.schedule));
      kernels_.back().schedule = decision.schedule;
      add_copies(i);
      if (tensors_beside(system_, uses_, i) > threshold<std::size_t>("most_beside_a_contraction")) crowded_.insert(kernels_.size() - 1);
    } else if (auto scatter = recognise_scatter(system_, equation(i))) {
      add(i, shape, KernelKind::scatter, "a sum where a read equals a binder: run over the summands");
      kernels_.back().scatter = std::move(*scatter);
    } else if (!options_.fuse) {
      add(i, shape, KernelKind::loops, "fusion is off");
    } else if (!follows(i, shape, latest) && (is_given_alone(i) || !join_one_of(i, shape, latest))) {
      add(i, shape, KernelKind::loops, decision.reason.empty() ? why_alone(shape, latest) : decision.reason);
      by_extents_[shape.extents] = kernels_.size() - 1;
    }
  }

  const DecisionLine* given(const char* kind, std::size_t i) const { return deciding_ == nullptr ? nullptr : deciding_->given(kind, names_[i]); }

  bool is_given_alone(std::size_t i) const {
    const DecisionLine* line = given("join", i);
    return line != nullptr && line->is("off");
  }

  /// Puts an equation into the kernel that is given for it, whatever that costs. \returns whether one is.
  bool follows(std::size_t i, const EquationShape& shape, std::size_t latest) {
    const DecisionLine* line = given("join", i);
    if (line == nullptr || line->is("off")) return false;
    const std::string why = join_loops(i, shape, kernel_given(*line, latest), static_cast<std::size_t>(line->number("loops", 0, Dims::max_rank)));
    if (!why.empty()) line->refuse(why);
    return true;
  }

  std::size_t kernel_given(const DecisionLine& line, std::size_t latest) const {
    const std::string with(line.word("with"));
    const auto at = std::find(names_.begin(), names_.end(), with);
    const std::size_t k = at == names_.end() ? none : kernel_of_[static_cast<std::size_t>(equation(static_cast<std::size_t>(at - names_.begin())).target)];
    if (k == none) line.refuse(fmt::format("no kernel before it computes '{}'", with));
    if (latest != none && latest > k) line.refuse(fmt::format("it reads what a kernel behind that of {} computes", with));
    if (kernels_[k].kind != KernelKind::loops) line.refuse(fmt::format("the kernel of {} has no loops to share", with));
    return k;
  }

  /// Adds the parts of a sum to the kernel whose rows they are of.
  bool ride(std::size_t i, const EquationShape& shape, std::size_t k, std::size_t latest) {
    if (k == none || kernels_[k].kind != KernelKind::loops || (latest != none && latest > k)) return false;
    Kernel& kernel = kernels_[k];
    const std::vector<Binder>& binders = equation(i).value->binders;
    const std::int64_t stretch = kernel.loops.empty() ? 0 : kernel.loops[0] / shape.extents[0];
    if (stretch == 0 || stretch * shape.extents[0] != kernel.loops[0] || (kernel.stretch != 0 && kernel.stretch != stretch)) return false;
    std::vector<std::int64_t> rows(kernel.loops.begin() + 1, kernel.loops.end());
    if (stretch > 1) rows.insert(rows.begin(), stretch);
    if (!std::equal(rows.begin(), rows.end(), binders.begin(), binders.end(), [](std::int64_t n, const Binder& b) { return n == b.extent; })) return false;
    if (kernel.statements.size() >= threshold<std::size_t>("most_statements") || nodes_[k] + shape.nodes > threshold<std::size_t>("most_kernel_nodes")) return false;
    kernel.stretch = stretch;
    put({i, {}, false, true}, shape, k);
    return true;
  }

  /// Equations of a group of strips follow each other.
  void add_to_strips(std::size_t i, const EquationShape& shape, const Decision& decision) {
    if (strips_ != decision.strip->group) {
      strips_ = decision.strip->group;
      std::vector<std::int64_t> loops;
      for (const std::size_t b : decision.strip->shared) loops.push_back(shape.extents[b]);
      add(i, shape, KernelKind::strips, fmt::format("wide values in strips of {} rows: computed, used and forgotten", decision.strip->rows));
      kernels_.back().loops = std::move(loops);
      kernels_.back().strips = Strips{decision.strip->rows, {}, {}};
      kernels_.back().statements.clear();
    }
    Kernel& kernel = kernels_.back();
    if (decision.schedule) kernel.strips->schedules.emplace(kernel.statements.size(), *decision.schedule);
    if (decision.schedule && decision.strip->wanted.valid()) kernel.strips->wanted.emplace(kernel.statements.size(), decision.strip->wanted);
    kernel.statements.push_back({i, decision.strip->shared, false});
    written(i, kernels_.size() - 1);
  }

  /// Puts the copies that each turn of a contraction's loop makes before it.
  void add_copies(std::size_t contraction) {
    Kernel& kernel = kernels_.back();
    std::erase_if(copies_, [&](std::size_t copy) {
      const auto& readers = uses_.readers[static_cast<std::size_t>(equation(copy).target)];
      if (std::find(readers.begin(), readers.end(), contraction) == readers.end()) return false;
      kernel.turn = decisions_[copy].in_turns->loop;
      kernel.statements.insert(kernel.statements.end() - 1, Statement{copy, {0}, true, false});
      written(copy, kernels_.size() - 1);
      return true;
    });
  }

  /// Binders of the axes before that of the steps, where the equation reads its target only at their own values: each
  /// value of them is a recurrence of its own.
  std::vector<std::size_t> independent_binders(const spec::RecurrentEquation& e) const {
    const Equation& own = equation(e.equation);
    const auto axes = axes_of_binders(own);
    std::vector<std::size_t> binders;
    if (!axes) return binders;
    for (std::size_t b = 0; b < own.binders.size(); ++b) {
      const std::size_t axis = (*axes)[b];
      bool independent = axis < e.axis;
      spec::for_each(own.value, [&](const Expr& x) {
        if (x.form() == Form::read && x->tensor == own.target) independent = independent && x->args[axis] == own.place[axis];
      });
      if (independent) binders.push_back(b);
    }
    return binders;
  }

  void add(const spec::Recurrence& r) {
    Kernel kernel;
    kernel.kind = KernelKind::sequence;
    kernel.reason = "a recurrence: its steps run in order";
    kernel.backwards = r.backwards;
    if (r.equations.size() == 1) {
      kernel.statements.push_back({r.equations[0].equation, independent_binders(r.equations[0]), false, false});
      for (const std::size_t b : kernel.statements[0].shared) {
        kernel.loops.push_back(equation(r.equations[0].equation).binders[b].extent);
      }
      kernel.statements[0].shared.push_back(r.equations[0].binder);
    } else {
      for (const auto& e : r.equations) kernel.statements.push_back({e.equation, {e.binder}, false, false});
    }
    kernel.loops.push_back(r.steps);
    kernels_.push_back(std::move(kernel));
    heavy_.push_back(true);
    nodes_.push_back(0);
    for (const auto& e : r.equations) written(e.equation, kernels_.size() - 1);
  }

  std::string why_alone(const EquationShape& shape, std::size_t latest) const {
    if (shape.heavy) return "a contraction: loops of its own";
    if (latest == none) return "reads inputs only";
    return "does not share the loops of kernel " + std::to_string(latest);
  }

  void add(std::size_t i, const EquationShape& shape, KernelKind kind, std::string reason) {
    Kernel kernel;
    kernel.kind = kind;
    kernel.reason = std::move(reason);
    Statement statement{i, {}, false, false};
    if (kind == KernelKind::loops) {
      kernel.loops = shape.extents;
      for (std::size_t b = 0; b < shape.extents.size(); ++b) statement.shared.push_back(b);
    }
    kernel.statements.push_back(std::move(statement));
    kernels_.push_back(std::move(kernel));
    heavy_.push_back(shape.heavy);
    nodes_.push_back(shape.nodes);
    written(i, kernels_.size() - 1);
  }

  void put(Statement statement, const EquationShape& shape, std::size_t k) {
    nodes_[k] += shape.nodes;
    written(statement.equation, k);
    kernels_[k].statements.push_back(std::move(statement));
  }

  void written(std::size_t i, std::size_t kernel) {
    std::size_t& last = kernel_of_[static_cast<std::size_t>(equation(i).target)];
    last = last == none ? kernel : std::max(last, kernel);
  }

  bool join_one_of(std::size_t i, const EquationShape& shape, std::size_t latest) {
    if (shape.heavy) return false;
    if (latest != none && join(i, shape, latest)) return true;
    const auto alike = by_extents_.find(shape.extents);
    if (alike == by_extents_.end() || alike->second == latest) return false;
    return (latest == none || alike->second > latest) && join(i, shape, alike->second);
  }

  bool join(std::size_t i, const EquationShape& shape, std::size_t k) {
    const Kernel& kernel = kernels_[k];
    if (kernel.kind != KernelKind::loops || kernel.statements.size() >= threshold<std::size_t>("most_statements") || nodes_[k] + shape.nodes > threshold<std::size_t>("most_kernel_nodes") || crowded_.contains(k)) return false;
    return join_loops(i, shape, k, none).empty();
  }

  /// Shares the outer loops of a kernel, as many as fit and no more than `most`. \returns why it cannot, or nothing.
  std::string join_loops(std::size_t i, const EquationShape& shape, std::size_t k, std::size_t most) {
    Kernel& kernel = kernels_[k];
    std::vector<std::size_t> shared;
    if (!align(i, shape, k, shared)) return "its loops are not those of the kernel";
    if (most < shared.size()) shared.resize(most);
    const bool whole = shared.size() == kernel.loops.size();
    const bool elementwise = whole && !shape.reduces && shape.extents.size() == shared.size();
    if (shape.heavy || (heavy_[k] && !elementwise)) return "beside a contraction stands only what is done with its elements one by one";
    if (shared.empty() && !(kernel.loops.empty() && shape.extents.empty())) return "it has no loop in common with the kernel";
    if (!whole) {
      if (kernel.stretch != 0) return "sums are added up along with all loops of the kernel";
      kernel.loops.resize(shared.size());
      for (Statement& s : kernel.statements) s.shared.resize(shared.size());
    }
    put({i, std::move(shared), false, false}, shape, k);
    return {};
  }

  const Statement& statement_of(TensorId t, std::size_t k) const {
    const std::size_t writer = uses_.equation[static_cast<std::size_t>(t)];
    const auto& statements = kernels_[k].statements;
    return *std::find_if(statements.begin(), statements.end(), [&](const Statement& s) { return s.equation == writer; });
  }

  /// What is read of the kernel. \returns nothing where some of it has several writers
  std::optional<std::vector<const Expr*>> reads_inside(const EquationShape& shape, std::size_t k) const {
    std::vector<const Expr*> inside;
    for (const Expr& r : shape.reads) {
      if (kernel_of_[static_cast<std::size_t>(r->tensor)] != k) continue;
      if (uses_.writers[static_cast<std::size_t>(r->tensor)] != 1) return std::nullopt;
      inside.push_back(&r);
    }
    return inside;
  }

  /// The binder of equation i that is the kernel's loop in all these reads.
  std::size_t common_binder(std::size_t i, const std::vector<const Expr*>& inside, std::size_t k, std::size_t loop) const {
    std::size_t binder = none;
    for (const Expr* r : inside) {
      const std::size_t b = binder_read_at(i, *r, k, loop);
      if (b == none || (binder != none && b != binder)) return none;
      binder = b;
    }
    return binder;
  }

  /// The binder of equation i for each loop of kernel k, as many outer loops as fit.
  bool align(std::size_t i, const EquationShape& shape, std::size_t k, std::vector<std::size_t>& shared) const {
    const auto inside = reads_inside(shape, k);
    if (!inside) return false;
    if (inside->empty()) return align_alike(shape, k, shared);
    const Kernel& kernel = kernels_[k];
    for (std::size_t loop = 0; loop < kernel.loops.size(); ++loop) {
      const std::size_t binder = common_binder(i, *inside, k, loop);
      if (binder == none) return true;
      if (shape.extents[binder] != kernel.loops[loop]) return true;
      if (std::find(shared.begin(), shared.end(), binder) != shared.end()) return true;
      shared.push_back(binder);
    }
    return true;
  }

  bool align_alike(const EquationShape& shape, std::size_t k, std::vector<std::size_t>& shared) const {
    if (heavy_[k] || kernels_[k].loops != shape.extents) return false;
    for (std::size_t b = 0; b < shape.extents.size(); ++b) shared.push_back(b);
    return true;
  }

  /// The binder of equation i that stands in this read where the tensor's own statement has the kernel's loop.
  std::size_t binder_read_at(std::size_t i, const Expr& r, std::size_t k, std::size_t loop) const {
    const std::size_t writer = uses_.equation[static_cast<std::size_t>(r->tensor)];
    const auto axes = axes_of_binders(equation(writer));
    if (!axes) return none;
    const Statement& statement = statement_of(r->tensor, k);
    if (statement.in_passing) return none;
    const Expr& index = r->args[(*axes)[statement.shared[loop]]];
    return position_of(index, equation(i).binders).value_or(none);
  }

  const System& system_;
  const PlanOptions& options_;
  std::span<const Decision> decisions_;
  const Deciding* deciding_;
  std::vector<std::string> names_;  ///< of equations, where something is given
  Uses uses_;
  std::vector<std::size_t> kernel_of_;  ///< per tensor, the last kernel that writes it
  std::vector<Kernel> kernels_;
  std::vector<bool> heavy_;
  std::vector<std::size_t> copies_;  ///< that turns of contractions further on make
  std::vector<std::size_t> nodes_;  ///< of each kernel's expressions
  std::unordered_set<std::size_t> crowded_;  ///< kernels of contractions that nothing joins
  std::map<std::vector<std::int64_t>, std::size_t> by_extents_;
  std::size_t strips_ = none;  ///< the group of the last kernel of strips
};

}  // namespace

std::vector<Kernel> fuse(const System& system, const PlanOptions& options, std::span<const Decision> decisions, const Deciding* deciding) {
  return Fusion(system, options, decisions, deciding).run();
}

}  // namespace etalon::compiled
