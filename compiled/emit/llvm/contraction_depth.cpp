// The depth of a tile: blocks of terms in sequence, whose sums wait as the digits of their number say.
#include <array>

#include "compiled/emit/llvm/contraction_emitter.hpp"
#include "compiled/emit/llvm/counting.hpp"

namespace etalon::compiled {

using llvm::Value;

Value* ContractionEmitter::advanced(Value* pointer, Value* by, std::int64_t stride) {
  return b_.CreateInBoundsGEP(scalar_, pointer, b_.CreateNSWMul(by, number(stride)));
}

Value* ContractionEmitter::advanced(Value* pointer, std::int64_t by) {
  return by == 0 ? pointer : b_.CreateInBoundsGEP(scalar_, pointer, number(by));
}

/// The sources after so many turns of one loop.
ContractionEmitter::Sources ContractionEmitter::advanced(Sources from, std::size_t level, Value* by) {
  for (Source* source : {&from.left, &from.right, &from.guard}) {
    if (source->begin != nullptr) source->begin = advanced(source->begin, by, source->depth[level]);
  }
  return from;
}

/// The vectors of one step.
std::vector<Value*> ContractionEmitter::columns(const Tile& t, const Source& from) {
  std::vector<Value*> vectors;
  for (unsigned v = 0; v < t.vectors; ++v) {
    Value* at = advanced(from.begin, static_cast<std::int64_t>(v) * s_.lanes * terms_);
    // A panel goes on beyond the last column.
    llvm::Constant* lanes = from.next != 0 ? nullptr : lanes_of(t, v);
    vectors.push_back(emitter_.load(columns_, at, scalar_align(), lanes, llvm::Constant::getNullValue(columns_)));
  }
  return vectors;
}

/// Adds the products of one step of the depth; those of a row only where it counts.
void ContractionEmitter::one_step(const Tile& t, const Sources& from, const std::vector<Value*>& rows) {
  const std::vector<Value*> right = columns(t, from.right);
  std::vector<Value*> counts;
  if (from.guard.begin != nullptr) counts = columns(t, from.guard);
  for (Value*& c : counts) c = b_.CreateFCmpUNE(c, llvm::Constant::getNullValue(vector_));
  for (std::int64_t r = 0; r < t.rows; ++r) {
    Value* one = emitter_.load(step_, advanced(from.left.begin, r * from.left.along), scalar_align());
    Value* row = b_.CreateBitCast(b_.CreateVectorSplat(s_.lanes, one), columns_);
    Value* row_counts = rows.empty() ? nullptr : rows[static_cast<std::size_t>(r)];
    for (unsigned v = 0; v < t.vectors; ++v) {
      add_term(static_cast<std::size_t>(r) * t.vectors + v, row, right[v], counts.empty() ? row_counts : counts[v]);
    }
  }
}

llvm::Align ContractionEmitter::scalar_align() const { return llvm::Align(scalar_->getPrimitiveSizeInBits() / 8); }

/// Adds the terms of a step to a sum where they count; null: everywhere.
void ContractionEmitter::add_term(std::size_t i, Value* row, Value* column, Value* counts) {
  Value* old = b_.CreateLoad(vector_, sum(i));
  if (s_.adder != nullptr) {
    std::vector<Value*> values(s_.adder->operands.size());
    const std::array<Value*, 3> roles{row, column, old};
    for (std::size_t role = 0; role < roles.size(); ++role) values[s_.adder->operands[role]] = roles[role];
    b_.CreateStore(emitter_.write(*s_.adder->instruction, vector_, values), sum(i));
    return;
  }
  std::vector<Value*> values;
  for (const spec::Expr& operand : add_product_.operands) values.push_back(operand == c_.left ? row : operand == c_.right ? column : old);
  Value* added = emitter_.write(*add_product_.instruction, vector_, values);
  b_.CreateStore(counts == nullptr ? added : b_.CreateSelect(counts, added, old), sum(i));
}

/// The same step of every block that is added up at the same time.
void ContractionEmitter::one_step_of_each_block(const Tile& t, const Sources& from) {
  for (side_ = 0; side_ < static_cast<std::size_t>(s_.side_by_side); ++side_) {
    Value* turns = number(static_cast<std::int64_t>(side_) * s_.depth.turns);
    one_step(t, side_ == 0 ? from : advanced(from, s_.depth.level, turns), {});
  }
  side_ = 0;
}

void ContractionEmitter::fetch(Value* step) {
  if (ahead_ != nullptr) emitter_.prefetch(advanced(ahead_, step, s_.lanes * terms_));
}

/// Turns of the innermost loop, several steps at a time.
void ContractionEmitter::steps(const Tile& t, const Sources& from, Value* begin, Value* end) {
  const std::size_t level = loops_ - 1;
  const auto step = [&](const Sources& here, Value* at) {
    fetch(at);
    one_step_of_each_block(t, here);
  };
  if (s_.unroll == 1) return count_up(b_, begin, end, [&](Value* i) { step(advanced(from, level, i), i); });
  Value* whole = b_.CreateSDiv(b_.CreateNSWSub(end, begin), number(s_.unroll));
  count_up(b_, number(0), whole, [&](Value* turn) {
    Value* first = b_.CreateNSWAdd(begin, b_.CreateNSWMul(turn, number(s_.unroll)));
    const Sources here = advanced(from, level, first);
    for (std::int64_t u = 0; u < s_.unroll; ++u) step(advanced(here, level, number(u)), b_.CreateNSWAdd(first, number(u)));
  });
  const bool even = c_.depth[level].extent % s_.unroll == 0 && (s_.depth.level != level || s_.depth.turns % s_.unroll == 0);
  if (even) return;
  Value* rest = b_.CreateNSWAdd(begin, b_.CreateNSWMul(whole, number(s_.unroll)));
  count_up(b_, rest, end, [&](Value* i) { step(advanced(from, level, i), i); });
}

/// Turns of one loop, each with everything inside.
void ContractionEmitter::turns(const Tile& t, const Sources& from, std::size_t level, Value* begin, Value* end) {
  if (level + 1 == loops_) return steps(t, from, begin, end);
  count_up(b_, begin, end, [&](Value* i) { loop(t, advanced(from, level, i), level + 1); });
}

/// A loop of the depth and those inside it. The one whose turns fall into blocks begins each of them at zero.
void ContractionEmitter::loop(const Tile& t, const Sources& from, std::size_t level) {
  if (level >= s_.depth.taps) return write_out(t, from);
  const std::int64_t extent = c_.depth[level].extent;
  if (level != s_.depth.level || s_.depth.blocks == 1) return turns(t, from, level, number(0), number(extent));
  const std::int64_t blocks = (extent + s_.depth.turns - 1) / s_.depth.turns;
  const auto sides = static_cast<std::size_t>(s_.side_by_side);
  count_up(b_, number(0), number(blocks / s_.side_by_side), [&](Value* block) {
    for (side_ = 0; side_ < sides; ++side_) clear(t);
    side_ = 0;
    Value* begin = b_.CreateNSWMul(block, number(s_.depth.turns * s_.side_by_side));
    turns(t, from, level, begin, clipped(b_.CreateNSWAdd(begin, number(s_.depth.turns)), extent, false));
    for (side_ = 0; side_ < sides; ++side_) carry(t);
    // The sum of the last block stays where it is.
    side_ = sides - 1;
  });
}

void ContractionEmitter::clear(const Tile& t) {
  for (std::size_t i = 0; i < t.sums(); ++i) b_.CreateStore(llvm::Constant::getNullValue(vector_), sum(i));
}

/// All the depth, into the sums.
void ContractionEmitter::add_up(const Tile& t, const Sources& from) {
  side_ = 0;
  clear(t);
  if (s_.depth.blocks > 1) b_.CreateStore(number(0), block_);
  loop(t, from, 0);
  if (s_.depth.blocks > 1) join_all(t);
}

Value* ContractionEmitter::waiting(const Tile& t, Value* digit, std::size_t i) {
  Value* first = b_.CreateNSWMul(digit, number(static_cast<std::int64_t>(t.sums())));
  return b_.CreateInBoundsGEP(vector_, waiting_, b_.CreateNSWAdd(first, number(static_cast<std::int64_t>(i))));
}

void ContractionEmitter::join(const Tile& t, Value* digit) {
  for (std::size_t i = 0; i < t.sums(); ++i) {
    Value* joined = emitter_.add(b_.CreateLoad(vector_, waiting(t, digit, i)), b_.CreateLoad(vector_, sum(i)));
    b_.CreateStore(joined, sum(i));
  }
}

/// The sum of the block at hand meets those of its size that wait, and waits; that of the last block stays in registers.
void ContractionEmitter::carry(const Tile& t) {
  Value* block = b_.CreateLoad(b_.getInt64Ty(), block_);
  auto* waits = llvm::BasicBlock::Create(b_.getContext(), "waits", &function_);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "after", &function_);
  b_.CreateCondBr(b_.CreateICmpEQ(block, number(s_.depth.blocks - 1)), after, waits);
  b_.SetInsertPoint(waits);
  Value* digits = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt64Ty()}, {b_.CreateNot(block), b_.getFalse()});
  count_up(b_, number(0), digits, [&](Value* digit) { join(t, digit); });
  for (std::size_t i = 0; i < t.sums(); ++i) b_.CreateStore(b_.CreateLoad(vector_, sum(i)), waiting(t, digits, i));
  b_.CreateStore(b_.CreateNSWAdd(block, number(1)), block_);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

/// The last block's sum meets all that wait, the smallest first.
void ContractionEmitter::join_all(const Tile& t) {
  const auto waiting_blocks = static_cast<std::uint64_t>(s_.depth.blocks - 1);
  for (std::int64_t digit = 0; waiting_blocks >> digit != 0; ++digit) {
    if ((waiting_blocks >> digit & 1) != 0) join(t, number(digit));
  }
}

}  // namespace etalon::compiled
