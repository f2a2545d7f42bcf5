/// \file
/// Stacks for fibers, used again. It runs nothing.
#pragma once

#include <cstddef>
#include <vector>

namespace etalon::cuda::emulator {

/// Memory for stacks of one size, each with a page below it that nobody may touch. Pages are taken where a stack reaches them first.
class Stacks {
 public:
  static constexpr std::size_t bytes = std::size_t{512} << 10;

  Stacks() = default;
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  /// The end of a stack, from which it grows down. \throws std::bad_alloc
  [[nodiscard]] void* take();
  void give_back(void* end) { free_.push_back(end); }

 private:
  std::vector<void*> all_;
  std::vector<void*> free_;
};

}  // namespace etalon::cuda::emulator
