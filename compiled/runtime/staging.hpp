/// \file
/// An executable's memory on a device that has memory of its own, for what comes from the host and what is made for it. It knows
/// neither units nor stores.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compiled/runtime/buffer.hpp"
#include "compiled/runtime/device.hpp"

namespace etalon::compiled {

/// Memory stays from run to run, by position.
class Staging {
 public:
  explicit Staging(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  /// A copy of the bytes. \param constant they are the same whenever it is said at this position: they are copied once.
  /// \throws DeviceError
  [[nodiscard]] std::byte* input(std::size_t position, std::span<const std::byte> bytes, bool constant);
  /// Memory of so many bytes, which may be exchanged for other memory of the same size. \throws DeviceError
  [[nodiscard]] Buffer& output(std::size_t position, std::size_t bytes);

 private:
  struct Slot {
    Buffer buffer;
    bool constant = false;  ///< what is in it is the constant
  };

  std::shared_ptr<Device> device_;
  std::vector<Slot> inputs_;
  std::vector<Buffer> outputs_;
};

}  // namespace etalon::compiled
