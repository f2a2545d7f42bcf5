/// \file
/// A map in squares (squares.hpp) as the threads of a block do it together, in CUDA C++: all fetch what lies side by side along the one loop, meet,
/// and compute and store what lies side by side along the other. It takes no decision of its own.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiled/emit/text/nests.hpp"
#include "cuda/squares.hpp"

namespace etalon::cuda {

class SquareSteps {
 public:
  /// \param index the type that loops count in
  SquareSteps(compiled::source::Scalars& scalars, const spec::System& system, compiled::source::Text& text, const Squares& squares, std::string index)
      : scalars_(scalars), system_(system), text_(text), squares_(squares), index_(std::move(index)) {}

  /// All of the kernel's code.
  /// \param steps of an element
  /// \param blocks that there are
  void write(const compiled::loops::Nest& nest, std::int64_t blocks, compiled::source::Steps& steps);

 private:
  void declare();
  void bind_square(const std::string& turn);
  void fetch();
  void each_row(std::size_t across, std::size_t down, const std::function<void(const std::string& turn, const std::string& row)>& element);

  compiled::source::Scalars& scalars_;
  const spec::System& system_;
  compiled::source::Text& text_;
  const Squares& squares_;
  std::string index_;
  std::vector<const compiled::loops::Loop*> loops_;
  std::string across_;              ///< which thread of its warp one is
  std::string down_;                ///< and which warp
  std::vector<std::string> memory_;  ///< of each square
  std::vector<std::string> first_;  ///< per loop: where the square at hand begins; empty for those of which it has one turn
};

}  // namespace etalon::cuda
