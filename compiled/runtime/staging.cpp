#include "compiled/runtime/staging.hpp"

namespace etalon::compiled {

std::byte* Staging::input(std::size_t position, std::span<const std::byte> bytes, bool constant) {
  if (position >= inputs_.size()) inputs_.resize(position + 1);
  Slot& slot = inputs_[position];
  if (slot.buffer.size() != bytes.size()) slot = {Buffer(device_, bytes.size()), false};
  if (bytes.empty() || (constant && slot.constant)) return slot.buffer.data();
  slot.constant = false;
  device_->upload(slot.buffer.data(), bytes);
  slot.constant = constant;
  return slot.buffer.data();
}

Buffer& Staging::output(std::size_t position, std::size_t bytes) {
  if (position >= outputs_.size()) outputs_.resize(position + 1);
  Buffer& buffer = outputs_[position];
  if (buffer.size() != bytes) buffer = Buffer(device_, bytes);
  return buffer;
}

}  // namespace etalon::compiled
