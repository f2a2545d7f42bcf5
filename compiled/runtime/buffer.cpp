#include "compiled/runtime/buffer.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace etalon::compiled {

namespace {
constexpr std::size_t alignment = 64;
}

void Buffer::Free::operator()(std::byte* p) const noexcept { std::free(p); }

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
  const std::size_t rounded = (bytes + alignment) / alignment * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, rounded);
  data_.reset(memory);
}

}  // namespace etalon::compiled
