/// \file
/// MPFR keeps constants and scratch numbers per thread and frees them for no one; this frees them when a thread ends.
#pragma once

namespace etalon::reference {

/// After a call on a thread, the end of that thread frees MPFR's caches of it. Calling it again costs next to nothing.
void free_caches_with_thread();

}  // namespace etalon::reference
