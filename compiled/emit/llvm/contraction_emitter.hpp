/// \file
/// Contractions as tiles of numbers that stay in registers while the depth is added up. It follows the schedule and takes
/// no decision of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiled/emit/llvm/emitter.hpp"
#include "compiled/ir/nest.hpp"
#include "compiled/machine/selection.hpp"

namespace etalon::compiled {

/// Emits tiles for one `Contract` at the emitter's place.
class ContractionEmitter {
 public:
  /// \param waiting waiting_bytes of the schedule; null where that is 0
  /// \param element emits the steps of the current element of the tile, for one vector of columns or rows.
  ContractionEmitter(llvm::Function& function, Emitter& emitter, const spec::System& system, const loops::Contract& c,
                     Type real, llvm::Value* waiting, std::function<void()> element);

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
    std::vector<std::int64_t> depth;  ///< for each loop of the sum
    std::int64_t next = 0;            ///< elements from one panel to the next; 0 without panels
  };

  struct Sources {
    Source left;
    Source right;
    Source guard;  ///< begins nowhere when every term counts
  };

  /// A step that is written out: where it is among its loops, and when its terms count.
  struct Tap {
    std::vector<std::int64_t> at;
    std::vector<spec::Expr> conditions;
    std::vector<spec::Expr> asked;   ///< those that know no row and may fail in the tile at hand
    llvm::Value* counts = nullptr;   ///< whether they hold; null: always
    std::vector<llvm::Value*> rows;  ///< whether the others do, for each row in every lane; null: always
  };

  // --- tiles ---
  void panels(llvm::Value* begin, llvm::Value* end, unsigned vectors, unsigned last);
  void tile(const Tile& t, llvm::Value* row_tile, llvm::Value* column_tile);
  void wanted_tile(const Tile& t, llvm::Value* row_tile, llvm::Value* column_tile);
  void elements(const Tile& t, llvm::Value* row_tile, llvm::Value* column_tile);
  void elements_across(const Tile& t, llvm::Value* row_tile, llvm::Value* column_tile);
  [[nodiscard]] Source source(const spec::Expr& read, const loops::Binder& along);
  [[nodiscard]] llvm::Value* next_panel(const Tile& t, const Source& right, llvm::Value* row_tile, llvm::Value* column_tile);
  [[nodiscard]] llvm::Constant* lanes_of(const Tile& t, unsigned vector);
  [[nodiscard]] llvm::Value* clipped(llvm::Value* value, std::int64_t limit, bool at_least);

  // --- the depth ---
  void add_up(const Tile& t, const Sources& from);
  void loop(const Tile& t, const Sources& from, std::size_t level);
  void turns(const Tile& t, const Sources& from, std::size_t level, llvm::Value* begin, llvm::Value* end);
  void steps(const Tile& t, const Sources& from, llvm::Value* begin, llvm::Value* end);
  void one_step_of_each_block(const Tile& t, const Sources& from);
  void one_step(const Tile& t, const Sources& from, const std::vector<llvm::Value*>& rows);
  [[nodiscard]] std::vector<llvm::Value*> columns(const Tile& t, const Source& from);
  [[nodiscard]] Sources advanced(Sources from, std::size_t level, llvm::Value* by);
  [[nodiscard]] llvm::Value* advanced(llvm::Value* pointer, llvm::Value* by, std::int64_t stride);
  [[nodiscard]] llvm::Value* advanced(llvm::Value* pointer, std::int64_t by);
  void fetch(llvm::Value* step);
  void fetch_pieces(llvm::Value* row_tile, llvm::Value* column_tile);
  void clear(const Tile& t);
  void carry(const Tile& t);
  void join(const Tile& t, llvm::Value* digit);
  void join_all(const Tile& t);
  [[nodiscard]] llvm::Value* waiting(const Tile& t, llvm::Value* digit, std::size_t i);

  // --- steps that are written out ---
  void find_taps();
  void ask_taps(const Tile& t, llvm::Value* row_tile);
  void write_out(const Tile& t, const Sources& from);
  void keep_loads_here();
  [[nodiscard]] Sources at_tap(Sources from, const Tap& tap);
  [[nodiscard]] std::size_t sharing(const Tile& t, const Sources& from, std::size_t first) const;
  void steps_that_share(const Tile& t, const Sources& from, std::span<const Tap> taps);
  [[nodiscard]] llvm::Align scalar_align() const;
  void add_term(std::size_t sum, llvm::Value* row, llvm::Value* column, llvm::Value* counts);
  [[nodiscard]] bool may_fail(const spec::Expr& condition, std::int64_t row, std::int64_t height) const;
  [[nodiscard]] llvm::Value* all_of(const std::vector<spec::Expr>& conditions);

  /// The slot of a sum of the block at hand.
  [[nodiscard]] llvm::Value* sum(std::size_t i) const { return sums_[side_ * (sums_.size() / static_cast<std::size_t>(s_.side_by_side)) + i]; }
  [[nodiscard]] llvm::ConstantInt* number(std::int64_t v) { return b_.getInt64(static_cast<std::uint64_t>(v)); }

  llvm::Function& function_;
  Emitter& emitter_;
  const spec::System& system_;
  const loops::Contract& c_;
  const Schedule& s_;
  Type real_;
  std::function<void()> element_;
  llvm::IRBuilder<>& b_;
  Selected add_product_;                 ///< what adds a product to a sum, rounded once
  std::size_t loops_;                    ///< of the depth that steps go through, from the first on
  std::int64_t terms_ = 1;               ///< of a step, which lie side by side
  llvm::Type* vector_;                   ///< of sums
  llvm::Type* scalar_;                   ///< of a factor
  llvm::Type* step_;                     ///< a row's numbers of a step
  llvm::Type* columns_;                  ///< a vector of columns of a step
  llvm::Value* waiting_ = nullptr;       ///< sums of blocks, of several tiles' size
  llvm::AllocaInst* block_ = nullptr;    ///< how many blocks are done
  llvm::Value* ahead_ = nullptr;         ///< what this tile fetches; null for nothing
  std::vector<llvm::Value*> sums_;       ///< stack slots, promoted to registers afterwards: those of one block after the other
  std::size_t side_ = 0;                 ///< the block at hand among those side by side
  std::vector<Tap> taps_;
};

}  // namespace etalon::compiled
