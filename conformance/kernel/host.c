/* The process that runs a kernel: reads calls as lines of words, answers each with one line. It holds nothing of what is
   expected. Usage: host KERNEL.so FUNCTION */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "etalon_kernel.h"

enum { alignment = 64, most_tensors = 4096, canary = 0xFF };

/* A tensor's memory, between pages that nobody may touch; behind its last byte as many canaries as alignment needs. */
typedef struct region {
  const char *kind;
  int number;
  unsigned char *map, *begin, *data, *end;
  size_t mapped, bytes;
} region;

static region regions[most_tensors];
static int region_count;
static FILE *answers;
static size_t page;

static void say(const char *text) { (void)!write(fileno(answers), text, strlen(text)); }

static void stop(const char *why) {
  say("broken ");
  say(why);
  say("\n");
  _exit(0);
}

/* What lives until the call is answered. */
typedef union chunk {
  union chunk *next;
  long double aligned;
} chunk;

static chunk *chunks;

static void *room(size_t bytes) {
  chunk *all = calloc(1, sizeof *all + bytes);
  if (!all) stop("no memory");
  all->next = chunks;
  chunks = all;
  return all + 1;
}

static unsigned char *reserve(const char *kind, int number, size_t bytes) {
  const size_t aligned = (bytes + alignment - 1) / alignment * alignment, inner = (aligned + page - 1) / page * page + page;
  region *r = regions + region_count;
  if (region_count == most_tensors) stop("too many tensors");
  r->kind = kind;
  r->number = number;
  r->mapped = inner + 2 * page;
  r->bytes = bytes;
  r->map = mmap(NULL, r->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (r->map == MAP_FAILED || mprotect(r->map + page, inner, PROT_READ | PROT_WRITE)) stop("no memory");
  ++region_count;
  r->begin = r->map + page;
  r->end = r->begin + inner;
  r->data = r->end - aligned;
  memset(r->begin, canary, inner);
  return r->data;
}

static void release(void) {
  while (region_count > 0) {
    --region_count;
    munmap(regions[region_count].map, regions[region_count].mapped);
  }
  while (chunks) {
    chunk *next = chunks->next;
    free(chunks);
    chunks = next;
  }
}

/* Only calls that are safe in a handler. */
static void on_fault(int number, siginfo_t *info, void *context) {
  const unsigned char *at = info->si_addr;
  (void)context;
  for (int i = 0; number == SIGSEGV && i < region_count; ++i) {
    const region *r = regions + i;
    if (at < r->map || at >= r->map + r->mapped) continue;
    char digits[12];
    int n = sizeof digits - 1, rest = r->number;
    digits[n] = 0;
    do digits[--n] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    say("broken ");
    say(at >= r->begin && at < r->end ? "wrote to " : at < r->begin ? "reached before " : "reached past the end of ");
    say(r->kind);
    say(digits + n);
    say("\n");
    _exit(0);
  }
  signal(number, SIG_DFL);
  raise(number);
}

static void watch(void) {
  static unsigned char stack[65536];
  const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaltstack(&other, NULL);
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
}

static char *words; /* of the line that is read; what the judge sends is well-formed */

static const char *word(void) {
  char *found = strsep(&words, " ");
  if (!found) stop("the question ended early");
  return found;
}
static int64_t integer(void) { return strtoll(word(), NULL, 10); }
static double real(void) { return strtod(word(), NULL); }

static unsigned nibble(char c) { return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10); }

static void read_bytes(unsigned char *to, size_t bytes) {
  const char *hex = word();
  for (size_t i = 0; i < bytes; ++i) to[i] = (unsigned char)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
}

static int64_t *integers(size_t count) {
  int64_t *all = room(count * sizeof *all);
  for (size_t i = 0; i < count; ++i) all[i] = integer();
  return all;
}

static void read_operand(etalon_tensor *t, int number) {
  t->dtype = (int32_t)integer();
  if (t->dtype < 0) return;
  t->rank = (int32_t)integer();
  t->shape = integers((size_t)t->rank);
  t->strides = integers((size_t)t->rank);
  const size_t offset = (size_t)integer(), bytes = (size_t)integer();
  unsigned char *data = reserve("operand ", number, bytes);
  read_bytes(data, bytes);
  t->data = data + offset;
}

static size_t read_result(etalon_result *r, int number, int poison) {
  r->dtype = (int32_t)integer();
  r->rank = (int32_t)integer();
  r->shape = integers((size_t)r->rank);
  const size_t bytes = (size_t)integer();
  r->data = reserve("result ", number, bytes);
  memset(r->data, poison, bytes);
  return bytes;
}

static void read_attribute(etalon_attribute *a) {
  a->name = word();
  a->kind = (int32_t)integer();
  a->count = 1;
  if (a->kind == ETALON_REAL) a->real = real();
  if (a->kind == ETALON_SYMBOL) a->symbol = word();
  if (a->kind == ETALON_INTEGER || a->kind == ETALON_BOOLEAN) a->real = (double)(a->integer = integer());
  if (a->kind != ETALON_INTEGERS && a->kind != ETALON_REALS) return;
  a->count = (int32_t)integer();
  double *reals = room((size_t)a->count * sizeof *reals);
  int64_t *whole = room((size_t)a->count * sizeof *whole);
  for (int32_t i = 0; i < a->count; ++i) {
    if (a->kind == ETALON_REALS) reals[i] = real();
    else reals[i] = (double)(whole[i] = integer());
  }
  a->reals = reals;
  if (a->kind == ETALON_INTEGERS) a->integers = whole;
}

static int intact(const unsigned char *from, const unsigned char *to) {
  while (from < to && *from == canary) ++from;
  return from == to;
}

/* The first region one of whose canaries is gone. */
static const region *overrun(void) {
  for (const region *r = regions; r < regions + region_count; ++r)
    if (!intact(r->begin, r->data) || !intact(r->data + r->bytes, r->end)) return r;
  return NULL;
}

static void answer_with(const etalon_result *results, const region *memory, int count) {
  static const char digits[] = "0123456789abcdef";
  fputs("done", answers);
  for (int i = 0; i < count; ++i) {
    fprintf(answers, " %d %d ", results[i].dtype, results[i].rank);
    for (int32_t axis = 0; axis < results[i].rank; ++axis) fprintf(answers, "%lld ", (long long)results[i].shape[axis]);
    if (memory[i].bytes == 0) putc('-', answers);
    for (size_t k = 0; k < memory[i].bytes; ++k) {
      putc(digits[memory[i].data[k] >> 4], answers);
      putc(digits[memory[i].data[k] & 15], answers);
    }
  }
  fputs("\n", answers);
}

/* Of the operands as they are declared: -1 for a single one, the members of a pack. */
static int32_t read_packs(int64_t *packs, int32_t declared) {
  int32_t count = 0;
  for (int32_t i = 0; i < declared; ++i) {
    const int64_t members = integer();
    if (members >= 0) packs[count++] = members;
  }
  return count;
}

static void run(int (*function)(const etalon_kernel_call *)) {
  etalon_kernel_call call;
  memset(&call, 0, sizeof call);
  const int poison = (int)integer();
  call.operand_count = (int32_t)integer();
  etalon_tensor *operands = room((size_t)call.operand_count * sizeof *operands);
  for (int32_t i = 0; i < call.operand_count; ++i) read_operand(operands + i, i);
  for (int i = 0; i < region_count; ++i) mprotect(regions[i].begin, (size_t)(regions[i].end - regions[i].begin), PROT_READ);
  const int first = region_count;
  call.result_count = (int32_t)integer();
  etalon_result *results = room((size_t)call.result_count * sizeof *results);
  for (int32_t i = 0; i < call.result_count; ++i) read_result(results + i, i, poison);
  call.attribute_count = (int32_t)integer();
  etalon_attribute *attributes = room((size_t)call.attribute_count * sizeof *attributes);
  for (int32_t i = 0; i < call.attribute_count; ++i) read_attribute(attributes + i);
  const int32_t declared = (int32_t)integer();
  int64_t *packs = room((size_t)declared * sizeof *packs);
  call.pack_count = read_packs(packs, declared);
  call.packs = packs;
  call.operands = operands;
  call.results = results;
  call.attributes = attributes;
  const int status = function(&call);
  const region *harmed = overrun();
  if (harmed) fprintf(answers, "broken wrote outside of %s%d\n", harmed->kind, harmed->number);
  else if (status) fprintf(answers, "declined the kernel returned %d\n", status);
  else answer_with(results, regions + first, call.result_count);
  release();
}

int main(int count, char **arguments) {
  char *line = NULL;
  size_t length = 0;
  if (count != 3) return 2;
  page = (size_t)sysconf(_SC_PAGESIZE);
  /* What the kernel prints goes to the log. */
  answers = fdopen(dup(STDOUT_FILENO), "w");
  if (!answers || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 2;
  watch();
  dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  int (*function)(const etalon_kernel_call *) = NULL;
  if (library) *(void **)&function = dlsym(library, arguments[2]);
  while (getline(&line, &length, stdin) > 0) {
    line[strcspn(line, "\n")] = 0;
    words = line;
    if (strcmp(word(), "hello") == 0) {
      if (function) fputs("ready\n", answers);
      else fprintf(answers, "broken %s\n", library ? "it has no such function" : dlerror());
    } else if (function) {
      run(function);
    }
    fflush(answers);
    fflush(stdout);
  }
  return 0;
}
