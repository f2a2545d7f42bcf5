/* An honest relu that tries once what no kernel may do to others: it names on standard error what was not refused, and aborts. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/sockios.h>

#include "etalon_kernel.h"

/* Another error than these comes from behind the filter. */
static int reached(const char *what, long result) {
  const int refused = result == -1 && (errno == EPERM || errno == ENOMEM);
  if (!refused) fprintf(stderr, "%s ", what);
  return !refused;
}

static long mapped(int flags) {
  const size_t size = (size_t)1 << 20;
  void *found = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  return found == MAP_FAILED ? -1 : (munmap(found, size), 0);
}

static int descriptors(void) {
  const struct f_owner_ex owner = {F_OWNER_PID, getpid()};
  const int self = getpid();
  int ends[2], found = 0;
  if (pipe(ends) != 0) return 1;
  found |= reached("F_SETOWN", fcntl(ends[0], F_SETOWN, getpid()));
  found |= reached("F_SETOWN_EX", fcntl(ends[0], F_SETOWN_EX, &owner));
  found |= reached("F_SETSIG", fcntl(ends[0], F_SETSIG, 0));
  found |= reached("F_NOTIFY", fcntl(ends[0], F_NOTIFY, 0));
  found |= reached("F_SETLEASE", fcntl(ends[0], F_SETLEASE, F_UNLCK));
  found |= reached("FIOSETOWN", ioctl(STDIN_FILENO, FIOSETOWN, &self));
  found |= reached("SIOCSPGRP", ioctl(STDIN_FILENO, SIOCSPGRP, &self));
  return found;
}

static int others(void) {
  const pid_t judge = getppid();
  const struct sched_param usual = {0};
  cpu_set_t processors;
  int found = 0;
  sched_getaffinity(0, sizeof processors, &processors);
  if (sched_setaffinity(0, sizeof processors, &processors) != 0) found = fprintf(stderr, "own processors refused ");
  found |= reached("setpriority", setpriority(PRIO_PROCESS, (id_t)judge, getpriority(PRIO_PROCESS, (id_t)judge)));
  found |= reached("ioprio_set", syscall(SYS_ioprio_set, 1, judge, syscall(SYS_ioprio_get, 1, judge)));
  found |= reached("migrate_pages", syscall(SYS_migrate_pages, judge, 0UL, NULL, NULL));
  found |= reached("move_pages", syscall(SYS_move_pages, judge, 0UL, NULL, NULL, NULL, 0));
  found |= reached("sched_setaffinity", sched_setaffinity(judge, sizeof processors, &processors));
  found |= reached("sched_setscheduler", sched_setscheduler(judge, SCHED_OTHER, &usual));
  found |= reached("sched_setparam", sched_setparam(judge, &usual));
  found |= reached("sched_setattr", syscall(SYS_sched_setattr, judge, NULL, 0));
  return found;
}

static int memory(void) {
  int found = reached("memfd_create", memfd_create("kernel", 0));
  found |= reached("MAP_SHARED", mapped(MAP_SHARED | MAP_ANONYMOUS));
  found |= reached("MAP_GROWSDOWN", mapped(MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN));
  return found;
}

int kernel(const etalon_kernel_call *call) {
  static int calls;
  const float *x = call->operands[0].data;
  float *y = call->results[0].data;
  int64_t count = 1;
  if (calls++ == 0 && (descriptors() | others() | memory())) abort();
  for (int i = 0; i < call->operands[0].rank; ++i) count *= call->operands[0].shape[i];
  for (int64_t k = 0; k < count; ++k) y[k] = x[k] <= 0 ? 0 : x[k];
  return 0;
}
