// Long sums: blocks of terms in sequence, joined by a balanced tree, so that the contract can declare a height.
#include <bit>

#include "compiled/emit/llvm/counting.hpp"
#include "compiled/emit/llvm/nest_parts.hpp"

namespace etalon::compiled {

/// Room for the blocks of a chain, where the tree has any.
std::optional<NestEmitter::Blocks> NestEmitter::blocks_in(const Reduce& r, const Partial& partial) {
  if (!r.tree.blocks) return std::nullopt;
  Blocks blocks;
  blocks.of = *r.tree.blocks;
  blocks.digits = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(count_of(blocks.of, r.loops))));
  const std::uint64_t element = partial.width * (partial.type == Type::f64 ? sizeof(double) : sizeof(float));
  blocks.sums = borrow(static_cast<std::uint64_t>(blocks.digits) * element);
  blocks.count = variable(b_.getInt64Ty(), b_.getInt64(0));
  return blocks;
}

/// The loop that falls into blocks: each is added up from zero.
void NestEmitter::in_blocks(const Reduce& r, const Step& s, const Partial& partial) {
  const Blocks& blocks = *partial.blocks;
  const Loop& loop = r.loops[blocks.of.level];
  const std::int64_t turns = blocks_of(loop);
  const auto constant = [&](std::int64_t v) { return b_.getInt64(static_cast<std::uint64_t>(v)); };
  count(constant(0), constant((turns + blocks.of.turns - 1) / blocks.of.turns), [&](Value* block) {
    b_.CreateStore(neutral(r, partial.type, partial.width), partial.best);
    Value* begin = b_.CreateNSWMul(block, constant(blocks.of.turns));
    Value* end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateNSWAdd(begin, constant(blocks.of.turns)), constant(turns));
    iterate(loop, begin, end, [&] {
      steps(loop.steps);
      inside(r, blocks.of.level + 1, s, partial);
    });
    end_block(partial);
  });
}

/// Sums of 2^k blocks wait for another of their size, as the digits of the number of blocks do: a balanced tree.
void NestEmitter::end_block(const Partial& partial) {
  llvm::LLVMContext& context = b_.getContext();
  llvm::Type* element = emitter_.llvm_type(partial.type, partial.width);
  Value* number = b_.CreateLoad(b_.getInt64Ty(), partial.blocks->count);
  Value* sum = b_.CreateLoad(element, partial.best);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(context, "carry", &function_);
  auto* join = llvm::BasicBlock::Create(context, "join", &function_);
  auto* after = llvm::BasicBlock::Create(context, "after", &function_);
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* digit = b_.CreatePHI(b_.getInt64Ty(), 2);
  llvm::PHINode* carried = b_.CreatePHI(element, 2);
  Value* place = b_.CreateInBoundsGEP(element, partial.blocks->sums, digit);
  Value* waiting = b_.CreateTrunc(b_.CreateLShr(number, digit), b_.getInt1Ty());
  b_.CreateCondBr(waiting, join, after);
  b_.SetInsertPoint(join);
  Value* both = emitter_.add(b_.CreateLoad(element, place), carried);
  digit->addIncoming(b_.getInt64(0), before);
  digit->addIncoming(b_.CreateNSWAdd(digit, b_.getInt64(1)), join);
  carried->addIncoming(sum, before);
  carried->addIncoming(both, join);
  b_.CreateBr(head);
  b_.SetInsertPoint(after);
  b_.CreateStore(carried, place);
  b_.CreateStore(b_.CreateNSWAdd(number, b_.getInt64(1)), partial.blocks->count);
  emitter_.forget();
}

/// The sum of what waits, smallest first.
void NestEmitter::join_blocks(const Partial& partial) {
  llvm::Type* element = emitter_.llvm_type(partial.type, partial.width);
  Value* number = b_.CreateLoad(b_.getInt64Ty(), partial.blocks->count);
  Value* digits = b_.getInt64(static_cast<std::uint64_t>(partial.blocks->digits));
  b_.CreateStore(llvm::Constant::getNullValue(element), partial.best);
  count(b_.getInt64(0), digits, [&](Value* digit) {
    Value* waiting = b_.CreateTrunc(b_.CreateLShr(number, digit), b_.getInt1Ty());
    Value* sum = b_.CreateLoad(element, partial.best);
    // What waits nowhere was never written.
    Value* place = b_.CreateInBoundsGEP(element, partial.blocks->sums, digit);
    only_if(b_, waiting, "add", [&] { b_.CreateStore(emitter_.add(b_.CreateLoad(element, place), sum), partial.best); });
  });
}

}  // namespace etalon::compiled
