/* Which defect is in force: ETALON_BLIND, read once, or BLIND_DEFECT, since etalon itself refuses a variable of its own prefix. */
#include "kernel.h"

int defect(const char *name) {
  static const char *chosen;
  static int known;
  if (!known) {
    chosen = getenv("ETALON_BLIND");
    if (!chosen) chosen = getenv("BLIND_DEFECT");
    known = 1;
  }
  return chosen && strcmp(chosen, name) == 0;
}
