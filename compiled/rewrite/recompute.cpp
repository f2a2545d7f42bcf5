#include "compiled/rewrite/recompute.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "compiled/ir/access.hpp"
#include "compiled/ir/lanes.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/local_definition.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/ir/wishes.hpp"
#include "compiled/machine/thresholds.hpp"
#include "compiled/rewrite/rewriting.hpp"

namespace etalon::compiled {

namespace {

class Recomputing {
 public:
  Recomputing(System& system, const Plan& plan, std::vector<Decision>& decisions, Deciding& deciding)
      : system_(system), plan_(plan), decisions_(decisions), deciding_(deciding), uses_(uses_of(system)), stored_(tensors_asked(system, spec::Asked::stored)),
        kernel_of_(system.equations.size()) {
    for (const Commit& c : plan.commits) committed_.insert(system.inputs[c.input]);
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
      for (const Statement& s : plan.kernels[k].statements) kernel_of_[s.equation] = k;
    }
  }

  bool run() {
    bool any = false;
    const std::vector<std::string> names = addresses(system_);
    for (std::size_t e = 0; e < system_.equations.size(); ++e) {
      if (!is_cheap(system_.equations[e]) || !has_room(system_.equations[e].target)) continue;
      const std::vector<std::size_t> readers = later_readers(e);
      const LocalDefinition local = definition_in(system_, system_.equations[e]);
      const auto may = [&](std::size_t r) { return may_compute(r) && keeps_bits(local, reader_of(system_, system_.equations[r])); };
      if (readers.empty() || !local.why_not.empty() || !std::all_of(readers.begin(), readers.end(), may)) continue;
      const bool on = deciding_.on("recompute", names[e], true);
      deciding_.take(switched("recompute", names[e], on));
      if (!on) continue;
      for (const std::size_t r : readers) substitute(system_.equations[e], local, system_.equations[r]);
      any = true;
    }
    if (any) drop_unread();
    return any;
  }

 private:
  const Residence& home(spec::TensorId t) const { return plan_.residences[static_cast<std::size_t>(t)]; }
  bool has_room(spec::TensorId t) const { return home(t).home == Home::arena; }

  bool is_cheap(const Equation& e) const {
    const auto t = static_cast<std::size_t>(e.target);
    if (uses_.is_output[t] || stored_[t] || uses_.writers[t] != 1 || uses_.recurrent[t] || !axes_of_binders(e)) return false;
    const std::int64_t elements = system_[e.target].dims.count();
    std::size_t large = 0;
    bool plain = !has_reduction(e.value);
    for_each_read(e.value, [&](const Expr& x) {
      if (system_[x->tensor].dims.count() * threshold("cheap_operand_part") <= elements) return;
      ++large;
      plain = plain && system_[x->tensor].dims.count() == elements && stays(x->tensor);
    });
    if (!plain || large != 1) return false;
    // Reads count as operations too.
    return loops::operations(e.value) <= threshold<double>("cheap_operations") && arithmetic_type(system_, e) == system_[e.target].dtype;
  }

  /// Whether later kernels can read it: nobody overwrites it, and to keep it costs no more than what it stands for.
  bool stays(spec::TensorId t) const {
    if (home(t).home == Home::arena) return true;
    return home(t).home == Home::input && !committed_.contains(t);
  }

  std::vector<std::size_t> later_readers(std::size_t e) const {
    std::vector<std::size_t> readers;
    for (const std::size_t r : uses_.readers[static_cast<std::size_t>(system_.equations[e].target)]) {
      if (kernel_of_[r] != kernel_of_[e]) readers.push_back(r);
    }
    return readers;
  }

  bool may_compute(std::size_t r) const {
    const Kernel& kernel = plan_.kernels[kernel_of_[r]];
    const bool scheduled = r < decisions_.size() && decisions_[r].schedule;
    const auto in_place = [&](const Expr& p) { return p.form() == Form::variable || p.form() == Form::number; };
    const std::vector<Expr>& place = system_.equations[r].place;
    return !scheduled && kernel.kind == KernelKind::loops && std::all_of(place.begin(), place.end(), in_place);
  }

  static void substitute(const Equation& cheap, const LocalDefinition& local, Equation& reader) {
    Rewriter compute([&](const Expr& e) { return e.form() == Form::read && e->tensor == cheap.target ? value_at(cheap, local, e) : Expr{}; });
    reader.value = compute(reader.value);
  }

  /// What was read before and is not read now goes, unless somebody asked for it.
  void drop_unread() {
    Uses now = uses_of(system_);
    for (std::size_t e = system_.equations.size(); e-- > 0;) {
      const auto t = static_cast<std::size_t>(system_.equations[e].target);
      if (now.reads[t] != 0 || uses_.reads[t] == 0 || uses_.is_output[t] || stored_[t]) continue;
      for_each_read(system_.equations[e], [&](const Expr& x) { --now.reads[static_cast<std::size_t>(x->tensor)]; });
      system_.equations.erase(system_.equations.begin() + static_cast<std::ptrdiff_t>(e));
      if (!decisions_.empty()) decisions_.erase(decisions_.begin() + static_cast<std::ptrdiff_t>(e));
    }
  }

  System& system_;
  const Plan& plan_;
  std::vector<Decision>& decisions_;
  Deciding& deciding_;
  Uses uses_;
  std::vector<bool> stored_;  ///< asked to be
  std::vector<std::size_t> kernel_of_;
  std::unordered_set<spec::TensorId> committed_;  ///< inputs that are overwritten at the end
};

}  // namespace

bool recompute_cheap(System& system, const Plan& plan, std::vector<Decision>& decisions, Deciding& deciding) {
  return Recomputing(system, plan, decisions, deciding).run();
}

}  // namespace etalon::compiled
