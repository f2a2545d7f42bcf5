#include "reference/thread_caches.hpp"

#include <mpfr.h>

namespace etalon::reference {

void free_caches_with_thread() {
  struct Caches {
    ~Caches() { mpfr_free_cache(); }
  };
  thread_local const Caches caches;
  (void)&caches;
}

}  // namespace etalon::reference
