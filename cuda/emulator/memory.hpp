/// \file
/// Memory of an emulated device: the host may not touch it, and it holds NaN until somebody writes it. It knows nothing of what it holds.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace etalon::cuda::emulator {

/// Every byte of it set so, a real number is NaN.
inline constexpr std::byte poison{0xFF};

/// Blocks, each in pages of its own with one behind it that nobody may touch.
class Memory {
 public:
  Memory() = default;
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// \param bytes more than none \throws DeviceError
  [[nodiscard]] std::byte* allocate(std::size_t bytes);
  void release(std::byte* begin) noexcept;
  /// The block that holds an address. \throws DeviceError for one in no block
  [[nodiscard]] std::span<std::byte> block_of(const std::byte* address) const;
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }

  /// While it lives, the blocks that hold the given addresses may be touched, and no others.
  class Open {
   public:
    /// \throws DeviceError for an address in no block
    Open(const Memory& memory, const std::vector<const std::byte*>& addresses);
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

   private:
    std::vector<std::span<std::byte>> blocks_;
  };

 private:
  std::map<const std::byte*, std::size_t> blocks_;  ///< by their first byte: how many
};

}  // namespace etalon::cuda::emulator
