/// \file
/// A loop that counts, and what is done under a condition, as LLVM blocks.
#pragma once

#include <functional>

#include <llvm/IR/IRBuilder.h>

namespace etalon::compiled {

/// Emits `body` for every i with begin <= i < end. What `body` leaves in stack slots is carried on.
void count_up(llvm::IRBuilder<>& b, llvm::Value* begin, llvm::Value* end, const std::function<void(llvm::Value* i)>& body);

/// Emits `body` where the condition holds, in a block of that name.
void only_if(llvm::IRBuilder<>& b, llvm::Value* condition, const char* name, const std::function<void()>& body);

}  // namespace etalon::compiled
