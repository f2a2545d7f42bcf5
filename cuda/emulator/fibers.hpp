/// \file
/// The threads of a block as fibers that wait for each other. It knows no text and no memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <boost/context/fiber.hpp>

#include "cuda/emulator/copies.hpp"
#include "cuda/emulator/races.hpp"
#include "cuda/emulator/stacks.hpp"
#include "cuda/emulator/thread_state.hpp"

namespace etalon::cuda::emulator {

inline constexpr std::uint64_t warp_lanes = 32;

/// Runs one thread at a time, each until it waits or is done; who runs next is drawn.
class Fibers {
 public:
  /// \param state gets the thread that runs, and the calls by which it waits
  /// \param shared memory of the block that runs
  /// \param kernel for messages \param races hears of threads that have waited for each other; null where nobody does
  Fibers(ThreadState& state, Stacks& stacks, std::span<std::byte> shared, std::string kernel, Races* races = nullptr)
      : state_(state), stacks_(stacks), shared_(shared), kernel_(std::move(kernel)), races_(races), copies_(races) {}

  /// Runs all threads of the block of state's size.
  /// \throws DeviceError naming the kernel where threads wait for some that do not come: a barrier that another of them has passed by, a
  /// lane that is not in its own mask or reads one that is not; where they ask for a copy that cannot be, or end without having waited for
  /// one.
  void run(const std::function<void()>& body, std::mt19937_64& draw);

 private:
  /// What a thread does.
  enum class Doing : std::uint8_t { ready, at_barrier, at_exchange, refused, done };
  struct Thread {
    boost::context::fiber fiber;    ///< where it goes on
    boost::context::fiber caller;   ///< where the scheduler does, while it runs
    Doing doing = Doing::ready;
    int line = 0;                   ///< where it waits
    std::uint32_t mask = 0;         ///< of an exchange
    std::uint32_t source = 0;
    std::uint64_t bits = 0;         ///< that it brought, then those that it gets
    std::string refused{};          ///< why
  };

  static void wait_for_block(void* self, int line);
  static std::uint64_t exchange(void* self, std::uint32_t mask, std::uint32_t source, std::uint64_t bits, int line);

  static void copy(void* self, void* to, const void* from, std::uint32_t bytes, std::uint32_t asked, const void* code, int line);
  static void close_copies(void* self);
  static void wait_for_copies(void* self, std::uint32_t but);

  void begin(const std::function<void()>& body);
  /// \throws DeviceError where it may not be as a thread left it
  void check_copies(std::size_t thread);
  void resume(std::size_t thread);
  void wait(Doing doing, int line);
  /// Lets the lanes of an exchange go on where all of them are there. \param thread one of them
  void meet(std::size_t thread, std::vector<std::size_t>& ready);
  [[nodiscard]] bool waits_with(std::size_t thread, std::size_t lane) const;
  void check_lanes(std::size_t thread) const;
  /// Lets all go on that are at one barrier. \throws DeviceError
  void pass_barrier(std::vector<std::size_t>& ready);
  [[nodiscard]] std::string place(std::size_t thread) const;

  ThreadState& state_;
  Stacks& stacks_;
  std::span<std::byte> shared_;
  std::string kernel_;
  Races* races_;
  Copies copies_;
  std::mt19937_64* draw_ = nullptr;  ///< while it runs
  std::vector<Thread> threads_;
  std::size_t current_ = 0;
};

}  // namespace etalon::cuda::emulator
