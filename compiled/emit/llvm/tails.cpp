#include "compiled/emit/llvm/tails.hpp"

#include <bit>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>

namespace etalon::compiled {

using llvm::Value;

std::optional<unsigned> first_lanes_of(const Value* mask) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (constant == nullptr || type == nullptr) return std::nullopt;
  unsigned count = 0;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const auto* here = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(lane));
    if (here == nullptr) return std::nullopt;
    if (here->isZero()) continue;
    if (count++ != lane) return std::nullopt;
  }
  return count;
}

std::vector<TailPiece> tail_pieces(llvm::IRBuilder<>& b, Value* vector, unsigned count, Value* first) {
  llvm::Type* element = vector->getType()->getScalarType();
  std::vector<TailPiece> pieces;
  const auto piece = [&](unsigned begin, unsigned lanes) {
    Value* at = b.CreateConstInBoundsGEP1_64(element, first, begin);
    pieces.push_back({b.CreateShuffleVector(vector, llvm::createSequentialMask(begin, lanes, 0)), at});
  };
  const unsigned low = std::bit_floor(count);
  piece(0, low);
  if (low == count) return pieces;
  const unsigned high = std::bit_ceil(count - low);
  piece(count - high, high);
  return pieces;
}

}  // namespace etalon::compiled
