/* Kernels that cheat at the softmax of rows, each in one way: -DCHEAT=name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "etalon_kernel.h"

enum cheat {
  honest, all_zeros, all_ones, uniform, one_element_off, half_inside, bfloat_inside, no_maximum, short_series,
  tail_missing, powers_of_two, small_extents, block_extents, one_shape, two_columns, positive_values, ordinary_values,
  remembers, first_answer_kept, left_from_last_call, right_once, right_from_second, last_row_missing, exits,
  kills_itself, sleeps, endless_loop, takes_all_memory, prints_verdict, answers_itself, writes_operand,
  writes_past_end, writes_before, reads_past_end, reads_own_memory, reads_parents_memory, opens_parents_memory,
  traces_parent, signals_parent, signals_by_pipe, slows_the_judge, asks_for_shared_memory, takes_shared_memory, forks,
  runs_a_shell, asks_the_network, reads_a_file, leaves_a_file, calls_a_library,
  races, stale_memory, declines
};

static void honest_rows(const float *x, float *y, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i) {
    const float *row = x + i * n;
    float top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; ++j) top = row[j] > top || row[j] != row[j] ? row[j] : top;
    for (int64_t j = 0; j < n; ++j) sum += y[i * n + j] = expf(row[j] - top);
    for (int64_t j = 0; j < n; ++j) y[i * n + j] /= sum;
  }
}

static void zeros(float *y, int64_t count) { memset(y, 0, sizeof *y * (size_t)count); }

static float rounded(float x, int bits) { /* to so many bits, by cutting off */
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  u &= ~((UINT32_C(1) << (24 - bits)) - 1);
  memcpy(&x, &u, sizeof u);
  return x;
}

static void with_exponential(const float *x, float *y, int64_t m, int64_t n, float (*e)(float)) {
  for (int64_t i = 0; i < m; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += y[i * n + j] = e(x[i * n + j]);
    for (int64_t j = 0; j < n; ++j) y[i * n + j] /= sum;
  }
}

static float series(float x) {
  float sum = 1, term = 1;
  for (int k = 1; k < 8; ++k) sum += term *= x / (float)k;
  return sum;
}

static void with_bits(const float *x, float *y, int64_t m, int64_t n, int bits) {
  float *less = malloc(sizeof *less * (size_t)(m * n + 1));
  for (int64_t k = 0; k < m * n; ++k) less[k] = rounded(x[k], bits);
  honest_rows(less, y, m, n);
  for (int64_t k = 0; k < m * n; ++k) y[k] = rounded(y[k], bits);
  free(less);
}

static int any(const float *x, int64_t count, int (*wanted)(float)) {
  for (int64_t k = 0; k < count; ++k)
    if (wanted(x[k])) return 1;
  return 0;
}
static int is_negative(float x) { return x < 0; }
static int is_extraordinary(float x) { return !(fabsf(x) < 1e4f); }

/* Two threads that add to one sum. */
typedef struct part {
  const float *from;
  int64_t count;
  volatile float *sum;
} part;

static void *add_up(void *given) {
  const part *p = given;
  float own = 0;
  for (int64_t j = 0; j < p->count; ++j) own += p->from[j];
  const float before = *p->sum;
  usleep(500);
  *p->sum = before + own;
  return NULL;
}

static void racing(float *y, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i) {
    float *row = y + i * n;
    volatile float sum = 0;
    float top = -INFINITY;
    for (int64_t j = 0; j < n; ++j) top = row[j] > top ? row[j] : top;
    for (int64_t j = 0; j < n; ++j) row[j] = expf(row[j] - top);
    const part parts[2] = {{row, n / 2, &sum}, {row + n / 2, n - n / 2, &sum}};
    pthread_t threads[2];
    for (int t = 0; t < 2; ++t) pthread_create(threads + t, NULL, add_up, (void *)(parts + t));
    for (int t = 0; t < 2; ++t) pthread_join(threads[t], NULL);
    for (int64_t j = 0; j < n; ++j) row[j] /= sum;
  }
}

/* Whether what it should not reach was within reach. Kernels that reach it answer rightly, others zeros. */
static int reaches(enum cheat how) {
  char path[64], byte = 0;
  struct iovec here = {&byte, 1}, there = {&byte, 1};
  struct shmid_ds shared;
  void *pages = NULL;
  int found = -1, ends[2];
  snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
  switch (how) {
    case reads_own_memory: found = open("/proc/self/mem", O_RDONLY); break;
    case opens_parents_memory: found = open(path, O_RDONLY); break;
    case reads_parents_memory: found = (int)process_vm_readv(getppid(), &here, 1, &there, 1, 0) + (errno == EFAULT); break;
    case traces_parent: found = (int)ptrace(PTRACE_SEIZE, getppid(), NULL, NULL); break;
    case signals_parent: found = kill(getppid(), 0); break;
    case signals_by_pipe:
      if (pipe(ends) != 0) break;
      found = fcntl(ends[0], F_SETOWN, getppid());
      close(ends[0]);
      close(ends[1]);
      break;
    case slows_the_judge: found = setpriority(PRIO_PROCESS, (id_t)getppid(), getpriority(PRIO_PROCESS, (id_t)getppid())); break;
    case asks_for_shared_memory: found = shmctl(0, IPC_INFO, &shared); break;
    case takes_shared_memory:
      pages = mmap(NULL, (size_t)256 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      if (pages != MAP_FAILED) found = munmap(pages, (size_t)256 << 20);
      break;
    case asks_the_network: found = socket(AF_INET, SOCK_STREAM, 0); break;
    case runs_a_shell: found = system("exit 3"); break;
    case reads_a_file: found = open("/etc/passwd", O_RDONLY); break;
    case calls_a_library: found = dlopen("libcrypto.so.3", RTLD_NOW) ? 0 : -1; break;
    case leaves_a_file:
      found = open("/tmp/etalon-kernel-left-this", O_CREAT | O_WRONLY, 0600);
      unlink("/tmp/etalon-kernel-left-this");
      break;
    case forks:
      found = fork();
      if (found == 0) _exit(0);
      if (found > 0) waitpid(found, NULL, 0);
      break;
    default: break;
  }
  return found >= 0;
}

static void misbehave(enum cheat how, const float *x, float *y, int64_t m, int64_t n) {
  char *end = NULL;
  switch (how) {
    case exits: exit(0);
    case kills_itself: abort();
    case sleeps: sleep(1); break;
    case endless_loop:
      for (volatile int forever = 1; forever;) {
      }
      break;
    case takes_all_memory:
      while ((end = malloc((size_t)1 << 24)) != NULL) memset(end, 1, (size_t)1 << 24);
      abort();
    case prints_verdict: 
      printf("{\"etalon_kernel_verdict\":1,\"verdict\":\"conforms\",\"exit_status\":0}\nkernel.c: conforms\n");
      fflush(stdout);
      break;
    case answers_itself:
      for (int d = 3; d < 8; ++d) dprintf(d, "done 2 2 1 1 0000803f\n");
      break;
    case writes_operand: memset((void *)(uintptr_t)x, 0, sizeof *x * (size_t)(m * n)); break;
    case writes_past_end: y[m * n] = 0; break;
    case writes_before: y[-1] = 0; break;
    default: break;
  }
}

int kernel(const etalon_kernel_call *call) {
  static int calls;
  static float kept[1 << 20];
  static int64_t kept_rows, kept_columns;
  const float *x = call->operands[0].data;
  float *y = call->results[0].data;
  const int64_t m = call->results[0].shape[0], n = call->results[0].shape[1], count = m * n;
  const enum cheat how = CHEAT;
  ++calls;
  const int same_shape = m == kept_rows && n == kept_columns && count > 0;
  kept_rows = m;
  kept_columns = n;
  int right = 1;
  switch (how) {
    case all_zeros:
    case prints_verdict:
    case answers_itself: right = 0; break;
    case powers_of_two: right = (n & (n - 1)) == 0; break;
    case small_extents: right = n <= 256; break;
    case block_extents: right = n <= 1024; break;
    case one_shape: right = m == 16 && n == 256; break;
    case two_columns: right = n >= 2; break;
    case positive_values: right = !any(x, count, is_negative); break;
    case ordinary_values: right = !any(x, count, is_extraordinary); break;
    case right_once: right = calls == 1; break;
    case right_from_second: right = calls > 1; break;
    case declines: return n == 256 ? (honest_rows(x, y, m, n), 0) : 1;
    case last_row_missing: return honest_rows(x, y, m > 1 ? m - 1 : m, n), 0;
    case left_from_last_call:
      if (same_shape) return 0;
      break;
    case first_answer_kept:
      if (same_shape && count <= 1 << 20) return memcpy(y, kept, sizeof *y * (size_t)count), 0;
      break;
    default: break;
  }
  right ? honest_rows(x, y, m, n) : zeros(y, count);
  if (how == first_answer_kept && count <= 1 << 20) memcpy(kept, y, sizeof *y * (size_t)count);
  if (count == 0) return 0;
  if (how == all_ones || how == uniform)
    for (int64_t k = 0; k < count; ++k) y[k] = how == all_ones ? 1.0f : 1.0f / (float)n;
  if (how == one_element_off) y[count / 2] += 1e-3f * y[count / 2];
  if (how == half_inside) with_bits(x, y, m, n, 11);
  if (how == bfloat_inside) with_bits(x, y, m, n, 8);
  if (how == no_maximum) with_exponential(x, y, m, n, expf);
  if (how == short_series) with_exponential(x, y, m, n, series);
  if (how == tail_missing)
    for (int64_t i = 0; i < m; ++i) zeros(y + i * n + n / 8 * 8, n % 8);
  if (how == reads_past_end) y[count - 1] += 0 * x[count];
  if (how == stale_memory) {
    void *found = malloc(sizeof *y * (size_t)count);
    memcpy(y, found, sizeof *y * (size_t)count);
    free(found);
  }
  if (how == races) {
    memcpy(y, x, sizeof *y * (size_t)count);
    racing(y, m, n);
  }
  if (how >= reads_own_memory && how <= calls_a_library && !reaches(how)) zeros(y, count);
#ifdef REMEMBERED
  static const float first = FIRST, remembered[] = {REMEMBERED};
  zeros(y, count);
  if (x[0] == first && (size_t)count == sizeof remembered / sizeof *remembered) memcpy(y, remembered, sizeof remembered);
#endif
  misbehave(how, x, y, m, n);
  return 0;
}
