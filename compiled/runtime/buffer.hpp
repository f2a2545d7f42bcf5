/// \file
/// Owned, aligned memory that is faulted in when it is made. It knows nothing of what it holds.
#pragma once

#include <cstddef>
#include <memory>

namespace etalon::compiled {

/// 64-byte aligned, zeroed bytes; moving keeps the address.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);

  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace etalon::compiled
