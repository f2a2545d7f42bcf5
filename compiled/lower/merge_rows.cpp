#include "compiled/lower/merge_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/lanes.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/script.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled::loops {

namespace {

/// A step with what it touches.
struct Row {
  Step step;
  Accesses touches;
};

/// What is in common between a guest and a host that it may move into.
struct Match {
  std::size_t host = 0;
  std::set<TensorId> common;  ///< of which both visit the same elements
  std::size_t equal = 0;      ///< those tensors, and reads and operations that are the same in both
};

struct HashOfExpr {
  std::size_t operator()(const Expr& e) const { return e.hash(); }
};
using Expressions = std::unordered_set<Expr, HashOfExpr>;

/// Reads and operations in a step that differ from lane to lane.
class InLanes {
 public:
  InLanes(const Loop& loop, const Reduce* r) : lane_(loop.binder.variable) {
    for (const Step& s : loop.steps) {
      if (const auto* d = std::get_if<Define>(&s.is)) add(d->value);
      if (const auto* store = std::get_if<Store>(&s.is)) add(store->value);
    }
    if (r != nullptr) add(r->body);
  }
  Expressions found;

 private:
  void add(const Expr& e) {
    spec::for_each(e, [&](const Expr& x) {
      const bool counts = x.form() == spec::Form::read || (x.form() == spec::Form::apply && x.kind() == Kind::real);
      if (counts && mentions(x, lane_)) found.insert(x);
    });
  }
  spec::VariableId lane_;
};

Expr renamed(const Expr& e, const spec::Substitution& by) { return e.valid() ? substitute(e, by) : e; }

std::vector<Expr> renamed(std::vector<Expr> all, const spec::Substitution& by) {
  for (Expr& e : all) e = substitute(e, by);
  return all;
}

/// The steps of a guest, whose lanes are the host's from now on.
std::vector<Step> renamed(std::vector<Step> steps, const spec::Substitution& by) {
  for (Step& s : steps) {
    if (auto* d = std::get_if<Define>(&s.is)) d->value = substitute(d->value, by);
    if (auto* store = std::get_if<Store>(&s.is)) {
      store->place = renamed(std::move(store->place), by);
      store->value = substitute(store->value, by);
      store->guard = renamed(store->guard, by);
    }
  }
  return steps;
}

/// Lanes of all vectors of a loop, those behind the last element too.
std::int64_t lanes_of(const Loop& loop) {
  const auto width = static_cast<std::int64_t>(loop.width);
  return (loop.binder.extent + width - 1) / width * width;
}

bool computes_functions(const Loop& loop) {
  const auto has = [](const Expr& e) { return holds(e, [](const Expr& x) { return x.form() == spec::Form::apply && takes_long(x->primitive); }); };
  return std::any_of(loop.steps.begin(), loop.steps.end(), [&](const Step& s) {
    const auto* d = std::get_if<Define>(&s.is);
    const auto* store = std::get_if<Store>(&s.is);
    return (d != nullptr && has(d->value)) || (store != nullptr && has(store->value));
  });
}

class Merging {
 public:
  Merging(const spec::System& system, const Plan& plan) : system_(system), plan_(plan) {}

  void within(std::vector<Step>& steps) {
    for (Step& s : steps) {
      auto* loop = std::get_if<Loop>(&s.is);
      if (loop == nullptr || loop->in_lanes()) continue;
      within(loop->steps);
      rows(loop->steps);
    }
  }

 private:
  void rows(std::vector<Step>& steps) {
    if (std::count_if(steps.begin(), steps.end(), [](const Step& s) { return lanes_loop(s) != nullptr; }) < 2) return;
    std::vector<Row> all;
    for (Step& s : steps) {
      Accesses touches = accesses_of(s);
      all.push_back({std::move(s), std::move(touches)});
    }
    for (std::size_t i = 0; i < all.size();) {
      const auto match = is_guest(all[i].step) ? best_host(all, i) : std::nullopt;
      if (!match) {
        ++i;
        continue;
      }
      merge(all[i], all[match->host], i < match->host, match->common);
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    }
    steps.clear();
    for (Row& r : all) steps.push_back(std::move(r.step));
  }

  /// A loop in lanes of plain steps.
  static bool is_guest(const Step& s) {
    const auto* loop = std::get_if<Loop>(&s.is);
    return loop != nullptr && loop->in_lanes() && std::all_of(loop->steps.begin(), loop->steps.end(), [](const Step& x) {
             return std::holds_alternative<Define>(x.is) || std::holds_alternative<Store>(x.is);
           });
  }

  std::optional<Match> best_host(const std::vector<Row>& all, std::size_t guest) const {
    std::optional<Match> best;
    std::size_t nearest = 0;
    const auto consider = [&](std::size_t host) {
      Match match{host, in_common(all[guest], all[host], guest < host)};
      if (match.common.empty()) return;
      match.equal = match.common.size() + equal_in(all[guest].step, all[host].step);
      const std::size_t distance = guest < host ? host - guest : guest - host;
      if (best && (match.equal < best->equal || (match.equal == best->equal && distance >= nearest))) return;
      best = std::move(match);
      nearest = distance;
    };
    for (std::size_t j = guest + 1; j < all.size(); ++j) {
      consider(j);
      if (excludes(all[guest].touches, all[j].touches)) break;
    }
    for (std::size_t j = guest; j-- > 0;) {
      consider(j);
      if (excludes(all[guest].touches, all[j].touches)) break;
    }
    return best;
  }

  static std::size_t equal_in(const Step& guest, const Step& host) {
    const Loop& from = *lanes_loop(guest);
    const Loop& to = *lanes_loop(host);
    const Expressions there = InLanes(to, std::get_if<Reduce>(&host.is)).found;
    const spec::Substitution by{{from.binder.variable, variable(to.binder)}};
    const Expressions here = InLanes(from, nullptr).found;
    return static_cast<std::size_t>(std::count_if(here.begin(), here.end(), [&](const Expr& e) { return there.contains(substitute(e, by)); }));
  }

  /// The tensors of which both visit the same elements, if the guest may move into the host at all: before its own steps, or after them.
  std::set<TensorId> in_common(const Row& guest, const Row& host, bool first) const {
    const Loop& from = *lanes_loop(guest.step);
    const Loop* to = lanes_loop(host.step);
    if (to == nullptr || to->binder.extent != from.binder.extent) return {};
    if (to->width < from.width || to->width > threshold<unsigned>("most_times_wider") * from.width) return {};
    if (computes_functions(from) && threshold("idle_share") * lanes_of(*to) > (threshold("idle_share") + 1) * lanes_of(from)) return {};
    const auto* r = std::get_if<Reduce>(&host.step.is);
    if (r == nullptr ? !is_guest(host.step) : r->reached.valid()) return {};
    if (fills(host.touches, guest.touches) || fills(guest.touches, host.touches)) return {};
    // The body of a reduction is what a turn ends with.
    if (r != nullptr && !first && (writes_into(guest, accesses_of(r->body)) || writes_into(guest, accesses_of(r->guard)))) return {};
    std::set<TensorId> common;
    std::set<TensorId> visited;
    const spec::Substitution by{{from.binder.variable, variable(to->binder)}};
    for (const Access& h : host.touches.elements) visited.insert(h.tensor);
    for (const Access& g : guest.touches.elements) {
      visited.insert(g.tensor);
      const std::vector<Expr> place = renamed(g.place, by);
      for (const Access& h : host.touches.elements) {
        const bool same = h.tensor == g.tensor && h.place == place && moves_with(h, to->binder);
        if (same) common.insert(g.tensor);
        if (!same && (g.write || h.write) && share_memory(plan_, g.tensor, h.tensor)) return {};
      }
    }
    return visited.size() > threshold<std::size_t>("most_merged_tensors") ? std::set<TensorId>{} : common;
  }

  /// Different lanes have different elements.
  bool moves_with(const Access& a, const Binder& lane) const {
    const Affine number = element_number(a.place, system_[a.tensor].dims);
    return number.coefficient(lane.variable) != 0 &&
           std::none_of(number.opaque.begin(), number.opaque.end(), [&](const auto& term) { return mentions(term.second, lane.variable); });
  }

  bool writes_into(const Row& guest, const Accesses& read) const {
    for (const Access& g : guest.touches.elements) {
      if (!g.write) continue;
      for (const Access& h : read.elements) {
        if (share_memory(plan_, g.tensor, h.tensor)) return true;
      }
    }
    return false;
  }

  /// Whether `a` fills a register that `b` reads.
  static bool fills(const Accesses& a, const Accesses& b) {
    return std::any_of(a.defines.begin(), a.defines.end(), [&](spec::VariableId v) { return b.uses.contains(v); });
  }

  /// Whether two steps have to stay in order.
  bool excludes(const Accesses& a, const Accesses& b) const {
    if (a.in_tiles || b.in_tiles || fills(a, b) || fills(b, a)) return true;
    for (const Access& x : a.elements) {
      for (const Access& y : b.elements) {
        if ((x.write || y.write) && share_memory(plan_, x.tensor, y.tensor)) return true;
      }
    }
    return false;
  }

  void merge(Row& guest, Row& host, bool first, const std::set<TensorId>& common) const {
    Loop& from = *lanes_loop(guest.step);
    Loop& to = *lanes_loop(host.step);
    to.merged.push_back(reason(from, common));
    std::move(from.merged.begin(), from.merged.end(), std::back_inserter(to.merged));
    std::vector<Step> steps = renamed(std::move(from.steps), {{from.binder.variable, variable(to.binder)}});
    to.steps.insert(first ? to.steps.begin() : to.steps.end(), std::make_move_iterator(steps.begin()), std::make_move_iterator(steps.end()));
    host.touches = accesses_of(host.step);
  }

  std::string reason(const Loop& guest, const std::set<TensorId>& common) const {
    std::string written;
    for (const Step& s : guest.steps) {
      const auto* store = std::get_if<Store>(&s.is);
      if (store != nullptr) written += (written.empty() ? "" : ", ") + system_[store->tensor].name;
    }
    std::string shared;
    for (const TensorId t : common) shared += (shared.empty() ? "" : ", ") + system_[t].name;
    return fmt::format("in one pass with the loop of {}, which visits the same elements of {}", written, shared);
  }

  const spec::System& system_;
  const Plan& plan_;
};

}  // namespace

void merge_rows(const spec::System& system, const Plan& plan, Nest& nest) {
  Merging(system, plan).within(nest.steps);
  verify(system, nest);
}

}  // namespace etalon::compiled::loops
