/// \file
/// The sums of blocks of a contraction's terms that wait for one of their size, in CUDA C++: those that wait are the digits of the number
/// of blocks that are done, so that blocks are added up in pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compiled/emit/text/scalars.hpp"
#include "compiled/emit/text/text.hpp"

namespace etalon::cuda {

class WaitingSums {
 public:
  /// A thread's sums of the block at hand: an array of rows of columns.
  struct Sums {
    std::string type;
    std::string name;
    std::int64_t rows;
    std::int64_t columns;
  };

  /// Declares them.
  /// \param most blocks, two at least
  WaitingSums(compiled::source::Scalars& scalars, compiled::source::Text& text, Sums sums, std::int64_t most);

  /// The number of blocks that are done.
  [[nodiscard]] const std::string& done() const { return done_; }
  /// The sum at hand meets all that wait of its size, and waits for larger ones; the next begins with zero.
  void put();
  /// The last block's sum meets all that wait, the smallest first.
  /// \param all whether there were as many blocks as there may be
  void join(bool all);

 private:
  void meet(const std::string& waiting);
  void each(const std::function<std::string(const std::string& r, const std::string& c)>& statement);

  compiled::source::Scalars& scalars_;
  compiled::source::Text& text_;
  Sums sums_;
  std::int64_t most_;
  std::string waiting_;
  std::string done_;
};

}  // namespace etalon::cuda
