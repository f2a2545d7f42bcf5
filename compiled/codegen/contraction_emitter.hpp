/// \file
/// A block of a contraction as register tiles. It knows loops and addresses of factors; what is done with a finished
/// element is the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compiled/codegen/emitter.hpp"
#include "compiled/loops/nest.hpp"

namespace etalon::compiled {

/// Emits tiles for one `Contract` at the emitter's place.
class ContractionEmitter {
 public:
  /// \param element emits the steps of the current element of the tile, for one vector of columns.
  ContractionEmitter(llvm::Function& function, Emitter& emitter, const spec::System& system, const loops::Contract& c,
                     Type real, std::function<void()> element);

  void run();

 private:
  /// Numbers that are added up together: all its rows are there, and of its last vector so many columns.
  struct Tile {
    std::int64_t rows = 0;
    unsigned vectors = 0;
    unsigned last = 0;
    [[nodiscard]] std::size_t sums() const { return static_cast<std::size_t>(rows) * vectors; }
  };
  /// Where a factor of a tile begins and how far its elements are apart.
  struct Source {
    llvm::Value* begin = nullptr;
    std::int64_t along = 0;
    std::int64_t depth = 0;
    std::int64_t next = 0;  ///< elements from one panel to the next; 0 without panels
  };

  struct Sources {
    Source left;
    Source right;
    Source guard;  ///< begins nowhere when every term counts
  };

  void panels(llvm::Value* begin, llvm::Value* end, unsigned vectors, unsigned last);
  void tile(const Tile& t, llvm::Value* row_tile, llvm::Value* column_tile);
  void add_up(const Tile& t, const Sources& from);
  void turns(const Tile& t, const Sources& from, llvm::Value* first, llvm::Value* count);
  void one_step(const Tile& t, const Sources& from, std::int64_t step);
  [[nodiscard]] std::vector<llvm::Value*> columns(const Tile& t, const Source& from, std::int64_t step);
  void fetch(llvm::Value* step);
  void carry(const Tile& t, llvm::Value* block);
  void join(const Tile& t, llvm::Value* digit);
  void elements(const Tile& t, llvm::Value* row_tile, llvm::Value* column_tile);

  [[nodiscard]] Source source(const spec::Expr& read, const loops::Binder& along);
  [[nodiscard]] llvm::Value* advanced(llvm::Value* pointer, llvm::Value* by, std::int64_t stride);
  [[nodiscard]] llvm::Value* advanced(llvm::Value* pointer, std::int64_t by);
  [[nodiscard]] llvm::Value* next_panel(const Tile& t, const Source& right, llvm::Value* row_tile, llvm::Value* column_tile);
  [[nodiscard]] llvm::Value* waiting(const Tile& t, llvm::Value* digit, std::size_t i);
  [[nodiscard]] llvm::Constant* lanes_of(const Tile& t, unsigned vector);
  [[nodiscard]] llvm::Value* clipped(llvm::Value* value, std::int64_t low, bool at_least);
  [[nodiscard]] llvm::ConstantInt* number(std::int64_t v) { return b_.getInt64(static_cast<std::uint64_t>(v)); }

  llvm::Function& function_;
  Emitter& emitter_;
  const spec::System& system_;
  const loops::Contract& c_;
  const Schedule& s_;
  Type real_;
  std::function<void()> element_;
  llvm::IRBuilder<>& b_;
  llvm::Type* scalar_;
  llvm::Type* vector_;
  llvm::AllocaInst* waiting_ = nullptr;  ///< sums of blocks, of several tiles' size
  llvm::Value* ahead_ = nullptr;         ///< what this tile fetches; null for nothing
  std::vector<llvm::Value*> sums_;       ///< stack slots, promoted to registers afterwards
  std::int64_t depth_ = 1;
};

}  // namespace etalon::compiled
