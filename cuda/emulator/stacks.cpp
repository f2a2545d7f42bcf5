#include "cuda/emulator/stacks.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) ((void)0)
#endif

namespace etalon::cuda::emulator {

namespace {

std::size_t guard_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

/// A fiber that was not run to its end has left the marks of its frames, which would be those of whoever gets the memory next.
void clear_marks(void* end) { ASAN_UNPOISON_MEMORY_REGION(static_cast<std::byte*>(end) - Stacks::bytes, Stacks::bytes); }

}  // namespace

Stacks::~Stacks() {
  for (void* end : all_) {
    clear_marks(end);
    munmap(static_cast<std::byte*>(end) - bytes - guard_bytes(), bytes + guard_bytes());
  }
}

void* Stacks::take() {
  if (free_.empty()) {
    void* begin = mmap(nullptr, bytes + guard_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) throw std::bad_alloc();
    std::byte* const stack = static_cast<std::byte*>(begin) + guard_bytes();
    all_.push_back(stack + bytes);
    free_.reserve(all_.size());
    if (mprotect(stack, bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    return stack + bytes;
  }
  void* const end = free_.back();
  free_.pop_back();
  clear_marks(end);
  return end;
}

}  // namespace etalon::cuda::emulator
