/* Runs a script of kernels on memory, both read from the first file, and writes the memory to the second one. It is built for the machine
   whose kernels it is linked with, and speaks only its own files: whole numbers of 64 bits, little-endian.

     blocks, and for each: bytes, contents
     commands, and for each: what, and
       0 launch: kernel, turns, place of what it has of its own, operands, and the place of each
       1 zeros:  place, bytes
       2 copy:   place from, place to, bytes
   A place is a block and an offset. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*Kernel)(char* const* operands, int64_t begin, int64_t end, char* scratch);
extern const Kernel kernels[]; /* made with the kernels */

static FILE* in;
static char** blocks;

static void read_bytes(void* to, uint64_t bytes) {
  if (bytes != 0 && fread(to, 1, bytes, in) != bytes) exit(3);
}

static uint64_t number(void) {
  uint64_t n;
  read_bytes(&n, sizeof n);
  return n;
}

static char* place(void) {
  char* block = blocks[number()];
  return block + number();
}

static void launch(void) {
  const uint64_t kernel = number(), turns = number();
  char* scratch = place();
  const uint64_t count = number();
  char** operands = malloc((count + 1) * sizeof *operands);
  for (uint64_t i = 0; i < count; ++i) operands[i] = place();
  kernels[kernel](operands, 0, (int64_t)turns, scratch);
  free(operands);
}

static void zeros(void) {
  char* at = place();
  memset(at, 0, number());
}

static void copy(void) {
  const char* from = place();
  char* to = place();
  memcpy(to, from, number());
}

int main(int count, char** arguments) {
  if (count != 3 || (in = fopen(arguments[1], "rb")) == NULL) return 2;
  const uint64_t n = number();
  uint64_t* bytes = malloc((n + 1) * sizeof *bytes);
  blocks = malloc((n + 1) * sizeof *blocks);
  for (uint64_t b = 0; b < n; ++b) {
    bytes[b] = number();
    blocks[b] = aligned_alloc(64, (bytes[b] / 64 + 1) * 64);
    if (blocks[b] == NULL) return 4;
    read_bytes(blocks[b], bytes[b]);
  }
  for (uint64_t commands = number(); commands != 0; --commands) {
    switch (number()) {
      case 0: launch(); break;
      case 1: zeros(); break;
      case 2: copy(); break;
      default: return 5;
    }
  }
  FILE* out = fopen(arguments[2], "wb");
  if (out == NULL) return 6;
  for (uint64_t b = 0; b < n; ++b) {
    if (bytes[b] != 0 && fwrite(blocks[b], 1, bytes[b], out) != bytes[b]) return 7;
  }
  return fclose(out) == 0 ? 0 : 8;
}
