#include "compiled/runtime/spare_memory.hpp"

#include <cstdlib>  // says whether the C library is glibc
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace etalon::compiled {

void give_back_spare_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace etalon::compiled
