#include "compiled/emit/llvm/squares.hpp"

#include <llvm/IR/Constants.h>

namespace etalon::compiled {

void change_places(llvm::IRBuilder<>& b, std::vector<llvm::Value*>& rows) {
  const int n = static_cast<int>(rows.size());
  for (int block = 1; block < n; block *= 2) {
    std::vector<int> upper;
    std::vector<int> lower;
    for (int i = 0; i < n; ++i) {
      upper.push_back((i & block) == 0 ? i : n + i - block);
      lower.push_back((i & block) == 0 ? i + block : n + i);
    }
    for (int i = 0; i < n; ++i) {
      if ((i & block) != 0) continue;
      llvm::Value*& first = rows[static_cast<std::size_t>(i)];
      llvm::Value*& second = rows[static_cast<std::size_t>(i + block)];
      llvm::Value* above = b.CreateShuffleVector(first, second, upper);
      second = b.CreateShuffleVector(first, second, lower);
      first = above;
    }
  }
}

llvm::Constant* first_lanes(llvm::IRBuilder<>& b, unsigned width, unsigned count) {
  std::vector<llvm::Constant*> lanes;
  for (unsigned i = 0; i < width; ++i) lanes.push_back(b.getInt1(i < count));
  return llvm::ConstantVector::get(lanes);
}

}  // namespace etalon::compiled
