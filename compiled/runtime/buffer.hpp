/// \file
/// Owned memory of the host or of a device. It knows nothing of what it holds.
#pragma once

#include <cstddef>
#include <memory>

namespace etalon::compiled {

class Device;

/// Moving keeps the address.
class Buffer {
 public:
  Buffer() = default;
  /// Memory of the host: zeros that begin a cache line, faulted in when it is made.
  explicit Buffer(std::size_t bytes);
  /// Memory of a device, what it holds is anything; none for no bytes. \throws DeviceError
  Buffer(std::shared_ptr<Device> device, std::size_t bytes);

  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Of whom the memory was asked; null where it was nobody.
  [[nodiscard]] Device* device() const { return data_.get_deleter().device.get(); }

 private:
  struct Free {
    std::shared_ptr<Device> device;
    void operator()(std::byte* p) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace etalon::compiled
