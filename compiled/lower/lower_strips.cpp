// A kernel of strips: loops over the outer axes and over strips of rows around tiles and loops over a strip's rows.
#include <algorithm>
#include <utility>

#include "compiled/lower/lowering.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled::loops {

using spec::Equation;

/// Where memory of a strip has the shared loops.
void Lowering::note_rows(const Kernel& kernel) {
  for (const Statement& s : kernel.statements) {
    const Equation& e = system_.equations.at(s.equation);
    std::vector<std::size_t>& axes = rows_->axes[e.target];
    for (const std::size_t b : s.shared) {
      const auto at = std::find_if(e.place.begin(), e.place.end(), [&](const Expr& p) { return p == spec::variable(e.binders[b]); });
      axes.push_back(static_cast<std::size_t>(at - e.place.begin()));
    }
  }
}

/// Statements that are not tiles, one after the other for each row of the strip.
void Lowering::lower_rows(const Kernel& kernel, std::size_t begin, std::size_t end) {
  const Binder& row = shared_.back();
  const std::int64_t rows = std::min(kernel.strips->rows, row.extent);
  const Binder local{next_++, rows, "row"};
  open(local);
  if (row.extent % rows != 0) open_.back().loop.limit = spec::integer(row.extent) - rows_->first;
  rows_->local = spec::variable(local);
  for (std::size_t s = begin; s < end; ++s) {
    lower_inner(kernel, kernel.statements[s], false);
    lanes_ = {};
  }
  rows_->local = {};
  close();
}

/// The rows of a strip of a contraction, all of them where `strip` is empty.
void Lowering::lower_tiles(const Kernel& kernel, std::size_t statement, const Schedule& with, const Expr& strip) {
  const Equation e = aligned(kernel, kernel.statements[statement]);
  start(e);
  std::vector<Binder> own;
  for (std::size_t b = 0; b < e.binders.size(); ++b) {
    if (b != with.row && b != with.column && !is_shared(e.binders[b])) own.push_back(e.binders[b]);
  }
  for (const Binder& b : own) open(b);
  Contract tiles = tiles_of(e, with);
  if (strip.valid()) tiles.first_row = strip * spec::integer(with.block_rows);
  if (const auto wanted = kernel.strips->wanted.find(statement); wanted != kernel.strips->wanted.end()) {
    const std::vector<Binder>& named = system_.equations.at(kernel.statements[statement].equation).binders;
    spec::Substitution by;
    for (std::size_t b = 0; b < named.size(); ++b) by.emplace(named[b].variable, spec::variable(e.binders[b]));
    tiles.wanted = spec::substitute(wanted->second, by);
  }
  append_tiles(std::move(tiles), e, [&] { assign(e); });
  for (std::size_t b = 0; b < own.size(); ++b) close();
}

void Lowering::lower_strips(const Kernel& kernel) {
  share(kernel);
  const std::int64_t strips = parts(shared_.back().extent, kernel.strips->rows);
  const Binder strip{next_++, strips, "strip"};
  std::vector<Binder> outer(shared_.begin(), shared_.end() - 1);
  std::stable_sort(outer.begin(), outer.end(), [](const Binder& a, const Binder& b) { return a.extent > b.extent; });
  // The outermost loop is shared among threads; strips inside of the others read the same factors one after the other.
  const bool few = outer.empty() || outer.front().extent < threshold("least_turns");
  if (strips > 1) outer.insert(few ? outer.begin() : outer.end(), strip);
  for (const Binder& b : outer) open(b);
  rows_.emplace();
  rows_->first = strips > 1 ? spec::variable(strip) * spec::integer(kernel.strips->rows) : spec::integer(0);
  note_rows(kernel);
  const auto& schedules = kernel.strips->schedules;
  for (std::size_t s = 0; s < kernel.statements.size();) {
    const auto schedule = schedules.find(s);
    if (schedule == schedules.end()) {
      const auto next = schedules.upper_bound(s);
      const std::size_t end = next == schedules.end() ? kernel.statements.size() : next->first;
      lower_rows(kernel, s, end);
      s = end;
      continue;
    }
    lower_tiles(kernel, s++, schedule->second, strips > 1 ? spec::variable(strip) : Expr{});
  }
  for (std::size_t i = 0; i < outer.size(); ++i) close();
  rows_.reset();
}

}  // namespace etalon::compiled::loops
