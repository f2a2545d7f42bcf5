#include <algorithm>
#include <bit>
#include <cstdint>

#include "compiled/ir/contraction.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/schedule/strips.hpp"

namespace etalon::compiled {

namespace {

/// Threads of a block, for all tiles of a kernel.
constexpr std::int64_t threads_of_strip = 128;
constexpr std::int64_t most_columns_of_strip = 128;

/// A tile of a strip's rows on a grid, and what of it each thread has: neighbouring columns first, which are read together.
void share_strip(Schedule& s, const Contraction& c, std::int64_t columns) {
  const std::int64_t most = c.type == DType::f64 ? most_columns_of_strip / 2 : most_columns_of_strip;
  s.tile_columns = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(columns))), threads_of_strip / s.tile_rows, most);
  const std::int64_t sums = s.tile_rows * s.tile_columns / threads_of_strip;
  s.fragments = nullptr;  // of the few sums that a thread has of a strip none is made
  s.shared->columns = std::min<std::int64_t>(4, sums);
  s.shared->rows = sums / s.shared->columns;
}

}  // namespace

std::string fit_strips(const System& system, Schedule& s, const Strip& strip, const Equation& equation, const Contraction& c, const std::unordered_set<TensorId>& written) {
  const auto reads_written = [&](const Expr& factor) { return holds(factor, [&](const Expr& x) { return x.form() == Form::read && written.contains(x->tensor); }); };
  if (s.row != strip.shared.back()) return "a contraction in plain loops: its rows are not those of the strips";
  if (std::find(strip.shared.begin(), strip.shared.end(), s.column) != strip.shared.end()) return "a contraction in plain loops: its columns are a loop of the strips";
  if (reads_written(c.right) || (c.guard.valid() && reads_written(c.guard))) return "a contraction in plain loops: its columns are computed in strips";
  if (reads_written(c.left)) {
    if (c.left.form() != Form::read || system[c.left->tensor].dtype != c.type) return "a contraction in plain loops: its rows are not read where they lie";
    s.left = {Layout::in_place, "rows of the strip"};
  }
  s.tile_rows = strip.tile_rows;
  if (s.shared) share_strip(s, c, equation.binders[s.column].extent);
  s.block_rows = strip.rows / strip.tile_rows;
  s.block_columns = parts(equation.binders[s.column].extent, s.tile_columns);
  s.columns_outside = false;
  s.fetch_ahead = s.fetch_ahead && s.block_rows >= s.tile_columns / s.lanes;
  s.reason += "; blocks are strips";
  return {};
}

}  // namespace etalon::compiled
