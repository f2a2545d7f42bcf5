/// \file
/// Squares of elements in vector registers. It knows no loops.
#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

namespace etalon::compiled {

/// Makes row i of the square column i: blocks of 1, 2, 4, … elements change places across the diagonal. There are as many
/// rows as a row has elements, a power of two.
void change_places(llvm::IRBuilder<>& b, std::vector<llvm::Value*>& rows);

/// The first `count` of `width` lanes.
[[nodiscard]] llvm::Constant* first_lanes(llvm::IRBuilder<>& b, unsigned width, unsigned count);

}  // namespace etalon::compiled
