#include "compiled/memory/budget.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiled/ir/wishes.hpp"
#include "compiled/machine/thresholds.hpp"
#include "compiled/memory/compact.hpp"
#include "compiled/memory/homes.hpp"
#include "compiled/memory/order.hpp"
#include "compiled/memory/recomputation.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

using spec::System;

namespace {

std::size_t at(TensorId t) { return static_cast<std::size_t>(t); }

/// A system with a plan of its own.
struct State {
  System system;
  Plan plan;
  Copies copies;
};

/// Where most is live, how much that is, and in how many kernels.
struct Peak {
  std::size_t kernel = 0;
  std::size_t bytes = 0;
  std::size_t times = 0;
  [[nodiscard]] bool below(const Peak& other) const {
    return bytes < other.bytes || (bytes == other.bytes && times < other.times);
  }
};

Peak peak_of(const State& state, const Flow& flow) {
  const std::vector<std::size_t> live = live_bytes(state.system, state.plan, flow);
  Peak peak;
  const auto highest = std::max_element(live.begin(), live.end());
  if (highest == live.end()) return peak;
  peak.kernel = static_cast<std::size_t>(highest - live.begin());
  peak.bytes = *highest;
  peak.times = static_cast<std::size_t>(std::count(live.begin(), live.end(), *highest));
  return peak;
}

class Fitting {
 public:
  Fitting(const PlanOptions& options, State state) : options_(options), budget_(*options.memory_budget), now_(std::move(state)) {}

  State run() {
    compact_arena(now_.system, options_, now_.plan);
    least_ = now_.plan.arena_bytes;
    if (!fits() && options_.fuse) reorder(true);
    if (!fits()) reorder(false);
    while (!fits()) {
      if (!step()) {
        throw SpecViolation(fmt::format("memory budget: {} bytes for intermediates are too few; the least that computing again reaches is {} bytes",
                                        budget_, least_));
      }
    }
    return std::move(now_);
  }

 private:
  bool fits() const { return now_.plan.arena_bytes <= budget_; }

  void assign(State& state) const {
    state.plan.commits.clear();
    assign_homes(state.system, options_, state.plan);
    compact_arena(state.system, options_, state.plan);
  }

  void reorder(bool split) {
    State other = now_;
    if (split) {
      split_parts(other.system, other.plan);
      assign(other);
    }
    order_for_memory(other.system, options_, other.plan);
    assign(other);
    // Where the order makes no difference to the highest peak it still lowers those that come next.
    const auto peak = [](const State& s) { return peak_of(s, flow_of(s.system, s.plan.kernels)).bytes; };
    if (peak(other) > peak(now_)) return;
    other.plan.order = fmt::format("what frees memory runs as soon as it can: {} bytes of the arena instead of {}", other.plan.arena_bytes,
                                   now_.plan.arena_bytes);
    now_ = std::move(other);
    least_ = std::min(least_, now_.plan.arena_bytes);
  }

  /// Computes one more value again. \returns whether that lowered the peak.
  bool step() {
    const Flow flow = flow_of(now_.system, now_.plan.kernels);
    const Peak peak = peak_of(now_, flow);
    const std::vector<Again> all = candidates(flow, peak);
    for (std::size_t i = 0; i < all.size() && i < threshold<std::size_t>("most_budget_trials"); ++i) {
      State other = now_;
      compute_again(other.system, other.plan, flow, other.copies, all[i]);
      assign(other);
      if (!peak_of(other, flow_of(other.system, other.plan.kernels)).below(peak)) continue;
      now_ = std::move(other);
      least_ = std::min(least_, now_.plan.arena_bytes);
      return true;
    }
    return false;
  }

  /// Values that are idle at the peak: the fewest operations per byte first, then those that are idle longest.
  std::vector<Again> candidates(const Flow& flow, const Peak& peak) const {
    std::vector<Again> all;
    const std::vector<bool> stored = tensors_asked(now_.system, spec::Asked::stored);
    for (std::size_t t = 0; t < now_.system.tensors.size(); ++t) {
      const Residence& r = now_.plan.residences[t];
      const auto id = static_cast<TensorId>(t);
      if (stored[t] || r.home != Home::arena || r.bytes * threshold<std::size_t>("small_budget_part") < now_.plan.arena_bytes || flow.writers[t].empty() || flow.writers[t].back() >= peak.kernel) continue;
      const auto& readers = flow.readers[t];
      const auto next = std::lower_bound(readers.begin(), readers.end(), peak.kernel);
      if (next == readers.end() || *next == peak.kernel) continue;
      if (auto again = ask_again(now_.system, now_.plan, flow, now_.copies, id, peak.kernel)) all.push_back(std::move(*again));
    }
    const auto idle = [&](const Again& a) {
      const auto& readers = flow.readers[at(a.value)];
      const auto next = std::lower_bound(readers.begin(), readers.end(), a.peak);
      return a.before - (next == readers.begin() ? flow.writers[at(a.value)].back() : *std::prev(next));
    };
    std::stable_sort(all.begin(), all.end(), [&](const Again& a, const Again& b) {
      return a.cost() != b.cost() ? a.cost() < b.cost() : idle(a) > idle(b);
    });
    return all;
  }

  const PlanOptions& options_;
  std::size_t budget_;
  State now_;
  std::size_t least_ = 0;
};

/// Equations in the order in which they run, without those that no kernel runs.
void in_order_of_kernels(State& state) {
  std::vector<spec::Equation> equations;
  for (Kernel& kernel : state.plan.kernels) {
    for (Statement& s : kernel.statements) {
      equations.push_back(state.system.equations[s.equation]);
      s.equation = equations.size() - 1;
    }
  }
  state.system.equations = std::move(equations);
}

}  // namespace

void fit_budget(System& system, const PlanOptions& options, Plan& plan) {
  if (!options.memory_budget || plan.arena_bytes <= *options.memory_budget) return;
  State state = Fitting(options, {system, plan, {}}).run();
  in_order_of_kernels(state);
  system = std::move(state.system);
  plan = std::move(state.plan);
}

}  // namespace etalon::compiled
