/// \file
/// What emulated code sees of its device, laid out as the prologue of its text declares it (prologue.cpp). It knows no text.
#pragma once

#include <cstdint>

namespace etalon::cuda::emulator {

inline constexpr std::uint32_t no_source = 0xFFFF'FFFF;

/// CUDA's triples of sizes and positions.
struct Triple {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  /// The n-th position of a triple of sizes, x fastest.
  [[nodiscard]] Triple at(std::uint64_t n) const {
    return {static_cast<std::uint32_t>(n % x), static_cast<std::uint32_t>(n / x % y), static_cast<std::uint32_t>(n / x / y)};
  }
};

/// The thread that runs, and what it calls to wait for others. Where threads never wait the calls are null.
struct ThreadState {
  Triple thread{0, 0, 0};
  Triple block{0, 0, 0};
  Triple block_size;
  Triple grid_size;
  void* shared = nullptr;     ///< memory that the block's threads share
  void* scheduler = nullptr;  ///< who is handed to the calls
  void (*wait_for_block)(void* scheduler, int line) = nullptr;
  /// Waits for the lanes in the mask. \returns what the lane `source` brought; of `no_source` nothing, and what the lanes wrote before all of
  /// them see afterwards
  std::uint64_t (*exchange)(void* scheduler, std::uint32_t mask, std::uint32_t source, std::uint64_t bits, int line) = nullptr;
  void* watcher = nullptr;    ///< who is handed to the call below, of code that tells its accesses to memory; null where nobody listens
  void (*access)(void* watcher, const void* address, std::uint32_t bytes, bool writes, const void* code) = nullptr;
  /// Asks for a copy to memory that the block's threads share (copies.hpp), closes a group of them, waits for all but the last groups.
  void (*copy)(void* scheduler, void* to, const void* from, std::uint32_t bytes, std::uint32_t asked, const void* code, int line) = nullptr;
  void (*close_copies)(void* scheduler) = nullptr;
  void (*wait_for_copies)(void* scheduler, std::uint32_t but) = nullptr;
};

}  // namespace etalon::cuda::emulator
