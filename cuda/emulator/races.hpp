/// \file
/// Accesses to memory that nothing puts in an order: two threads touch one word, one of them writes, and no barrier, no `__syncwarp` and no
/// order of commands is between them. It runs nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace etalon::cuda::emulator {

/// Order of the commands of a script: `before[b][a]` where a is done when b begins.
using Order = std::vector<std::vector<bool>>;

/// Watches the run of one script at a time. Of each word it remembers who wrote it last and two of those who read it since, which is enough
/// where threads meet at barriers: a write that is ordered with neither races with one of them. Of bytes of one word that several threads
/// write it remembers the last.
class Races {
 public:
  /// An access.
  struct Touch {
    std::uint32_t command = 0;
    std::uint32_t block = 0;
    std::uint32_t thread = 0;   ///< of the block
    std::uint32_t barriers = 0; ///< that its block has passed
    std::uint32_t clock = 0;    ///< how often its warp's lanes have let it go on since
    std::uint32_t bytes = 0;    ///< of the word, a bit for each; none where there was no access
    const void* code = nullptr; ///< the instruction behind it; null where the host does it
  };
  struct Race {
    Touch first, second;
    bool first_writes = false, second_writes = false;
    bool in_shared_memory = false;
  };

  /// Forgets what was before: a run begins. \param names of its commands
  void begin(Order order, std::vector<std::string> names);
  /// Memory of the device that the run may touch.
  void watch(const std::byte* begin, std::size_t bytes);
  void begin_command(std::size_t number);
  /// \param shared memory of the block, which is fresh
  void begin_block(std::uint64_t block, std::uint64_t threads, const std::byte* shared, std::size_t bytes);
  void pass_barrier();
  /// Lanes of a warp let each other go on and see what all of them wrote.
  void pass_warp(const std::vector<std::size_t>& threads);

  void touch(std::uint64_t thread, const std::byte* address, std::size_t bytes, bool writes, const void* code);
  /// A command of the host's touches memory as one thread.
  void touch_all(const std::byte* address, std::size_t bytes, bool writes);

  /// The first that was seen in the run.
  [[nodiscard]] const std::optional<Race>& found() const { return found_; }
  [[nodiscard]] const std::string& command(const Touch& touch) const { return names_[touch.command]; }

 private:
  struct Word {
    Touch write;
    std::array<Touch, 2> reads;
  };
  struct Region {
    std::size_t bytes = 0;
    std::vector<Word> words;
  };

  [[nodiscard]] bool ordered(const Touch& earlier, const Touch& now) const;
  void one_word(Word& word, const Touch& now, bool writes, bool shared);
  void report(const Touch& earlier, bool earlier_writes, const Touch& now, bool writes, bool shared);
  void words_of(Region& region, std::size_t offset, std::size_t bytes, Touch now, bool writes, bool shared);

  Order order_;
  std::vector<std::string> names_;
  std::map<const std::byte*, Region> regions_;  ///< by their first byte
  const std::byte* shared_begin_ = nullptr;
  Region shared_;
  std::uint32_t command_ = 0, block_ = 0, barriers_ = 0;
  std::vector<std::uint32_t> clocks_;           ///< of each thread of the block
  std::vector<std::uint32_t> seen_;             ///< of each thread and lane of its warp: up to which clock it has seen that lane
  std::optional<Race> found_;
};

}  // namespace etalon::cuda::emulator
