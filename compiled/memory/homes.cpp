#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiled/ir/access.hpp"
#include "compiled/ir/flow.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/ir/wishes.hpp"
#include "compiled/machine/thresholds.hpp"
#include "compiled/memory/arena.hpp"
#include "compiled/memory/homes.hpp"
#include "compiled/memory/overwriting.hpp"
#include "compiled/schedule/fuse.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

std::size_t at(TensorId t) { return static_cast<std::size_t>(t); }

class Homes {
 public:
  Homes(const System& system, const PlanOptions& options, Plan& plan)
      : system_(system),
        options_(options),
        plan_(plan),
        uses_(uses_of(system)),
        flow_(flow_of(system, plan.kernels)),
        stored_(tensors_asked(system, spec::Asked::stored)),
        wishes_(wishes_by_tensor(system)) {}

  void run() {
    plan_.residences.assign(system_.tensors.size(), {});
    for (std::size_t i = 0; i < system_.inputs.size(); ++i) {
      settle(system_.inputs[i], {Home::input, i, 0, 0, bytes_of(system_.inputs[i]), "given by the caller"});
    }
    place_outputs();
    place_registers();
    place_turns();
    place_strips();
    place_in_arena();
  }

 private:
  std::size_t bytes_of(TensorId t) const { return compiled::bytes_of(system_[t]); }
  Residence& home(TensorId t) { return plan_.residences[at(t)]; }
  void settle(TensorId t, Residence residence) {
    if (!wishes_[at(t)].empty()) residence.reason += "; asked for: " + wishes_[at(t)];
    home(t) = std::move(residence);
  }

  /// Whether the kernel that writes it first is the last one that reads it.
  bool lives_in_one_kernel(TensorId t) const {
    const auto& readers = flow_.readers[at(t)];
    const auto& writers = flow_.writers[at(t)];
    return !readers.empty() && !writers.empty() && readers.back() == writers.front();
  }

  void place_outputs() {
    std::unordered_map<std::size_t, std::size_t> updated;
    for (const auto& u : options_.updates) updated.emplace(u.output, u.input);
    for (std::size_t o = 0; o < system_.outputs.size(); ++o) {
      const TensorId t = system_.outputs[o];
      if (home(t).home != Home::none)
        throw InternalError("plan: output " + system_[t].name + " stands twice or is an input");
      const auto update = updated.find(o);
      if (update == updated.end()) {
        settle(t, {Home::output, o, o, 0, bytes_of(t), "asked for by the caller"});
      } else {
        place_update(t, o, update->second);
      }
    }
  }

  void place_update(TensorId t, std::size_t output, std::size_t input) {
    const std::string why = why_not_in_place(t, system_.inputs[input]);
    if (why.empty()) {
      settle(t, {Home::in_place, input, output, 0, bytes_of(t), "the old value is not needed once it is written"});
    } else {
      plan_.commits.push_back({output, input, why});
      flow_.readers[at(t)].push_back(plan_.kernels.size());
    }
  }

  std::string why_not_in_place(TensorId value, TensorId old) const {
    if (!options_.in_place) return "updates in place are off";
    const auto& readers = flow_.readers[at(old)];
    const auto& writers = flow_.writers[at(value)];
    if (writers.empty()) return "nothing writes it";
    const std::size_t written = writers.front();
    if (readers.empty() || readers.back() < written) return {};
    if (readers.back() > written) return system_[old].name + " is still read by kernel " + std::to_string(readers.back());
    if (may_overwrite(system_, plan_.kernels[written], old, value)) return {};
    return system_[old].name + " is read by the same kernel at other elements";
  }

  void place_registers() {
    if (!options_.fuse) return;
    for (const Kernel& kernel : plan_.kernels) {
      if (kernel.kind != KernelKind::loops) continue;
      for (const Statement& s : kernel.statements) {
        const spec::Equation& equation = system_.equations[s.equation];
        if (!s.in_turn && stays_in_register(equation, kernel)) {
          settle(equation.target, {Home::in_register, 0, 0, 0, 0, "read only by later statements of its kernel"});
        }
      }
    }
  }

  bool stays_in_register(const spec::Equation& equation, const Kernel& kernel) const {
    const auto t = at(equation.target);
    return !uses_.is_output[t] && !stored_[t] && uses_.writers[t] == 1 && axes_of_binders(equation) &&
           equation.binders.size() == kernel.loops.size() && lives_in_one_kernel(equation.target);
  }

  /// What one iteration computes for itself needs no more room than one iteration.
  void place_turns() {
    if (!options_.reuse) return;
    for (const Kernel& kernel : plan_.kernels) {
      if (kernel.kind != KernelKind::loops) continue;
      const std::size_t shared = kernel.loops.size();
      std::size_t own_bytes = 0;
      for (const Statement& s : kernel.statements) {
        const TensorId t = system_.equations[s.equation].target;
        if (s.in_turn) {
          settle(t, {Home::turn, 1, 0, 0, bytes_of_turn(t, 1), "each turn of its kernel's outer loop copies its own"});
        } else if (!kernel.schedule && shared > 0 && needs_arena(t) && lives_in_a_turn(s, shared)) {
          own_bytes += bytes_of_turn(t, shared);
          if (!options_.scratch && own_bytes > options_.stack_bytes) continue;
          settle(t, {Home::turn, shared, 0, 0, bytes_of_turn(t, shared), "each iteration of its kernel has its own"});
        }
      }
    }
  }

  /// What a strip computes for itself needs room for its rows.
  void place_strips() {
    for (const Kernel& kernel : plan_.kernels) {
      if (kernel.kind != KernelKind::strips) continue;
      std::vector<TensorId> holders;  // of the memory at hand
      for (std::size_t s = 0; s < kernel.statements.size(); ++s) {
        const TensorId t = system_.equations[kernel.statements[s].equation].target;
        if (!needs_arena(t) || uses_.writers[at(t)] != 1 || !lives_in_one_kernel(t)) continue;
        settle(t, {Home::turn, kernel.loops.size(), 0, 0, bytes_of_strip(system_, kernel, kernel.statements[s]), "each strip of its kernel has its own rows"});
        const auto old = std::find_if(holders.begin(), holders.end(), [&](TensorId h) { return gives_rows(kernel, s, h); });
        if (old == holders.end() || !options_.reuse) {
          holders.push_back(t);
          continue;
        }
        home(t).stead = home(*old).stead < 0 ? *old : home(*old).stead;
        home(t).reason = "rows of a strip in the place of " + system_[*old].name;
        *old = t;
      }
    }
  }

  /// Whether a strip's rows of `old` are not read after statement s, and by itself only where it writes.
  bool gives_rows(const Kernel& kernel, std::size_t s, TensorId old) const {
    const spec::Equation& equation = system_.equations[kernel.statements[s].equation];
    if (!(system_[old].dims == system_[equation.target].dims) || system_[old].dtype != system_[equation.target].dtype) return false;
    const auto& readers = uses_.readers[at(old)];
    for (std::size_t later = s; later < kernel.statements.size(); ++later) {
      const bool reads = std::find(readers.begin(), readers.end(), kernel.statements[later].equation) != readers.end();
      if (reads && (later > s || kernel.strips->schedules.contains(s))) return false;
    }
    return !holds(equation.value, [&](const Expr& e) { return e.form() == Form::read && e->tensor == old && e->args != equation.place; });
  }

  std::size_t bytes_of_turn(TensorId t, std::size_t axes) const {
    std::size_t bytes = size_of(system_[t].dtype);
    for (std::size_t a = axes; a < system_[t].dims.rank; ++a) bytes *= static_cast<std::size_t>(system_[t].dims[a]);
    return bytes;
  }

  /// Written and read in this kernel alone; its first axes are the shared loops.
  bool lives_in_a_turn(const Statement& s, std::size_t shared) const {
    const spec::Equation& equation = system_.equations[s.equation];
    const auto t = at(equation.target);
    const auto axes = axes_of_binders(equation);
    if (uses_.is_output[t] || stored_[t] || uses_.writers[t] != 1 || !axes || !lives_in_one_kernel(equation.target)) return false;
    if (equation.binders.size() <= shared || bytes_of_turn(equation.target, shared) > threshold<std::size_t>("most_turn_bytes")) return false;
    return std::all_of(s.shared.begin(), s.shared.end(), [&](std::size_t b) { return (*axes)[b] < shared; });
  }

  bool needs_arena(TensorId t) const { return plan_.residences[at(t)].home == Home::none; }

  void place_in_arena() {
    Arena arena(options_.alignment);
    std::vector<std::vector<TensorId>> ends(plan_.kernels.size() + 1);
    std::unordered_set<TensorId> taken_over;
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
      for (const TensorId t : flow_.writes[k]) {
        if (!needs_arena(t)) continue;
        const std::size_t end = flow_.last_use(t);
        if (!take_over(t, k, taken_over)) {
          settle(t, {Home::arena, 0, 0, arena.take(bytes_of(t)), bytes_of(t), lives_until(k, end)});
        }
        ends[end].push_back(t);
      }
      place_own(k, arena);
      if (!options_.reuse) continue;
      if (const auto& scratch = plan_.kernels[k].scratch) arena.give_back(scratch->offset, scratch->all_bytes());
      for (const TensorId t : ends[k]) {
        if (!taken_over.contains(t)) arena.give_back(home(t).offset, home(t).bytes);
      }
    }
    plan_.arena_bytes = arena.size();
  }

  /// Much memory of a kernel's own comes from the arena: a stack may be small.
  void place_own(std::size_t k, Arena& arena) {
    Kernel& kernel = plan_.kernels[k];
    kernel.scratch.reset();
    std::size_t bytes = 0;
    for (const TensorId t : flow_.writes[k]) {
      if (home(t).home != Home::turn || home(t).stead >= 0) continue;
      home(t).offset = bytes;
      bytes += (home(t).bytes + options_.alignment - 1) / options_.alignment * options_.alignment;
    }
    if (bytes == 0 || bytes + waiting_bytes_of(kernel) <= options_.stack_bytes) return;
    const std::size_t threads = std::min<std::size_t>(options_.threads, turns_of(kernel));
    kernel.scratch = Scratch{0, bytes, threads};
    kernel.scratch->offset = arena.take(kernel.scratch->all_bytes());
  }

  /// On the stack in any case.
  std::size_t waiting_bytes_of(const Kernel& kernel) const {
    const auto of = [&](std::size_t s, const Schedule& schedule) {
      return waiting_bytes(schedule, size_of(arithmetic_type(system_, system_.equations[kernel.statements[s].equation])));
    };
    std::size_t bytes = kernel.schedule ? of(contraction_of(kernel), *kernel.schedule) : 0;
    if (!kernel.strips) return bytes;
    for (const auto& [s, schedule] : kernel.strips->schedules) bytes = std::max(bytes, of(s, schedule));
    return bytes;
  }

  /// Turns of a kernel's loops that threads may share, at most; at least one.
  static std::size_t turns_of(const Kernel& kernel) {
    std::size_t turns = 1;
    for (const std::int64_t n : kernel.loops) turns *= static_cast<std::size_t>(std::max<std::int64_t>(1, n));
    if (!kernel.strips) return turns;
    const auto rows = static_cast<std::size_t>(std::max<std::int64_t>(1, kernel.loops.back()));
    return turns / rows * static_cast<std::size_t>(parts(kernel.loops.back(), kernel.strips->rows));
  }

  std::string lives_until(std::size_t first, std::size_t end) const {
    if (end == plan_.kernels.size()) return "from kernel " + std::to_string(first) + " to the end";
    return "from kernel " + std::to_string(first) + " to " + std::to_string(end);
  }

  /// Gives t the bytes of a tensor that this kernel reads for the last time, element by element.
  bool take_over(TensorId t, std::size_t k, std::unordered_set<TensorId>& taken_over) {
    if (!options_.reuse || bytes_of(t) == 0) return false;
    for (const TensorId old : flow_.reads[k]) {
      const bool fits = home(old).home == Home::arena && flow_.readers[at(old)].back() == k && flow_.writers[at(old)].back() < k &&
                        system_[old].dtype == system_[t].dtype && system_[old].dims == system_[t].dims;
      if (!fits || taken_over.contains(old) || !may_overwrite(system_, plan_.kernels[k], old, t)) continue;
      taken_over.insert(old);
      settle(t, {Home::arena, 0, 0, home(old).offset, home(old).bytes, "in the place of " + system_[old].name});
      return true;
    }
    return false;
  }

  const System& system_;
  const PlanOptions& options_;
  Plan& plan_;
  Uses uses_;
  Flow flow_;                        ///< outputs that are copied at the end are read then
  std::vector<bool> stored_;         ///< asked to be
  std::vector<std::string> wishes_;  ///< per tensor
};

}  // namespace

std::size_t bytes_of_strip(const System& system, const Kernel& kernel, const Statement& statement) {
  const spec::Equation& equation = system.equations[statement.equation];
  const Dims& dims = system[equation.target].dims;
  const std::vector<std::size_t> axes = *axes_of_binders(equation);
  std::vector<std::int64_t> counts(dims.begin(), dims.end());
  for (const std::size_t b : statement.shared) counts[axes[b]] = 1;
  std::int64_t& rows = counts[axes[statement.shared.back()]];
  rows = std::min(kernel.strips->rows, dims[axes[statement.shared.back()]]);
  std::int64_t last = 0;
  std::int64_t stride = 1;
  for (std::size_t axis = dims.rank; axis-- > 0; stride *= dims[axis]) last += (counts[axis] - 1) * stride;
  return static_cast<std::size_t>(last + 1) * size_of(system[equation.target].dtype);
}

void assign_homes(const System& system, const PlanOptions& options, Plan& plan) { Homes(system, options, plan).run(); }

Plan plan(const System& system, const PlanOptions& options, std::span<const Decision> decisions, const Deciding* deciding) {
  Plan result;
  result.kernels = fuse(system, options, decisions, deciding);
  assign_homes(system, options, result);
  return result;
}

}  // namespace etalon::compiled
