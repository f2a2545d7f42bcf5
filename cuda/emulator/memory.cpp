#include "cuda/emulator/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "spec/error.hpp"

namespace etalon::cuda::emulator {

namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
std::size_t in_pages(std::size_t bytes) { return (bytes + page_bytes() - 1) / page_bytes() * page_bytes(); }

void protect(std::byte* begin, std::size_t bytes, int how) {
  if (mprotect(begin, in_pages(bytes), how) != 0) throw DeviceError("memory cannot be protected");
}

}  // namespace

Memory::~Memory() {
  for (const auto& [begin, bytes] : blocks_) munmap(const_cast<std::byte*>(begin), in_pages(bytes) + page_bytes());
}

std::byte* Memory::allocate(std::size_t bytes) {
  void* const found = mmap(nullptr, in_pages(bytes) + page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) throw DeviceError("allocation of " + std::to_string(bytes) + " bytes: out of memory");
  auto* const begin = static_cast<std::byte*>(found);
  blocks_.emplace(begin, bytes);
  protect(begin, bytes, PROT_READ | PROT_WRITE);
  std::fill_n(begin, bytes, poison);
  protect(begin, bytes, PROT_NONE);
  return begin;
}

void Memory::release(std::byte* begin) noexcept {
  const auto found = blocks_.find(begin);
  if (found == blocks_.end()) return;
  munmap(begin, in_pages(found->second) + page_bytes());
  blocks_.erase(found);
}

std::span<std::byte> Memory::block_of(const std::byte* address) const {
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin() || address >= std::prev(after)->first + std::prev(after)->second) throw DeviceError("no memory of the device is at this address");
  const auto& [begin, bytes] = *std::prev(after);
  return {const_cast<std::byte*>(begin), bytes};
}

Memory::Open::Open(const Memory& memory, const std::vector<const std::byte*>& addresses) {
  for (const std::byte* address : addresses) {
    blocks_.push_back(memory.block_of(address));
  }
  for (const std::span<std::byte> b : blocks_) protect(b.data(), b.size(), PROT_READ | PROT_WRITE);
}

Memory::Open::~Open() {
  for (const std::span<std::byte> b : blocks_) (void)mprotect(b.data(), in_pages(b.size()), PROT_NONE);
}

}  // namespace etalon::cuda::emulator
