/// \file
/// The loops of a kernel that threads share, as one loop over turns in CUDA C++. It knows nothing of what is done in a turn.
#pragma once

#include <string>

#include "compiled/emit/text/nests.hpp"
#include "cuda/grid.hpp"
#include "cuda/part_steps.hpp"

namespace etalon::cuda {

/// Declares what the loops that threads share are at a turn. \param index the type that loops count in
void bind_turn(const compiled::loops::Nest& nest, const std::string& turn, const std::string& index, compiled::source::Scalars& scalars, compiled::source::Text& text);

class Turns {
 public:
  /// \param joining is told the turn at hand, or null
  Turns(const compiled::loops::Nest& nest, const Grid& grid, std::string index, compiled::source::Scalars& scalars, compiled::source::Text& text, Joining* joining = nullptr)
      : nest_(nest), grid_(grid), loops_(loops_of_grid(nest)), index_(std::move(index)), scalars_(scalars), text_(text), joining_(joining) {}

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
  Joining* joining_;
};

}  // namespace etalon::cuda
