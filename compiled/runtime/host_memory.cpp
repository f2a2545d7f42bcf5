#include "compiled/runtime/host_memory.hpp"

#include <cstdlib>  // says whether the C library is glibc
#include <cstring>
#include <new>

#include "compiled/machine/thresholds.hpp"
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace etalon::compiled {

std::byte* allocate_on_host(std::size_t bytes) {
  constexpr auto line = threshold<std::size_t>("line_bytes");
  const std::size_t rounded = (bytes + line) / line * line;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(line, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, rounded);
  return memory;
}

void release_on_host(std::byte* memory) noexcept { std::free(memory); }

void give_back_spare_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace etalon::compiled
