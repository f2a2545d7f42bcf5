#include "compiled/memory/recomputation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "compiled/ir/language.hpp"
#include "compiled/machine/thresholds.hpp"
#include "compiled/rewrite/rewriting.hpp"

namespace etalon::compiled {

namespace {

std::size_t at(TensorId t) { return static_cast<std::size_t>(t); }

std::set<TensorId> reads_of(const Equation& e) {
  std::set<TensorId> tensors;
  for_each_read(e, [&](const Expr& x) { tensors.insert(x->tensor); });
  return tensors;
}

TensorId original_of(const Copies& copies, TensorId t) {
  const auto it = copies.find(t);
  return it == copies.end() ? t : it->second;
}

/// Finds all that has to run again.
class Asking {
 public:
  Asking(const System& system, const Plan& plan, const Flow& flow, const Copies& copies, TensorId value, std::size_t peak)
      : system_(system), plan_(plan), flow_(flow), copies_(copies) {
    again_.value = value;
    again_.peak = peak;
  }

  std::optional<Again> run() {
    const auto& readers = flow_.readers[at(again_.value)];
    again_.before = *std::upper_bound(readers.begin(), readers.end(), again_.peak);
    saved_ = static_cast<std::int64_t>(bytes_of(system_[again_.value]));
    bool possible = want(again_.value);
    while (possible && !open_.empty()) {
      const TensorId next = *open_.begin();
      open_.erase(open_.begin());
      possible = want(next);
    }
    if (!possible || saved_ <= 0) return std::nullopt;
    again_.bytes = static_cast<std::size_t>(saved_);
    for (const auto& [kernel, statements] : again_.wanted) {
      for (const std::size_t s : statements) {
        const Equation& e = system_.equations[plan_.kernels[kernel].statements[s].equation];
        if (is_needed_before(e.target)) again_.operations += operations_of(e);
      }
    }
    return again_;
  }

 private:
  const Residence& home(TensorId t) const { return plan_.residences[at(t)]; }

  /// Otherwise it only moves.
  bool is_needed_before(TensorId t) const {
    const auto& readers = flow_.readers[at(t)];
    return t != again_.value || (!readers.empty() && readers.front() < again_.before);
  }

  bool want(TensorId t) {
    if (flow_.writers[at(t)].size() != 1) return false;
    const std::size_t k = flow_.writers[at(t)].front();
    const Kernel& kernel = plan_.kernels[k];
    if (kernel.kind != KernelKind::loops) return false;
    if (kernel.schedule) {
      for (std::size_t s = 0; s <= contraction_of(kernel); ++s) add(k, s);
    }
    std::size_t writers = 0;
    for (std::size_t s = 0; s < kernel.statements.size(); ++s) {
      if (system_.equations[kernel.statements[s].equation].target != t) continue;
      add(k, s);
      ++writers;
    }
    return writers == 1 && !impossible_;
  }

  void add(std::size_t kernel, std::size_t statement) {
    if (!again_.wanted[kernel].insert(statement).second) return;
    const Equation& e = system_.equations[plan_.kernels[kernel].statements[statement].equation];
    computed_.insert(e.target);
    open_.erase(e.target);
    for (const TensorId t : reads_of(e)) need(t);
  }

  void need(TensorId t) {
    if (computed_.contains(t) || is_there(t)) return;
    const Residence& r = home(t);
    if (r.home == Home::arena && bytes_of(system_[t]) * threshold<std::size_t>("small_recomputed_part") <= bytes_of(system_[again_.value])) return keep(t);
    if (r.home == Home::input) {
      impossible_ = true;  // it will have been overwritten
      return;
    }
    open_.insert(t);
  }

  /// Whether it can be read at the place, itself or a copy.
  bool is_there(TensorId t) {
    const Residence& r = home(t);
    if (r.home == Home::output || r.home == Home::in_place) return true;
    if (r.home == Home::input) return !overwritten(r.index);
    if (r.home != Home::arena) return false;
    if (lives_at_place(t)) return true;
    for (const auto& [copy, of] : copies_) {
      if (of != original_of(copies_, t) || home(copy).home != Home::arena || !lives_at_place(copy)) continue;
      again_.instead[t] = copy;
      return true;
    }
    return lives_at_place(original_of(copies_, t)) && (again_.instead[t] = original_of(copies_, t), true);
  }

  bool lives_at_place(TensorId t) const {
    const auto& writers = flow_.writers[at(t)];
    return t != again_.value && !writers.empty() && writers.back() < again_.before && flow_.last_use(t) != Flow::never && flow_.last_use(t) >= again_.before;
  }

  bool overwritten(std::size_t input) const {
    for (std::size_t t = 0; t < plan_.residences.size(); ++t) {
      const Residence& r = plan_.residences[t];
      if (r.home == Home::in_place && r.index == input && !flow_.writers[t].empty() && flow_.writers[t].front() < again_.before) return true;
    }
    return false;
  }

  void keep(TensorId t) {
    if (flow_.last_use(t) < again_.peak) saved_ -= static_cast<std::int64_t>(bytes_of(system_[t]));
  }

  const System& system_;
  const Plan& plan_;
  const Flow& flow_;
  const Copies& copies_;
  Again again_;
  std::set<TensorId> computed_;
  std::set<TensorId> open_;
  std::int64_t saved_ = 0;
  bool impossible_ = false;
};

/// Has a kernel's equations read other tensors.
void redirect(System& system, Kernel& kernel, const std::map<TensorId, TensorId>& instead) {
  Rewriter reading([&](const Expr& e) {
    const auto other = e.form() == Form::read ? instead.find(e->tensor) : instead.end();
    return other == instead.end() ? Expr{} : spec::read(other->second, e.kind(), e->args);
  });
  for (const Statement& s : kernel.statements) {
    Equation& e = system.equations[s.equation];
    e.value = reading(e.value);
    for (Expr& p : e.place) p = reading(p);
  }
  Scatter& scatter = kernel.scatter;
  for (Scatter::Hit& h : scatter.hits) h.index = reading(h.index);
  for (Expr* e : {&scatter.precondition, &scatter.guard, &scatter.body}) {
    if (e->valid()) *e = reading(*e);
  }
}

/// The statements of a kernel whose values somebody reads; a contraction and the copies that it reads stay with what is done with
/// its elements.
std::vector<Statement> statements_read(const System& system, const Kernel& kernel, const Flow& flow, const std::set<TensorId>& outputs) {
  const std::size_t copies = kernel.schedule ? contraction_of(kernel) : 0;
  const std::size_t carriers = kernel.schedule ? copies + 1 : 0;
  std::vector<Statement> read;
  bool any = false;
  for (std::size_t s = 0; s < kernel.statements.size(); ++s) {
    const TensorId t = system.equations[kernel.statements[s].equation].target;
    const bool needed = outputs.contains(t) || !flow.readers[at(t)].empty();
    if (s < carriers || needed) read.push_back(kernel.statements[s]);
    any = any || (needed && s >= copies);
  }
  return any ? read : std::vector<Statement>{};
}

/// Statements whose values are read by nobody go; a kernel without any goes too.
void drop_unread(const System& system, Plan& plan) {
  const std::set<TensorId> outputs(system.outputs.begin(), system.outputs.end());
  for (bool changed = true; changed;) {
    changed = false;
    const Flow flow = flow_of(system, plan.kernels);
    for (Kernel& kernel : plan.kernels) {
      if (kernel.kind != KernelKind::loops) continue;
      std::vector<Statement> read = statements_read(system, kernel, flow, outputs);
      changed = changed || read.size() != kernel.statements.size();
      kernel.statements = std::move(read);
    }
    std::erase_if(plan.kernels, [](const Kernel& k) { return k.statements.empty(); });
  }
}

}  // namespace

std::optional<Again> ask_again(const System& system, const Plan& plan, const Flow& flow, const Copies& copies, TensorId value, std::size_t peak) {
  return Asking(system, plan, flow, copies, value, peak).run();
}

void compute_again(System& system, Plan& plan, const Flow& flow, Copies& copies, const Again& again) {
  std::map<TensorId, TensorId> within = again.instead;
  std::map<TensorId, TensorId> later;
  std::vector<Kernel> kernels;
  for (const auto& [k, statements] : again.wanted) {
    Kernel kernel = plan.kernels[k];
    kernel.statements.clear();
    kernel.reason = fmt::format("computed again: {}", kernel.reason);
    for (const std::size_t s : statements) {
      Statement statement = plan.kernels[k].statements[s];
      Equation e = system.equations[statement.equation];
      const spec::TensorInfo info = system[e.target];
      const TensorId copy = system.add_tensor(info.name + ".again", info.dtype, info.dims);
      const TensorId original = original_of(copies, e.target);
      later[e.target] = copy;
      // Copies that are made later are not needed any more.
      for (const auto& [other, of] : copies) {
        if (of == original && at(other) < flow.writers.size() && !flow.writers[at(other)].empty() && flow.writers[at(other)].front() >= again.before) later[other] = copy;
      }
      copies[copy] = original;
      within[e.target] = copy;
      e.target = copy;
      statement.equation = system.equations.size();
      system.equations.push_back(std::move(e));
      kernel.statements.push_back(std::move(statement));
    }
    kernels.push_back(std::move(kernel));
  }
  for (Kernel& kernel : kernels) redirect(system, kernel, within);
  for (std::size_t k = again.before; k < plan.kernels.size(); ++k) redirect(system, plan.kernels[k], later);
  plan.kernels.insert(plan.kernels.begin() + static_cast<std::ptrdiff_t>(again.before), kernels.begin(), kernels.end());
  const std::size_t end = again.before + kernels.size();
  std::string reason = fmt::format("idle while kernel {} runs, when most is live; needed next by kernel {}", again.peak, end);
  if (again.wanted.size() > 1) reason += fmt::format("; with what it is computed from, {} kernels", again.wanted.size());
  plan.recomputations.push_back({within.at(again.value), again.bytes, again.operations, std::move(reason)});
  drop_unread(system, plan);
}

}  // namespace etalon::compiled
