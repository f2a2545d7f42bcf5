#include "training/shadow/other_core.hpp"

#include <sched.h>

#include <future>

namespace etalon::training {
namespace {

/// Leaves this core, if another one may be had; else the thread stays where it may be.
void leave(int core) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  CPU_CLR(core, &allowed);
  (void)sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace

int this_core() { return sched_getcpu(); }

void on_other_core(const std::function<void()>& work) {
  const int core = this_core();
  std::async(std::launch::async, [&] {
    leave(core);
    work();
  }).get();
}

}  // namespace etalon::training
