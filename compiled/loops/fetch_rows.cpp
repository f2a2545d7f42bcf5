#include "compiled/loops/fetch_rows.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "compiled/loops/accesses.hpp"

namespace etalon::compiled::loops {

using spec::Form;

namespace {

/// Visits of a row in between which its stream is lost.
constexpr std::size_t least_visits = 2;
/// Bytes of a row; shorter ones come with the line before.
constexpr std::int64_t least_row_bytes = 1024;

class Fetching {
 public:
  Fetching(const spec::System& system, const Machine& machine, const Nest& nest) : system_(system), machine_(machine) {
    for (const auto& [t, bytes] : nest.own) own_.insert(t);
  }

  void within(std::vector<Step>& steps) {
    for (Step& s : steps) {
      auto* loop = std::get_if<Loop>(&s.is);
      if (loop == nullptr || loop->kind == LoopKind::lanes) continue;
      const auto visits = std::count_if(loop->steps.begin(), loop->steps.end(), [](Step& x) { return lanes_loop(x) != nullptr; });
      if (static_cast<std::size_t>(visits) >= least_visits) rows(*loop);
      within(loop->steps);
    }
  }

 private:
  void rows(Loop& rows) {
    std::set<TensorId> seen;
    for (Step& s : rows.steps) {
      Loop* lanes = lanes_loop(s);
      if (lanes == nullptr) continue;
      const auto visit = [&](TensorId t, const std::vector<Expr>& place, bool write) {
        if (own_.contains(t) || seen.contains(t) || !comes_in_rows(t, place, rows.binder, lanes->binder)) return;
        seen.insert(t);
        std::vector<Expr> next;
        for (const Expr& p : place) next.push_back(substitute(p, {{rows.binder.variable, spec::variable(rows.binder) + spec::integer(1)}}));
        lanes->fetched.push_back({system_.at(t, std::move(next)), write});
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
    return number.opaque.empty() && number.coefficient(lane.variable) == 1 && number.coefficient(row.variable) * bytes >= least_row_bytes;
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
