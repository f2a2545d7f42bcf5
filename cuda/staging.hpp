/// \file
/// How the factors of a tile come to memory that a block's threads share, piece by piece of the depth, in CUDA C++: through registers of
/// each thread, or by copies that go on beside the arithmetic. It multiplies nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiled/emit/text/scalars.hpp"
#include "compiled/ir/nest.hpp"
#include "cuda/fragment_steps.hpp"

namespace etalon::cuda {

/// Numbers between the rows of a factor in shared memory: threads that write one after the other meet in other banks.
inline constexpr std::int64_t side_padding = 4;

/// A factor in shared memory: of each step of the depth the numbers of the tile's rows, or columns.
struct Side {
  const spec::Expr& factor;
  const spec::Binder& along;
  std::int64_t tile;               ///< rows or columns of the tile
  std::int64_t each;               ///< of a thread
  std::int64_t copied = 0;         ///< bytes that a copy brings; 0: numbers go through registers
  std::string first{};             ///< of the tile
  std::string place{};             ///< which of the threads along that side
  std::string memory{};            ///< of all pieces
  std::string numbers{};           ///< of the piece at hand
  std::string counts{};            ///< whether its terms count; empty where all do
  std::vector<spec::Expr> guards{};
  bool by_steps = false;           ///< neighbours in memory are those of one row
  std::int64_t share = 0;          ///< of a piece, numbers that a thread fetches
  std::string next{};              ///< these
  DType held = DType::f32;         ///< in memory, where it is read from there
};

/// Pieces of the depth, as texts of numbers.
struct Pieces {
  std::string first;
  std::string end;
  std::string last;
};

class Staging {
 public:
  /// \param left and \param right must outlive it; it fills in what of them is about memory
  /// \param thread which of the block's `threads` a thread is
  /// \param fragments null where threads multiply by themselves
  Staging(compiled::source::Scalars& scalars, const spec::System& system, compiled::source::Text& text, const compiled::loops::Contract& c, Side& left, Side& right,
          std::string thread, std::int64_t threads, std::string index, const FragmentSteps* fragments);

  /// Declares what lies in shared memory. \param real the type of products
  void declare(const std::string& shared, compiled::loops::Type real);

  /// The first pieces are on their way.
  void begin(const Pieces& pieces);
  /// From here on all threads see a piece, until they come here for the next one; later ones are on their way.
  void advance(const std::string& piece);

  [[nodiscard]] std::int64_t pieces_of_block() const { return pieces_of_block_; }
  /// Whether no piece has fewer steps than others.
  [[nodiscard]] bool has_whole_pieces() const;
  /// Declares how many steps of its block there are from a piece on. \returns their name
  [[nodiscard]] std::string steps_left(const std::string& piece);
  /// Of the numbers in shared memory.
  [[nodiscard]] std::string number_type() const;

 private:
  /// What numbers a thread's share of a piece.
  struct Share {
    std::string number;
    std::string step;
    std::string along;
  };

  [[nodiscard]] std::array<Side*, 2> sides() { return {&left_, &right_}; }
  [[nodiscard]] bool is_copied() const { return s_.shared->stages > 1; }
  [[nodiscard]] bool has_registers() const { return left_.copied == 0 || right_.copied == 0; }
  [[nodiscard]] std::int64_t bytes(const Side& side) const;
  [[nodiscard]] std::string stage(const Side& side, const std::string& piece) const;
  void declare_next(Side& side);
  void begin_copies();
  void copy_later(const std::string& piece);
  std::string begin_block(const std::string& piece);
  void locate(const std::string& piece);
  std::string locate_step(const std::string& piece);
  void fetch(const std::string& piece);
  void fetch(const Side& side, const std::string& first);
  void copy(const std::string& piece);
  void copy(const Side& side, const std::string& first, const std::string& to);
  [[nodiscard]] Share open_share(const Side& side, std::int64_t numbers = 1);
  [[nodiscard]] std::string place_of(const Side& side, const Share& share) const;
  std::string bind_element(const Side& side, const std::string& first, const Share& share, std::string& term);
  void put(const Side& side);
  void bind_depth(const std::string& term);

  compiled::source::Scalars& scalars_;
  const spec::System& system_;
  compiled::source::Text& text_;
  const compiled::loops::Contract& c_;
  const compiled::Schedule& s_;
  Side& left_;
  Side& right_;
  std::string thread_;
  std::int64_t threads_;
  std::string index_;
  const FragmentSteps* fragments_;
  compiled::loops::Type real_ = compiled::loops::Type::f32;
  Pieces pieces_;
  std::int64_t pieces_of_block_ = 1;
  std::string first_turn_;  ///< of the block at hand
  std::string terms_;       ///< of that block
};

}  // namespace etalon::cuda
