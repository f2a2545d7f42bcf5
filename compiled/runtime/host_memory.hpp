/// \file
/// Memory of the host as kernels want it. It knows nothing of who holds it.
#pragma once

#include <cstddef>

namespace etalon::compiled {

/// Zeros that begin a cache line, faulted in. \throws std::bad_alloc
[[nodiscard]] std::byte* allocate_on_host(std::size_t bytes);
void release_on_host(std::byte* memory) noexcept;

/// Gives the system what the allocator keeps of freed memory, as far as it lets itself be asked (glibc). For when much
/// was freed in small pieces that nobody will want again soon.
void give_back_spare_memory();

}  // namespace etalon::compiled
