/// \file
/// A tile of a contraction as the threads of a block do it together, in CUDA C++: all copy both factors of a few steps of the depth to
/// shared memory, then each adds up the products of its rows and columns in registers. It takes no decision of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiled/emit/text/scalars.hpp"
#include "compiled/ir/nest.hpp"
#include "cuda/fragment_steps.hpp"
#include "cuda/waiting_sums.hpp"

namespace etalon::cuda {

/// Blocks of terms that are added up, where others are another block's of the grid.
struct DepthPart {
  std::string first;      ///< empty: all of them
  std::string count;
  std::int64_t most = 0;  ///< of them
};

class TileSteps {
 public:
  /// \param thread which of the block a thread is
  /// \param shared memory that they share, 16 bytes aligned
  TileSteps(compiled::source::Scalars& scalars, const spec::System& system, compiled::source::Text& text, const compiled::loops::Contract& c, std::string thread,
            std::string shared, std::string index, DepthPart part = {});

  /// \param element writes what is done with an element
  template <class Element>
  void write(const compiled::loops::Step& s, Element element) {
    begin(s);
    add_up();
    open_element();
    element();
    close_element();
    end();
  }

 private:
  /// A factor in shared memory: of each step of the depth the numbers of the tile's rows, or columns.
  struct Side {
    const spec::Expr& factor;
    const spec::Binder& along;
    std::int64_t tile;               ///< rows or columns of the tile
    std::int64_t each;               ///< of a thread
    std::string first;               ///< of the tile
    std::string numbers;             ///< their memory
    std::string counts;              ///< whether the terms count; empty where all do
    std::vector<spec::Expr> guards;
    std::string place;               ///< which of the threads along that side
    bool by_steps = false;           ///< neighbours in memory are those of one row
    std::int64_t share = 0;          ///< of a piece, numbers that a thread fetches
    std::string next{};              ///< these
    DType held = DType::f32;         ///< in memory, where it is read from there
  };
  /// What numbers a thread's share of a piece.
  struct Share {
    std::string number;
    std::string step;
    std::string along;
  };

  void begin(const compiled::loops::Step& s);
  void end();
  void declare_places();
  void open_tile();
  void leave_out_unread();
  void declare(Side& side, const char* name, std::int64_t& offset);
  void declare_counts(Side& side, const char* name, std::int64_t& offset);
  void add_up();
  void declare_next(Side& side);
  std::string begin_block(const std::string& piece);
  void locate(const std::string& piece);
  void fetch(const std::string& piece);
  void fetch(const Side& side, const std::string& first);
  [[nodiscard]] Share open_share(const Side& side);
  void put(const Side& side);
  void bind_depth(const std::string& term);
  [[nodiscard]] bool has_whole_pieces() const;
  void multiply_piece(const std::string& piece);
  void multiply(const std::string& steps, bool unroll);
  [[nodiscard]] std::string load(const Side& side, const std::string& step);
  [[nodiscard]] std::string place(const Side& side, const std::string& number) const;
  [[nodiscard]] std::int64_t bytes(const Side& side) const;
  [[nodiscard]] std::string shared_type() const;
  void carry(const std::string& piece);
  void open_element();
  void close_element();
  [[nodiscard]] std::string number_type() const;

  compiled::source::Scalars& scalars_;
  compiled::source::Text& text_;
  const compiled::loops::Contract& c_;
  const compiled::Schedule& s_;
  std::string thread_;
  std::string shared_;
  std::string index_;
  DepthPart part_;
  std::int64_t threads_ = 1;
  compiled::loops::Type real_ = compiled::loops::Type::f32;
  std::optional<FragmentSteps> fragments_;  ///< where an instruction adds the products of a piece
  Side left_;
  Side right_;
  std::string sums_;
  std::optional<WaitingSums> waiting_;  ///< where there are several blocks
  std::string first_turn_;  ///< of the block at hand
  std::string terms_;       ///< of that block
  std::int64_t pieces_of_block_ = 1;
};

}  // namespace etalon::cuda
