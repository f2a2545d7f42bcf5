#include "compiled/memory/check_form.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "compiled/ir/language.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

class KernelForm {
 public:
  KernelForm(const System& system, const Kernel& kernel, std::size_t number) : system_(system), kernel_(kernel), number_(number) {}

  void check() const {
    require(kernel_.kind != KernelKind::scatter || kernel_.statements.size() == 1, "more than one statement");
    require(kernel_.kind != KernelKind::sequence || !kernel_.loops.empty(), "a sequence has no loop for its steps");
    check_tiles();
    check_strips();
    for (const Statement& s : kernel_.statements) {
      require(s.equation < system_.equations.size(), "a statement of no equation");
      s.in_passing ? check_passing(s) : check_loops(s);
    }
  }

 private:
  void require(bool holds, const std::string& what) const { require_of_plan(holds, number_, what); }
  const std::string& name(const Equation& e) const { return system_[e.target].name; }

  void check_tiles() const {
    const auto& tiles = kernel_.schedule;
    require(!kernel_.turn || (tiles && *kernel_.turn < kernel_.loops.size() && *kernel_.turn != tiles->row && *kernel_.turn != tiles->column),
            "a turn is of a loop outside of tiles");
    require(!tiles || (tiles->tile_rows >= 1 && tiles->tile_columns >= 1 && tiles->block_rows >= 1 && tiles->block_columns >= 1), "tiles and blocks have rows and columns");
  }

  /// Strips are of whole tiles, whose rows are those of the last shared loop.
  void check_strips() const {
    require((kernel_.kind == KernelKind::strips) == kernel_.strips.has_value(), "strips are of a kernel of that kind");
    if (!kernel_.strips) return;
    require(!kernel_.loops.empty() && kernel_.strips->rows >= 1 && !kernel_.schedule, "strips have rows");
    for (const auto& [s, schedule] : kernel_.strips->schedules) {
      require(s < kernel_.statements.size() && !kernel_.statements[s].shared.empty() && schedule.row == kernel_.statements[s].shared.back(), "rows of tiles are those of strips");
      const auto& shared = kernel_.statements[s].shared;
      require(std::find(shared.begin(), shared.end(), schedule.column) == shared.end(), "columns of tiles are no loop of strips");
      require(schedule.tile_rows >= 1 && schedule.tile_rows * schedule.block_rows == kernel_.strips->rows, "strips are of whole tiles");
    }
  }

  void check_loops(const Statement& s) const {
    const Equation& equation = system_.equations[s.equation];
    require(s.shared.size() == (s.in_turn ? 1 : kernel_.loops.size()), "a statement does not share every loop");
    const std::set<std::size_t> distinct(s.shared.begin(), s.shared.end());
    require(distinct.size() == s.shared.size(), "one binder serves two loops");
    for (std::size_t a = 0; a < s.shared.size(); ++a) {
      require(s.shared[a] < equation.binders.size() && equation.binders[s.shared[a]].extent == kernel_.loops.at(shared_loop(kernel_, s, a)),
              "a binder of " + name(equation) + " does not run as its loop does");
    }
  }

  /// Every row belongs to one stretch, and the sum of a part runs over the rows of its stretch.
  void check_passing(const Statement& s) const {
    const Equation& equation = system_.equations[s.equation];
    const std::string& target = name(equation);
    require(kernel_.kind == KernelKind::loops && !kernel_.schedule && !kernel_.loops.empty() && kernel_.stretch > 0, target + " is in passing of no rows");
    require(s.shared.empty() && equation.value.form() == spec::Form::reduce && !equation.binders.empty(), target + " in passing is no sum");
    require(equation.binders[0].extent * kernel_.stretch == kernel_.loops[0], target + " in passing has other stretches");
    std::vector<std::int64_t> rows(kernel_.loops.begin() + 1, kernel_.loops.end());
    if (kernel_.stretch > 1) rows.insert(rows.begin(), kernel_.stretch);
    std::vector<std::int64_t> summed;
    for (const spec::Binder& b : equation.value->binders) summed.push_back(b.extent);
    require(rows == summed, target + " in passing is a sum over other rows");
  }

  const System& system_;
  const Kernel& kernel_;
  std::size_t number_;
};

}  // namespace

void require_of_plan(bool holds, std::size_t number, const std::string& what) {
  if (!holds) throw InternalError("plan: kernel " + std::to_string(number) + ": " + what);
}

void check_form(const System& system, const Kernel& kernel, std::size_t number) { KernelForm(system, kernel, number).check(); }

}  // namespace etalon::compiled
