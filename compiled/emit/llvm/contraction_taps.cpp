// Steps of the depth that are written out one by one, and the conditions under which their terms count.
#include <algorithm>

#include <llvm/IR/InlineAsm.h>

#include "compiled/emit/llvm/contraction_emitter.hpp"
#include "compiled/emit/llvm/counting.hpp"
#include "compiled/ir/windows.hpp"

namespace etalon::compiled {

using llvm::Value;
using spec::Expr;

/// Every step of the loops that are written out, and what its terms are asked for.
void ContractionEmitter::find_taps() {
  if (s_.depth.taps == loops_) return;
  Tap tap;
  tap.at.assign(c_.depth.size() - s_.depth.taps, 0);
  for (;;) {
    spec::Substitution by;
    for (std::size_t l = 0; l < tap.at.size(); ++l) by.emplace(c_.depth[s_.depth.taps + l].variable, spec::integer(tap.at[l]));
    tap.conditions.clear();
    if (c_.taps.valid()) {
      for (const Expr& e : conditions_of(c_.taps)) tap.conditions.push_back(spec::substitute(e, by));
    }
    taps_.push_back(tap);
    std::size_t l = tap.at.size();
    while (l > 0 && ++tap.at[l - 1] == c_.depth[s_.depth.taps + l - 1].extent) tap.at[--l] = 0;
    if (l == 0) return;
  }
}

/// Whether a condition fails anywhere in this row of a tile of that height, wherever the tile is.
bool ContractionEmitter::may_fail(const Expr& condition, std::int64_t row, std::int64_t height) const {
  loops::Affine a = *at_least_zero(condition);
  std::int64_t least = a.constant;
  for (const auto& [v, c] : a.variables) {
    if (v == c_.row.variable) {
      const bool cut = height != s_.tile_rows;
      const std::int64_t last = (c_.row.extent / s_.tile_rows) - (cut ? 0 : 1);
      const std::int64_t first = cut ? last : 0;
      least += c * ((c < 0 ? last : first) * s_.tile_rows + row);
    } else {
      least += std::min<std::int64_t>(0, c) * (emitter_.extent(v) - 1);
    }
  }
  return least < 0;
}

Value* ContractionEmitter::all_of(const std::vector<Expr>& conditions) {
  Value* all = nullptr;
  for (const Expr& e : conditions) all = emitter_.both(all, emitter_.emit(e, nullptr));
  return all;
}

/// The conditions of the tile at hand, asked once before its depth.
void ContractionEmitter::ask_taps(const Tile& t, Value* row_tile) {
  if (!c_.taps.valid()) return;
  Value* first = b_.CreateNSWMul(row_tile, number(s_.tile_rows));
  const Tap* before = nullptr;
  for (Tap& tap : taps_) {
    std::vector<Expr> of_rows;
    tap.asked.clear();
    for (const Expr& e : tap.conditions) {
      if (loops::mentions(e, c_.row.variable)) of_rows.push_back(e);
      else if (may_fail(e, 0, t.rows)) tap.asked.push_back(e);
    }
    tap.counts = before != nullptr && before->asked == tap.asked ? before->counts : all_of(tap.asked);
    before = &tap;
    tap.rows.clear();
    for (std::int64_t r = 0; r < t.rows; ++r) {
      std::vector<Expr> open = of_rows;
      std::erase_if(open, [&](const Expr& e) { return !may_fail(e, r, t.rows); });
      emitter_.bind(c_.row.variable, b_.CreateNSWAdd(first, number(r)), c_.row.extent);
      emitter_.forget();
      Value* counts = all_of(open);
      tap.rows.push_back(counts == nullptr ? nullptr : b_.CreateVectorSplat(s_.lanes, counts));
    }
    if (std::all_of(tap.rows.begin(), tap.rows.end(), [](Value* v) { return v == nullptr; })) tap.rows.clear();
  }
  emitter_.bind(c_.row.variable, first, c_.row.extent);
  emitter_.forget();
}

/// Neighbouring steps read the same elements. To keep those in registers for the next step would cost those of the sums, so
/// no load moves past this point.
void ContractionEmitter::keep_loads_here() {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {}, false);
  constexpr bool has_side_effects = true;
  b_.CreateCall(llvm::InlineAsm::get(type, "", "~{memory}", has_side_effects));
}

/// The factors at a step that is written out.
ContractionEmitter::Sources ContractionEmitter::at_tap(Sources from, const Tap& tap) {
  for (Source* source : {&from.left, &from.right, &from.guard}) {
    if (source->begin == nullptr) continue;
    std::int64_t offset = 0;
    for (std::size_t l = 0; l < tap.at.size(); ++l) offset += tap.at[l] * source->depth[s_.depth.taps + l];
    source->begin = advanced(source->begin, offset);
  }
  return from;
}

/// How many steps from the first on, neighbours in the innermost loop and asked for the same, read each other's numbers.
std::size_t ContractionEmitter::sharing(const Tile& t, const Sources& from, std::size_t first) const {
  if (s_.shared_taps == 1 || t.vectors != 1 || from.guard.begin != nullptr) return 1;
  std::size_t n = 1;
  while (n < static_cast<std::size_t>(s_.shared_taps) && first + n < taps_.size() && taps_[first + n].at.back() != 0 &&
         taps_[first + n].counts == taps_[first].counts) {
    ++n;
  }
  return n;
}

/// Steps that slide along the rows: each number is loaded once and used by every row that needs it, in the order in which
/// each row needs its own.
void ContractionEmitter::steps_that_share(const Tile& t, const Sources& from, std::span<const Tap> taps) {
  const std::int64_t by = from.left.depth.back() / from.left.along;
  const std::int64_t last = static_cast<std::int64_t>(taps.size()) - 1;
  std::vector<Value*> right;
  for (const Tap& tap : taps) right.push_back(columns(t, at_tap(from, tap).right).front());
  Value* begin = at_tap(from, taps.front()).left.begin;
  const std::int64_t low = std::min<std::int64_t>(0, by * last);
  const std::int64_t high = std::max<std::int64_t>(0, by * last) + t.rows;
  for (std::int64_t i = 0; i < high - low; ++i) {
    const std::int64_t number = by > 0 ? low + i : high - 1 - i;
    Value* row = nullptr;
    for (std::size_t k = 0; k < taps.size(); ++k) {
      const std::int64_t r = number - by * static_cast<std::int64_t>(k);
      if (r < 0 || r >= t.rows) continue;
      if (row == nullptr) row = b_.CreateVectorSplat(s_.lanes, emitter_.load(step_, advanced(begin, number * from.left.along), scalar_align()));
      add_term(static_cast<std::size_t>(r), row, right[k], taps[k].rows.empty() ? nullptr : taps[k].rows[static_cast<std::size_t>(r)]);
    }
  }
}

/// All steps that are written out, one after the other; those that count for no row are jumped over.
void ContractionEmitter::write_out(const Tile& t, const Sources& from) {
  for (std::size_t i = 0; i < taps_.size();) {
    Value* counts = taps_[i].counts;
    const auto all_that_count_so = [&] {
      while (i < taps_.size() && taps_[i].counts == counts) {
        keep_loads_here();
        const std::size_t n = sharing(t, from, i);
        if (n > 1) steps_that_share(t, from, std::span(taps_).subspan(i, n));
        else one_step(t, at_tap(from, taps_[i]), taps_[i].rows);
        i += n;
      }
    };
    if (counts == nullptr) all_that_count_so();
    else only_if(b_, counts, "taps", all_that_count_so);
  }
}

}  // namespace etalon::compiled
