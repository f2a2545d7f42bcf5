#include "compiled/lower/fetch_rows.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/lanes.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled::loops {

using spec::Form;

namespace {

class Fetching {
 public:
  Fetching(const spec::System& system, const Machine& machine, const Nest& nest) : system_(system), machine_(machine) {
    for (const Buffer& b : nest.buffers) {
      if (b.scope == Scope::thread) own_.insert(b.tensor);
    }
  }

  void within(std::vector<Step>& steps) {
    for (Step& s : steps) {
      auto* loop = std::get_if<Loop>(&s.is);
      if (loop == nullptr || loop->in_lanes()) continue;
      const auto visits = std::count_if(loop->steps.begin(), loop->steps.end(), [](Step& x) { return lanes_loop(x) != nullptr; });
      if (static_cast<std::size_t>(visits) >= threshold<std::size_t>("least_row_visits")) rows(*loop);
      within(loop->steps);
    }
  }

 private:
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
      spec::for_each(e, [&](const Expr& x) { functions = functions || (x.form() == Form::apply && takes_long(x->primitive)); });
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
        if (own_.contains(t) || seen.contains(t) || !comes_in_rows(t, place, rows.binder, lanes->binder)) return;
        seen.insert(t);
        Loop* by = busy != nullptr && busy->binder.extent == lanes->binder.extent ? busy : lanes;
        std::vector<Expr> next;
        for (const Expr& p : place) {
          next.push_back(substitute(p, {{rows.binder.variable, spec::variable(rows.binder) + spec::integer(1)},
                                        {lanes->binder.variable, spec::variable(by->binder)}}));
        }
        by->fetched.push_back({system_.at(t, std::move(next)), write});
      };
      const auto reads = [&](const Expr& e) {
        if (!e.valid()) return;
        spec::for_each(e, [&](const Expr& x) {
          if (x.form() == Form::read) visit(x->tensor, x->args, false);
        });
      };
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
    if (system_[t].dims.count() * bytes <= machine_.middle_bytes) return false;
    const Affine number = element_number(place, system_[t].dims);
    return number.opaque.empty() && number.coefficient(lane.variable) == 1 && number.coefficient(row.variable) * bytes >= threshold("least_row_bytes");
  }

  const spec::System& system_;
  const Machine& machine_;
  std::set<TensorId> own_;
};

}  // namespace

void fetch_rows(const spec::System& system, const Machine& machine, Nest& nest) {
  Fetching(system, machine, nest).within(nest.steps);
  verify(system, nest);
}

}  // namespace etalon::compiled::loops
