/// \file
/// A program's kernels on a device with the script that runs them, once one by one and then as a graph. Without the
/// toolkit there is nothing here.
#pragma once

#ifdef ETALON_HAS_NVRTC

#include <cstddef>
#include <memory>

#include "compiled/ir/script.hpp"
#include "compiled/runtime/device.hpp"
#include "cuda/driver/kernels.hpp"
#include "cuda/driver/queue.hpp"

namespace etalon::cuda {

/// How many sets of addresses a replay remembers. A store with double memory alternates between two; programs in turn
/// on one store make more.
inline constexpr std::size_t remembered_addresses = 8;

/// Its replays give the commands to the stream one by one where they run on addresses for the first time, and where
/// there is but one; on addresses that they remember they launch a graph of all commands, which they make once.
class DriverModule final : public compiled::Module {
 public:
  /// \throws DeviceError as Kernels
  DriverModule(const Queue& queue, ModuleText text, const Image& image);
  [[nodiscard]] std::unique_ptr<compiled::Replay> replay() const override;
  [[nodiscard]] std::size_t arena_bytes() const override { return script_.arena_bytes; }

 private:
  class Replaying;

  void one_by_one(const compiled::Addresses& at) const;
  void ask(const compiled::Launch& launch, const compiled::Addresses& at) const;
  void ask(const compiled::Fill& fill, const compiled::Addresses& at) const;
  void ask(const compiled::Move& move, const compiled::Addresses& at) const;

  Queue queue_;
  compiled::Script script_;
  Kernels kernels_;
};

}  // namespace etalon::cuda

#endif
