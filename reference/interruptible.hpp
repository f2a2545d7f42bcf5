/// \file
/// Long computations ask now and then whether somebody still wants them. It knows neither who wants them nor what is
/// computed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace etalon::reference {

/// While one lives, what the reference computes on its thread asks it: evaluations, and bounds. Those around it are asked too.
class Interruptible {
 public:
  /// \param asked called at most every 20 ms; what it throws ends the computation, and must be no `std::exception`
  ///        that somebody on the way takes for a failure
  explicit Interruptible(std::function<void()> asked);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// That of this thread, or nullptr.
  [[nodiscard]] static Interruptible* innermost();

  /// Called once per element or term, by whoever asked for the innermost one before. Costs next to nothing.
  void ask() {
    if (++asked_for_ % terms_between == 0) ask_in_time();
  }
  /// The same after work of more than some microseconds.
  void ask_in_time();

 private:
  // A term takes up to a millisecond where it is a function of numbers with hundreds of bits.
  static constexpr std::uint32_t terms_between = 16;

  std::function<void()> asked_;
  std::uint32_t asked_for_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  Interruptible* outer_;  ///< that of the thread before
};

}  // namespace etalon::reference
