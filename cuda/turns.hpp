/// \file
/// The loops of a kernel that threads share, as one loop over turns in CUDA C++. It knows nothing of what is done in a turn.
#pragma once

#include <string>

#include "compiled/emit/text/nests.hpp"
#include "cuda/grid.hpp"

namespace etalon::cuda {

class Turns {
 public:
  /// \param index the type that loops count in
  Turns(const compiled::loops::Nest& nest, const Grid& grid, std::string index, compiled::source::Scalars& scalars, compiled::source::Text& text)
      : nest_(nest), grid_(grid), loops_(loops_of_grid(nest)), index_(std::move(index)), scalars_(scalars), text_(text) {}

  /// Every so many-th turn for each thread, or group of threads.
  /// \param number of the thread or group among all, which are `count`
  void one_by_one(compiled::source::Steps& steps, const std::string& number, const std::string& count);
  /// Several turns for each thread, without a question between them where all are there.
  void several_at_once(compiled::source::Steps& steps);

 private:
  void outside(compiled::source::Steps& steps);
  void turn(compiled::source::Steps& steps, const std::string& number);

  const compiled::loops::Nest& nest_;
  const Grid& grid_;
  std::vector<const compiled::loops::Loop*> loops_;
  std::string index_;
  compiled::source::Scalars& scalars_;
  compiled::source::Text& text_;
};

}  // namespace etalon::cuda
