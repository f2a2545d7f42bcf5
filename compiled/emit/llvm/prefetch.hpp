/// \file
/// Memory that is asked for before it is needed.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace etalon::compiled {

/// Brings the line at an address into the second cache, to be read, or also written, soon. Any address will do.
void prefetch(llvm::IRBuilder<>& builder, llvm::Value* at, bool write = false);

}  // namespace etalon::compiled
