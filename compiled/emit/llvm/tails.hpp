/// \file
/// The last vector of a row, of which only the first lanes are elements. It knows no loops.
#pragma once

#include <optional>
#include <vector>

#include <llvm/IR/IRBuilder.h>

namespace etalon::compiled {

/// How many lanes a constant mask lets through, if they are the first ones; nothing for a mask that is not constant or has
/// gaps.
[[nodiscard]] std::optional<unsigned> first_lanes_of(const llvm::Value* mask);

/// Lanes that are stored together, and where.
struct TailPiece {
  llvm::Value* vector = nullptr;
  llvm::Value* at = nullptr;
};

/// The first `count` lanes of a vector, at least one, as one or two narrower vectors, to be stored in this order and not under a mask:
/// until a store under a mask has left for the cache, processors let loads wait that touch any byte of its whole width, as those of
/// the next row do when rows are written in the place of others. Where the second begins within the first, both have the same.
[[nodiscard]] std::vector<TailPiece> tail_pieces(llvm::IRBuilder<>& b, llvm::Value* vector, unsigned count, llvm::Value* first);

}  // namespace etalon::compiled
