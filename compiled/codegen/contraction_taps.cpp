// Steps of the depth that are written out one by one, and the conditions under which their terms count.
#include <algorithm>

#include <llvm/IR/InlineAsm.h>

#include "compiled/codegen/contraction_emitter.hpp"
#include "compiled/schedule/windows.hpp"

namespace etalon::compiled {

using llvm::Value;
using spec::Expr;

/// Every step of the loops that are written out, and what its terms are asked for.
void ContractionEmitter::find_taps() {
  if (s_.depth.taps == c_.depth.size()) return;
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

/// All steps that are written out, one after the other; those that count for no row are jumped over.
void ContractionEmitter::write_out(const Tile& t, const Sources& from) {
  for (std::size_t i = 0; i < taps_.size();) {
    llvm::BasicBlock* after = nullptr;
    Value* counts = taps_[i].counts;
    if (counts != nullptr) {
      auto* then = llvm::BasicBlock::Create(b_.getContext(), "taps", &function_);
      after = llvm::BasicBlock::Create(b_.getContext(), "after", &function_);
      b_.CreateCondBr(counts, then, after);
      b_.SetInsertPoint(then);
    }
    for (; i < taps_.size() && taps_[i].counts == counts; ++i) {
      Sources here = from;
      for (Source* source : {&here.left, &here.right, &here.guard}) {
        if (source->begin == nullptr) continue;
        std::int64_t offset = 0;
        for (std::size_t l = 0; l < taps_[i].at.size(); ++l) offset += taps_[i].at[l] * source->depth[s_.depth.taps + l];
        source->begin = advanced(source->begin, offset);
      }
      keep_loads_here();
      one_step(t, here, taps_[i].rows);
    }
    if (after == nullptr) continue;
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }
}

}  // namespace etalon::compiled
