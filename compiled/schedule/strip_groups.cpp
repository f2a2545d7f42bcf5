#include "compiled/schedule/strip_groups.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiled/ir/language.hpp"
#include "compiled/ir/uses.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::compiled {

namespace {

constexpr std::size_t none = StripSteps::none;

class Grouping {
 public:
  Grouping(const System& system, const std::vector<WideFamily>& families)
      : system_(system), families_(families), uses_(uses_of(system)), needs_(system.equations.size()), members_(system.equations.size()),
        family_of_(system.equations.size(), none), unit_(system.equations.size()) {}

  StripSteps run() {
    std::vector<std::pair<std::size_t, const WideReader*>> reader_of(system_.equations.size(), {none, nullptr});
    for (std::size_t f = 0; f < families_.size(); ++f) {
      for (const std::size_t m : families_[f].members) family_of_[m] = f;
      for (const WideReader& r : families_[f].readers) reader_of[r.equation] = {f, &r};
    }
    find_needs();
    for (std::size_t i = 0; i < unit_.size(); ++i) unit_[i] = i;
    for (const auto& together : spec::recurrent_groups(system_)) {
      for (const std::size_t i : together) unit_[i] = together.front();
    }
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      const auto [family, reader] = reader_of[i];
      if (reader != nullptr) place(family, *reader);
      else if (family_of_[i] == none) join_between(i);
    }
    return in_order();
  }

 private:
  /// What each equation needs that is of no family, through the family's values; and which of these.
  void find_needs() {
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      const Equation& e = system_.equations[i];
      for_each_read(e, [&](const Expr& x) {
        for (const std::size_t w : writers_of(x->tensor)) {
          if (w == i) continue;
          if (family_of_[w] == none) {
            needs_[i].insert(w);
          } else {
            needs_[i].insert(needs_[w].begin(), needs_[w].end());
            members_[i].insert(w);
            members_[i].insert(members_[w].begin(), members_[w].end());
          }
        }
      });
    }
  }

  std::vector<std::size_t> writers_of(spec::TensorId t) {
    const auto at = static_cast<std::size_t>(t);
    if (uses_.writers[at] == 0) return {};
    if (uses_.writers[at] == 1) return {uses_.equation[at]};
    std::vector<std::size_t> writers;
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      if (system_.equations[i].target == t) writers.push_back(i);
    }
    return writers;
  }

  void place(std::size_t family, const WideReader& reader) {
    for (std::size_t g = groups_.size(); g-- > 0;) {
      if (groups_[g].family == family && groups_[g].axis == reader.axis && fits(g, reader)) return add(g, reader);
    }
    groups_.push_back({family, reader.axis, {}, {}});
    add(groups_.size() - 1, reader);
  }

  void add(std::size_t g, const WideReader& reader) {
    StripGroup& group = groups_[g];
    group.readers.push_back(reader);
    unit_[reader.equation] = unit_of(g);
    std::set<std::size_t> members(group.members.begin(), group.members.end());
    members.insert(members_[reader.equation].begin(), members_[reader.equation].end());
    group.members.assign(members.begin(), members.end());
  }

  std::size_t unit_of(std::size_t g) const { return system_.equations.size() + g; }

  /// Whether a reader can run in a group: nothing that it needs waits for the group, and of the group it needs its own rows.
  bool fits(std::size_t g, const WideReader& reader) const {
    const std::vector<bool> late = later_than(g);
    for (const std::size_t n : needs_[reader.equation]) {
      if (late[unit_[n]]) return false;
    }
    if (!reads_own_rows(g, reader.equation, reader.shared)) return false;
    const WideFamily& family = families_[groups_[g].family];
    std::vector<std::size_t> loops = family.outer;
    loops.push_back(reader.axis);
    const auto& members = members_[reader.equation];
    return std::all_of(members.begin(), members.end(), [&](std::size_t m) {
      return reads_own_rows(g, m, at_axes(counting_axes(system_[system_.equations[m].target].dims), loops));
    });
  }

  /// The units that need something of a group, through others.
  std::vector<bool> later_than(std::size_t g) const {
    std::vector<bool> late(system_.equations.size() + groups_.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < needs_.size(); ++i) {
        const std::size_t unit = unit_[i];
        if (family_of_[i] != none || unit == unit_of(g) || late[unit]) continue;
        for (const std::size_t n : needs_[i]) late[unit] = late[unit] || unit_[n] == unit_of(g) || late[unit_[n]];
        changed = changed || late[unit];
      }
    }
    return late;
  }

  /// Whether an equation whose binders `shared` are the loops of a group reads the results of the group only where they are.
  bool reads_own_rows(std::size_t g, std::size_t equation, const std::vector<std::size_t>& shared) const {
    const Equation& e = system_.equations[equation];
    bool own = true;
    for_each_read(e.value, [&](const Expr& x) {
      for (const WideReader& r : groups_[g].readers) {
        const Equation& source = system_.equations[r.equation];
        if (source.target != x->tensor) continue;
        for (std::size_t a = 0; a < r.shared.size(); ++a) {
          const Expr& index = x->args[axis_of(source, r.shared[a])];
          own = own && index.form() == Form::variable && index->variable == e.binders[shared[a]].variable;
        }
      }
    });
    return own;
  }

  static std::size_t axis_of(const Equation& e, std::size_t binder) {
    std::size_t axis = 0;
    while (e.place[axis].form() != Form::variable || e.place[axis]->variable != e.binders[binder].variable) ++axis;
    return axis;
  }

  /// What is computed for each row from results of a group alone, between its readers, is done there too.
  void join_between(std::size_t i) {
    const Equation& e = system_.equations[i];
    if (!members_[i].empty() || uses_.writers[static_cast<std::size_t>(e.target)] != 1 || unit_[i] != i || !fills_in_order(system_, e)) return;
    if (has_reduction(e.value)) return;
    for (std::size_t g = groups_.size(); g-- > 0;) {
      const auto reader = row_by_row(g, i);
      if (reader && fits(g, *reader)) return add(g, *reader);
    }
  }

  /// The loops of a group in an equation that reads its results and has no other loops, if it is one.
  std::optional<WideReader> row_by_row(std::size_t g, std::size_t i) const {
    const Equation& e = system_.equations[i];
    for (const WideReader& r : groups_[g].readers) {
      const Equation& source = system_.equations[r.equation];
      std::optional<Expr> read;
      for_each_read(e.value, [&](const Expr& x) {
        if (x->tensor == source.target) read = x;
      });
      if (!read) continue;
      WideReader found{i, groups_[g].axis, {}};
      std::int64_t points = 1;
      for (const std::size_t b : r.shared) {
        const Expr& index = (*read)->args[axis_of(source, b)];
        for (std::size_t own = 0; own < e.binders.size(); ++own) {
          if (index.form() != Form::variable || index->variable != e.binders[own].variable) continue;
          found.shared.push_back(own);
          points *= e.binders[own].extent;
        }
      }
      if (found.shared.size() == r.shared.size() && points == system_[e.target].dims.count()) return found;
    }
    return std::nullopt;
  }

  StripSteps in_order() {
    StripSteps steps;
    steps.groups = std::move(groups_);
    std::vector<std::vector<std::size_t>> equations(system_.equations.size() + steps.groups.size());
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      if (family_of_[i] == none) equations[unit_[i]].push_back(i);
    }
    std::vector<bool> done(equations.size());
    const auto visit = [&](const auto& self, std::size_t unit) -> void {
      if (done[unit]) return;
      done[unit] = true;
      for (const std::size_t i : equations[unit]) {
        for (const std::size_t n : needs_[i]) self(self, unit_[n]);
      }
      steps.order.push_back(equations[unit]);
      steps.group.push_back(unit < system_.equations.size() ? none : unit - system_.equations.size());
    };
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      if (family_of_[i] == none) visit(visit, unit_[i]);
    }
    return steps;
  }

  const System& system_;
  const std::vector<WideFamily>& families_;
  Uses uses_;
  std::vector<std::set<std::size_t>> needs_;
  std::vector<std::set<std::size_t>> members_;
  std::vector<std::size_t> family_of_;  ///< per equation
  std::vector<std::size_t> unit_;       ///< per equation: what is run as one
  std::vector<StripGroup> groups_;
};

}  // namespace

StripSteps group_readers(const System& system, const std::vector<WideFamily>& families) { return Grouping(system, families).run(); }

}  // namespace etalon::compiled
