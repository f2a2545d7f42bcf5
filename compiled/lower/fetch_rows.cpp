#include "compiled/lower/fetch_rows.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/lanes.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled::loops {

namespace {

class Fetching {
 public:
  Fetching(const spec::System& system, const Machine& machine, Deciding& deciding) : system_(system), machine_(machine), deciding_(deciding) {
    const std::vector<std::string> targets = addresses(system);
    for (std::size_t e = 0; e < targets.size(); ++e) targets_.emplace(system.equations[e].target, targets[e]);
  }

  void kernel(Nest& nest) {
    own_.clear();
    for (const Buffer& b : nest.buffers) {
      if (b.scope == Scope::thread) own_.insert(b.tensor);
    }
    within(nest.steps);
    verify(system_, nest);
  }

 private:
  void within(std::vector<Step>& steps) {
    for (Step& s : steps) {
      auto* loop = std::get_if<Loop>(&s.is);
      if (loop == nullptr || loop->in_lanes()) continue;
      const auto visits = std::count_if(loop->steps.begin(), loop->steps.end(), [](Step& x) { return lanes_loop(x) != nullptr; });
      if (static_cast<std::size_t>(visits) >= threshold<std::size_t>("least_row_visits")) rows(*loop);
      within(loop->steps);
    }
  }

  /// The loop over elements of a row that computes most for each of them, if it computes much.
  static Loop* busiest(Loop& rows) {
    Loop* found = nullptr;
    double most = threshold<double>("many_operations");
    for (Step& s : rows.steps) {
      Loop* lanes = lanes_loop(s);
      if (lanes == nullptr || operations_of(s, *lanes) < most) continue;
      most = operations_of(s, *lanes);
      found = lanes;
    }
    return found;
  }

  /// None where it computes functions.
  static double operations_of(const Step& s, const Loop& lanes) {
    double sum = 0;
    bool functions = false;
    const auto add = [&](const Expr& e) {
      sum += operations(e);
      functions = functions || holds(e, [](const Expr& x) { return x.form() == Form::apply && takes_long(x->primitive); });
    };
    if (const auto* r = std::get_if<Reduce>(&s.is)) add(r->body);
    for (const Step& inner : lanes.steps) {
      if (const auto* d = std::get_if<Define>(&inner.is)) add(d->value);
      if (const auto* store = std::get_if<Store>(&inner.is)) add(store->value);
    }
    return functions ? 0 : sum;
  }

  void rows(Loop& rows) {
    std::set<TensorId> seen;
    Loop* busy = busiest(rows);
    for (Step& s : rows.steps) {
      Loop* lanes = lanes_loop(s);
      if (lanes == nullptr) continue;
      const auto visit = [&](TensorId t, const std::vector<Expr>& place, bool write) {
        if (own_.contains(t) || seen.contains(t) || !comes_in_rows(t, place, rows.binder, lanes->binder) || !is_fetched(t)) return;
        seen.insert(t);
        Loop* by = busy != nullptr && busy->binder.extent == lanes->binder.extent ? busy : lanes;
        std::vector<Expr> next;
        for (const Expr& p : place) {
          next.push_back(substitute(p, {{rows.binder.variable, spec::variable(rows.binder) + spec::integer(1)},
                                        {lanes->binder.variable, spec::variable(by->binder)}}));
        }
        by->fetched.push_back({system_.at(t, std::move(next)), write});
      };
      const auto reads = [&](const Expr& e) { for_each_read(e, [&](const Expr& x) { visit(x->tensor, x->args, false); }); };
      if (const auto* r = std::get_if<Reduce>(&s.is)) {
        reads(r->guard);
        reads(r->body);
      }
      for (const Step& inner : lanes->steps) {
        if (const auto* d = std::get_if<Define>(&inner.is)) reads(d->value);
        if (const auto* store = std::get_if<Store>(&inner.is)) {
          reads(store->value);
          if (!store->streamed) visit(store->tensor, store->place, true);
        }
      }
    }
  }

  /// Neighbours in lanes lie side by side, and the next row somewhere else.
  bool comes_in_rows(TensorId t, const std::vector<Expr>& place, const Binder& row, const Binder& lane) const {
    const auto bytes = static_cast<std::int64_t>(size_of(system_[t].dtype));
    const Affine number = element_number(place, system_[t].dims);
    return number.opaque.empty() && number.coefficient(lane.variable) == 1 && number.coefficient(row.variable) * bytes >= threshold("least_row_bytes");
  }

  /// One decision for all kernels that visit a tensor.
  bool is_fetched(TensorId t) {
    const auto target = targets_.find(t);
    const std::string& name = target == targets_.end() ? system_[t].name : target->second;
    const auto [known, is_new] = decided_.try_emplace(name, false);
    if (is_new) {
      const bool is_far = system_[t].dims.count() * static_cast<std::int64_t>(size_of(system_[t].dtype)) > machine_.middle_bytes;
      known->second = deciding_.on("fetch", name, is_far);
      deciding_.take(switched("fetch", name, known->second));
    }
    return known->second;
  }

  const spec::System& system_;
  const Machine& machine_;
  Deciding& deciding_;
  std::map<TensorId, std::string> targets_;
  std::map<std::string, bool> decided_;
  std::set<TensorId> own_;
};

}  // namespace

void fetch_rows(const spec::System& system, const Plan& plan, const Machine& machine, std::vector<Nest>& nests, Deciding& deciding) {
  Fetching fetching(system, machine, deciding);
  for (std::size_t k = 0; k < nests.size(); ++k) {
    if (plan.kernels[k].kind == KernelKind::loops && !plan.kernels[k].schedule) fetching.kernel(nests[k]);
  }
}

}  // namespace etalon::compiled::loops
