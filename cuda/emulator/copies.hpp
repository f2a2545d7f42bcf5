/// \file
/// Copies to the memory of a block that its threads have asked for and not yet waited for. When they happen is drawn. It knows no text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cuda/emulator/races.hpp"

namespace etalon::cuda::emulator {

/// What a thread asks for: `asked` bytes come from memory, the rest of `bytes` is zero.
struct Copy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t asked = 0;
  const void* code = nullptr;  ///< the instruction behind it
  int line = 0;
};

/// A copy reads and writes at some moment between the call that asks for it and the one that waits for its group; until then what it will
/// write is NaN. Whoever reads or writes there meanwhile, or changes what is read, gets what he gets.
class Copies {
 public:
  /// \param races hears of a copy as of reading and writing by its thread when it is asked for, at each barrier until it is waited for, and
  ///   then; null where nobody does
  explicit Copies(Races* races) : races_(races) {}

  /// A block begins. \param shared its memory
  void begin(std::size_t threads, std::span<std::byte> shared);

  /// \returns why there can be no such copy; empty where there can
  [[nodiscard]] std::string ask(std::size_t thread, const Copy& copy, std::mt19937_64& draw);
  /// What the thread has asked for since is a group.
  void close(std::size_t thread) { ++threads_[thread].closed; }
  /// All groups of the thread but the last ones are there.
  void wait(std::size_t thread, std::uint32_t but);

  /// Time passes: some copies may happen.
  void pass(std::mt19937_64& draw);
  /// All threads pass a barrier.
  void pass_barrier();
  /// The first copy that a thread has not waited for; null where there is none.
  [[nodiscard]] const Copy* open(std::size_t thread) const;

 private:
  struct Pending {
    Copy copy;
    std::uint32_t group = 0;
    bool is_done = false;
  };
  struct Thread {
    std::vector<Pending> pending;
    std::uint32_t closed = 0;  ///< groups
  };

  static void happen(Pending& one);
  void touch(std::size_t thread, const Copy& copy) const;

  Races* races_;
  std::span<std::byte> shared_;
  std::vector<Thread> threads_;
};

}  // namespace etalon::cuda::emulator
