/// \file
/// A loop that counts, as LLVM blocks.
#pragma once

#include <functional>

#include <llvm/IR/IRBuilder.h>

namespace etalon::compiled {

/// Emits `body` for every i with begin <= i < end. What `body` leaves in stack slots is carried on.
void count_up(llvm::IRBuilder<>& b, llvm::Value* begin, llvm::Value* end, const std::function<void(llvm::Value* i)>& body);

}  // namespace etalon::compiled
