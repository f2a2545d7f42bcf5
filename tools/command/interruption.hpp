/// \file
/// The keyboard's interrupt as a question, for work that ends at a place of its own choice. It knows no work.
#pragma once

#include <csignal>

namespace etalon::command {

/// While it lives Ctrl-C ends nothing, also in threads and processes that begin meanwhile: who works asks.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  /// An interrupt that nobody was told of ends the process now.
  ~Interruption();

  /// Whether there was one since it was asked last.
  [[nodiscard]] bool came() const;

 private:
  sigset_t interrupt_{};
  sigset_t before_{};
};

/// The exit status of who was interrupted, as shells have it.
inline constexpr int interrupted_status = 128 + SIGINT;

}  // namespace etalon::command
