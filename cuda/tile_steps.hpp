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
#include "cuda/staging.hpp"
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

  TileSteps(const TileSteps&) = delete;
  TileSteps& operator=(const TileSteps&) = delete;

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
  void begin(const compiled::loops::Step& s);
  void end();
  void declare_places();
  void open_tile();
  void leave_out_unread();
  void add_up();
  void multiply_piece(const std::string& piece);
  void multiply(const std::string& steps, bool unroll);
  [[nodiscard]] std::string load(const Side& side, const std::string& step);
  [[nodiscard]] std::string place(const Side& side, const std::string& number) const;
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
  Staging staging_;
  std::string sums_;
  std::optional<WaitingSums> waiting_;  ///< where there are several blocks
};

}  // namespace etalon::cuda
