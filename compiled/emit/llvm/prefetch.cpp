#include "compiled/emit/llvm/prefetch.hpp"

namespace etalon::compiled {

void prefetch(llvm::IRBuilder<>& builder, llvm::Value* at, bool write) {
  constexpr unsigned second_cache = 2;
  constexpr unsigned nearest_cache = 3;  // the one that is asked for where lines are to be written
  constexpr unsigned data = 1;
  builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder.getPtrTy()},
                          {at, builder.getInt32(write ? 1 : 0), builder.getInt32(write ? nearest_cache : second_cache), builder.getInt32(data)});
}

}  // namespace etalon::compiled
