#include "compiled/runtime/buffer.hpp"

#include <utility>

#include "compiled/runtime/device.hpp"
#include "compiled/runtime/host_memory.hpp"

namespace etalon::compiled {

void Buffer::Free::operator()(std::byte* p) const noexcept {
  if (device) device->release(p);
  else release_on_host(p);
}

Buffer::Buffer(std::size_t bytes) : data_(allocate_on_host(bytes)), size_(bytes) {}

Buffer::Buffer(std::shared_ptr<Device> device, std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  std::byte* memory = device->allocate(bytes);
  data_ = std::unique_ptr<std::byte, Free>(memory, Free{std::move(device)});
}

}  // namespace etalon::compiled
