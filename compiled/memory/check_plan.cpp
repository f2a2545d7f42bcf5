#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiled/ir/language.hpp"
#include "compiled/ir/plan.hpp"
#include "compiled/memory/check_form.hpp"
#include "compiled/memory/held_bytes.hpp"

namespace etalon::compiled {

namespace {

/// Which memory a residence is in: (0, 0) the arena, (1, i) input buffer i, (2, o) output buffer o.
using Room = std::pair<int, std::size_t>;

class Execution {
 public:
  Execution(const System& system, const Plan& plan, const PlanOptions& options)
      : system_(system),
        plan_(plan),
        options_(options),
        defined_(system.tensors.size()),
        runs_(system.equations.size()) {}

  void run() {
    require(plan_.residences.size() == system_.tensors.size(), "there is not one residence per tensor");
    for (const Equation& e : system_.equations) ++missing_[e.target];
    for (const TensorId t : system_.inputs) {
      defined_[index(t)] = true;
      occupy(t);
    }
    for (kernel_ = 0; kernel_ < plan_.kernels.size(); ++kernel_) execute(plan_.kernels[kernel_]);
    for (std::size_t i = 0; i < runs_.size(); ++i) require(runs_[i], "equation " + std::to_string(i) + " never runs");
    check_ends();
  }

 private:
  static std::size_t index(TensorId t) { return static_cast<std::size_t>(t); }
  const Residence& home(TensorId t) const { return plan_.residences[index(t)]; }
  const std::string& name(TensorId t) const { return system_[t].name; }

  void require(bool holds, const std::string& what) const { require_of_plan(holds, kernel_, what); }

  static std::string range(const Residence& r) { return "[" + std::to_string(r.offset) + ", " + std::to_string(r.offset + r.bytes) + ")"; }

  std::optional<Room> room_of(TensorId t) const {
    switch (home(t).home) {
      case Home::arena:
        return Room{0, 0};
      case Home::input:
      case Home::in_place:
        return Room{1, home(t).index};
      case Home::output:
        return Room{2, home(t).index};
      default:
        return std::nullopt;
    }
  }

  /// The tensor's bytes become its own. \returns who held them.
  std::vector<TensorId> occupy(TensorId t) {
    const Residence& r = home(t);
    const std::size_t bytes = static_cast<std::size_t>(system_[t].dims.count()) * size_of(system_[t].dtype);
    const auto room = room_of(t);
    require(room.has_value(), name(t) + " has no memory");
    require(r.bytes == bytes, name(t) + " has " + std::to_string(r.bytes) + " bytes, needs " + std::to_string(bytes));
    if (r.home == Home::arena) {
      require(r.offset + bytes <= plan_.arena_bytes, name(t) + " " + range(r) + " sticks out of the arena");
      require(bytes == 0 || r.offset % options_.alignment == 0, name(t) + " " + range(r) + " is not aligned");
    } else {
      require(r.offset == 0, name(t) + " does not begin its buffer");
    }
    return bytes == 0 ? std::vector<TensorId>{} : memories_[*room].claim(t, r.offset, r.offset + bytes);
  }

  void require_present(TensorId t, const std::string& by) const {
    require(defined_[index(t)], by + " reads " + name(t) + " before it is written");
    const auto room = room_of(t);
    require(room.has_value(), by + " reads " + name(t) + " outside its registers");
    const Residence& r = home(t);
    if (r.bytes == 0) return;
    const auto memory = memories_.find(*room);
    require(memory != memories_.end() && memory->second.holds(t, r.offset, r.offset + r.bytes),
            by + " reads " + name(t) + " " + range(r) + " after it was overwritten");
  }

  void execute(const Kernel& kernel) {
    check_form(system_, kernel, kernel_);
    check_scratch(kernel);
    here_.clear(), read_here_.clear(), targets_.clear();
    for (const Statement& s : kernel.statements) targets_.insert(system_.equations[s.equation].target);
    kernel_at_ = &kernel;
    rows_.clear();
    for (const Statement& s : kernel.statements) {
      require(s.equation < runs_.size() && !runs_[s.equation], "equation runs twice");
      const Equation& equation = system_.equations[s.equation];
      visit_reads(equation, [&](const Expr& e) { read(kernel, s, e); });
      write(kernel, s);
      runs_[s.equation] = true;
    }
  }

  /// Whoever held bytes of the kernel's own loses them before it runs.
  void check_scratch(const Kernel& kernel) {
    own_ = {};
    own_bytes_ = 0;
    if (!kernel.scratch) return;
    const Scratch& s = *kernel.scratch;
    require(s.threads >= 1 && s.offset % options_.alignment == 0 && s.bytes % options_.alignment == 0, "memory of its own is not aligned");
    require(s.offset + s.all_bytes() <= plan_.arena_bytes, "memory of its own sticks out of the arena");
    (void)memories_[{0, 0}].claim(own_id(), s.offset, s.offset + s.all_bytes());
  }

  /// Who holds the bytes of the kernel's own: no tensor.
  TensorId own_id() const { return -1 - static_cast<TensorId>(kernel_); }

  /// What a kernel has of its own does not overlap, and much of it is not on the stack.
  void check_own(const Kernel& kernel, TensorId t) {
    const Residence& r = home(t);
    own_bytes_ += r.bytes;
    require(kernel.scratch || own_bytes_ <= options_.stack_bytes, name(t) + " is more than has room on a stack");
    if (!kernel.scratch || r.bytes == 0) return;
    require(r.offset + r.bytes <= kernel.scratch->bytes, name(t) + " " + range(r) + " sticks out of its kernel's own memory");
    require(own_.claim(t, r.offset, r.offset + r.bytes).empty(), name(t) + " " + range(r) + " lies over memory of its kernel's own");
  }

  template <class Visit>
  static void visit_reads(const Equation& equation, Visit visit) {
    const auto only_reads = [&](const Expr& e) {
      if (e.form() == Form::read) visit(e);
    };
    spec::for_each(equation.value, only_reads);
    for (const Expr& p : equation.place) spec::for_each(p, only_reads);
  }

  std::size_t loop_at(const Statement& s, std::size_t a) const { return shared_loop(*kernel_at_, s, a); }
  /// An index, with the variables of the shared loops renamed to what they are in every statement alike: -1 - loop.
  Expr in_common_names(const Statement& s, const Expr& e) const {
    const Equation& equation = system_.equations[s.equation];
    if (s.in_passing) return row_in_common_names(equation, e);
    spec::Substitution by;
    for (std::size_t a = 0; a < s.shared.size(); ++a) {
      const auto id = static_cast<spec::VariableId>(-1 - static_cast<int>(loop_at(s, a)));
      by.emplace(equation.binders[s.shared[a]].variable, spec::variable({id, 0, {}}));
    }
    return spec::substitute(e, by);
  }

  /// An index of a statement in passing that is a row's, in the names of the loops.
  Expr row_in_common_names(const Equation& equation, const Expr& e) const {
    const auto loop = [](std::size_t a) { return spec::variable({static_cast<spec::VariableId>(-1 - static_cast<int>(a)), 0, {}}); };
    const std::vector<spec::Binder>& summed = equation.value->binders;
    const std::size_t own = kernel_at_->stretch > 1 ? 1 : 0;
    Expr row = spec::variable(equation.binders[0]);
    if (own == 1) row = row * spec::integer(kernel_at_->stretch) + spec::variable(summed[0]);
    if (e == row) return loop(0);
    for (std::size_t a = 1; a < kernel_at_->loops.size(); ++a) {
      if (e == spec::variable(summed[a - 1 + own])) return loop(a);
    }
    return e;
  }

  /// The loop whose variable this index is, if it is just that.
  static std::optional<std::size_t> loop_of(const Expr& index) {
    if (index.form() != Form::variable || index->variable >= 0) return std::nullopt;
    return static_cast<std::size_t>(-1 - index->variable);
  }

  void read(const Kernel& kernel, const Statement& s, const Expr& e) {
    const Equation& equation = system_.equations[s.equation];
    if (kernel.kind == KernelKind::sequence && targets_.contains(e->tensor)) {
      require(home(e->tensor).home != Home::in_register, name(e->tensor) + " is read at other steps than its own");
      require_same_sequence(kernel, s, e);
      return;
    }
    require(e->tensor != equation.target, name(e->tensor) + " reads itself in parallel loops");
    if (kernel.strips && home(e->tensor).home == Home::turn) require(rows_[memory_of(e->tensor)] == e->tensor, name(e->tensor) + " is read after its rows were given away");
    const auto written = here_.find(e->tensor);
    if (written != here_.end()) {
      require_same_iteration(s, e, written->second);
    } else {
      require_present(e->tensor, name(equation.target));
    }
    if (room_of(e->tensor)) {
      require(written == here_.end() || holds(e->tensor), name(e->tensor) + " was overwritten within its kernel");
    }
    read_here_[e->tensor].push_back({&s, e});
  }

  bool holds(TensorId t) const {
    const Residence& r = home(t);
    const auto memory = memories_.find(*room_of(t));
    return r.bytes == 0 || (memory != memories_.end() && memory->second.holds(t, r.offset, r.offset + r.bytes));
  }

  /// What this kernel wrote is read only where the same iteration of the shared loops wrote it.
  void require_same_iteration(const Statement& s, const Expr& e, const std::vector<const Statement*>& writers) const {
    for (const Statement* w : writers) {
      const Equation& source = system_.equations[w->equation];
      std::size_t loops = 0;
      for (std::size_t axis = 0; axis < source.place.size(); ++axis) {
        const auto loop = loop_of(in_common_names(*w, source.place[axis]));
        if (!loop) continue;
        ++loops;
        require(loop_of(in_common_names(s, e->args[axis])) == loop,
                name(system_.equations[s.equation].target) + " reads " + name(e->tensor) + " of another iteration");
      }
      require(!s.in_turn, name(e->tensor) + " is copied in a turn of the kernel that computes it");
      require(loops == w->shared.size(), name(e->tensor) + " is written and read in one kernel across its loops");
    }
  }

  /// Only the last shared loop of a sequence is ordered: at the others, a read is of the iteration's own slice.
  void require_same_sequence(const Kernel& kernel, const Statement& s, const Expr& e) const {
    if (kernel.loops.size() == 1) return;
    require(kernel.statements.size() == 1, "a sequence of several statements has more than its steps in common");
    const Equation& equation = system_.equations[s.equation];
    for (std::size_t axis = 0; axis < equation.place.size(); ++axis) {
      const auto loop = loop_of(in_common_names(s, equation.place[axis]));
      if (!loop || *loop + 1 == kernel.loops.size()) continue;
      require(loop_of(in_common_names(s, e->args[axis])) == loop, name(e->tensor) + " reads another iteration of itself");
    }
  }

  void write(const Kernel& kernel, const Statement& s) {
    const Equation& equation = system_.equations[s.equation];
    const TensorId t = equation.target;
    if (home(t).home == Home::in_register) {
      require(missing_[t] == 1, name(t) + " in a register has several equations");
      require(equation.binders.size() == kernel.loops.size(), name(t) + " in a register has loops of its own");
    } else if (home(t).home == Home::turn) {
      check_turn(kernel, s);
    } else if (started_.insert(t).second) {
      for (const TensorId loser : occupy(t)) {
        require(loser != own_id(), name(t) + " takes memory of its kernel's own");
        if (loser >= 0) check_loser(s, loser);
      }
    } else {
      require(holds(t), name(t) + " is overwritten before its last equation");
    }
    here_[t].push_back(&s);
    if (--missing_[t] == 0) defined_[index(t)] = true;
  }

  /// Room for one iteration: the first axes are the shared loops, each once, and the others are whole.
  void check_turn(const Kernel& kernel, const Statement& s) {
    const Equation& equation = system_.equations[s.equation];
    const TensorId t = equation.target;
    require(missing_.at(t) == 1, name(t) + " of an iteration has several equations");
    if (memory_of(t) == t) check_own(kernel, t);
    if (kernel.strips) return check_rows(kernel, s);
    require(kernel.kind == KernelKind::loops && (kernel.turn.has_value() || !kernel.schedule), name(t) + " of an iteration is in a kernel of another kind");
    require(home(t).index == (kernel.schedule ? 1 : kernel.loops.size()) && home(t).index < equation.place.size(), name(t) + " has an axis per shared loop and more");
    std::set<std::size_t> loops;
    for (std::size_t axis = 0; axis < home(t).index; ++axis) {
      const auto loop = loop_of(in_common_names(s, equation.place[axis]));
      require(loop && loops.insert(*loop).second && (!kernel.turn || loop == kernel.turn), name(t) + " of an iteration has another axis than a shared loop first");
    }
    std::size_t bytes = size_of(system_[t].dtype);
    for (std::size_t axis = home(t).index; axis < equation.place.size(); ++axis) bytes *= static_cast<std::size_t>(system_[t].dims[axis]);
    require(home(t).bytes == bytes, name(t) + " of an iteration has another size");
  }

  /// Room for the rows of a strip: each shared loop is an axis.
  void check_rows(const Kernel& kernel, const Statement& s) {
    const Equation& equation = system_.equations[s.equation];
    const TensorId t = equation.target;
    std::set<std::size_t> loops;
    std::size_t elements = 1, stride = 1;
    for (std::size_t axis = equation.place.size(); axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(system_[t].dims[axis]);
      const auto loop = loop_of(in_common_names(s, equation.place[axis]));
      if (loop) require(loops.insert(*loop).second, name(t) + " of a strip has a loop at two axes");
      const std::size_t rows = loop && *loop + 1 == kernel.loops.size() ? static_cast<std::size_t>(kernel.strips->rows) : 1;
      const std::size_t held = loop ? std::min(extent, rows) : extent;
      elements += (held - 1) * stride;
      stride *= extent;
    }
    require(loops.size() == kernel.loops.size() && home(t).index == loops.size(), name(t) + " of a strip has an axis for each shared loop");
    require(home(t).bytes == elements * size_of(system_[t].dtype), name(t) + " of a strip has another size");
    take_rows(kernel, s);
  }

  TensorId memory_of(TensorId t) const { return home(t).stead < 0 ? t : home(t).stead; }
  /// Rows of a strip that take the place of others have their shape, and the statement reads those only where it writes.
  void take_rows(const Kernel& kernel, const Statement& s) {
    const Equation& equation = system_.equations[s.equation];
    const TensorId t = equation.target;
    if (const TensorId old = memory_of(t); old != t) {
      require(here_.contains(old) && home(old).home == Home::turn && home(old).stead < 0, name(t) + " takes rows that are none");
      require(system_[old].dims == system_[t].dims && system_[old].dtype == system_[t].dtype && home(old).bytes == home(t).bytes, name(t) + " takes rows of another shape");
      const bool tiles = kernel.strips->schedules.contains(static_cast<std::size_t>(&s - kernel.statements.data()));
      visit_reads(equation, [&](const Expr& e) {
        require(home(e->tensor).home != Home::turn || memory_of(e->tensor) != old || (!tiles && e->args == equation.place), name(t) + " takes rows that it reads elsewhere");
      });
    }
    rows_[memory_of(t)] = t;
  }

  /// `loser` gives its bytes to this statement's target. Its reads in this kernel must be done by then in every
  /// order of the shared loops: in the same statement at the same element, before it within the same slice.
  void check_loser(const Statement& s, TensorId loser) const {
    const Equation& equation = system_.equations[s.equation];
    const std::string both = name(equation.target) + " over " + name(loser);
    require(!here_.contains(loser), both + ": both are written in this kernel");
    const auto reads = read_here_.find(loser);
    if (reads == read_here_.end()) return;
    require(home(loser).offset == home(equation.target).offset &&
                system_[loser].dtype == system_[equation.target].dtype &&
                system_[loser].dims == system_[equation.target].dims,
            both + ": not the same elements");
    for (const auto& [reader, e] : reads->second) {
      if (reader == &s) {
        require(e->args == equation.place, both + ": read at another element");
        continue;
      }
      std::set<std::size_t> fixed;
      for (std::size_t axis = 0; axis < equation.place.size(); ++axis) {
        const auto loop = loop_of(in_common_names(s, equation.place[axis]));
        if (loop && loop_of(in_common_names(*reader, e->args[axis])) == loop) fixed.insert(*loop);
      }
      require(fixed.size() == s.shared.size(), both + ": read in another iteration");
    }
  }

  void check_ends() const {
    std::map<std::size_t, std::size_t> updates;
    for (const auto& u : options_.updates) updates.emplace(u.output, u.input);
    std::map<std::size_t, std::size_t> commits;
    for (const Commit& c : plan_.commits) commits.emplace(c.output, c.input);
    std::unordered_set<std::size_t> changed;
    for (std::size_t o = 0; o < system_.outputs.size(); ++o) {
      const TensorId t = system_.outputs[o];
      const Residence& r = home(t);
      require_present(t, "the caller");
      const auto update = updates.find(o);
      if (update == updates.end()) {
        require(r.home == Home::output && r.index == o, "output " + name(t) + " is not in its buffer");
        continue;
      }
      changed.insert(update->second);
      const bool in_place = r.home == Home::in_place && r.index == update->second && r.output == o;
      const auto commit = commits.find(o);
      const bool copied = r.home == Home::arena && commit != commits.end() && commit->second == update->second;
      require(in_place || copied, "update " + name(t) + " does not reach its input");
    }
    require(commits.size() == plan_.commits.size(), "an output is committed twice");
    for (std::size_t i = 0; i < system_.inputs.size(); ++i) {
      if (!changed.contains(i)) require_present(system_.inputs[i], "the caller");
    }
  }

  const System& system_;
  const Plan& plan_;
  const PlanOptions& options_;
  std::vector<bool> defined_;
  std::vector<bool> runs_;
  std::size_t kernel_ = 0;
  const Kernel* kernel_at_ = nullptr;
  std::map<Room, HeldBytes> memories_;
  HeldBytes own_;               ///< one thread's piece of this kernel's own memory
  std::size_t own_bytes_ = 0;   ///< of this kernel
  std::unordered_map<TensorId, std::size_t> missing_;  ///< equations still to run
  std::unordered_set<TensorId> started_;
  std::unordered_map<TensorId, TensorId> rows_;  ///< whose rows a strip's memory holds
  std::unordered_set<TensorId> targets_;  ///< of this kernel's statements
  std::unordered_map<TensorId, std::vector<const Statement*>> here_;  ///< written in this kernel
  std::unordered_map<TensorId, std::vector<std::pair<const Statement*, Expr>>> read_here_;
};

}  // namespace

void check_plan(const System& system, const Plan& plan, const PlanOptions& options) {
  Execution(system, plan, options).run();
}

}  // namespace etalon::compiled
