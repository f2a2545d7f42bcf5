// Which defect is in force: ETALON_BLIND, read once.
#include <cstdlib>

#include "strata.h"

bool defect(const char* name) {
  static const char* chosen = std::getenv("ETALON_BLIND");
  return chosen && std::strcmp(chosen, name) == 0;
}
