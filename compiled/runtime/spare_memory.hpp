/// \file
/// Memory that was freed but not given back. It knows nothing of who used it.
#pragma once

namespace etalon::compiled {

/// Gives the system what the allocator keeps of freed memory, as far as it lets itself be asked (glibc). For when much
/// was freed in small pieces that nobody will want again soon.
void give_back_spare_memory();

}  // namespace etalon::compiled
