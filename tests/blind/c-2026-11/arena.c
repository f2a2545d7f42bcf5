/* Scratch memory of one request, and plans that outlive it. */
#include "kernel.h"
#include <stdio.h>

enum { MAX_PLANS = 4096, MAX_BLOCKS = 65536 };
static void *blocks[MAX_BLOCKS];
static int block_count;

typedef struct stored_plan {
  char *key;
  int64_t n;
  int64_t *table;
} stored_plan;
static stored_plan plans[MAX_PLANS];
static int plan_count;

void *take_dirty(size_t bytes) {
  if (block_count == MAX_BLOCKS) abort();
  void *block = malloc(bytes ? bytes : 1);
  if (!block) abort();
  return blocks[block_count++] = block;
}

void *take(size_t bytes) { return memset(take_dirty(bytes), 0, bytes ? bytes : 1); }

void release_all(void) {
  while (block_count > 0) free(blocks[--block_count]);
}

void key_text(char *key, const char *text) {
  const size_t used = strlen(key);
  snprintf(key + used, KEY_BYTES - used, "%s;", text);
}

void key_numbers(char *key, const int64_t *numbers, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const size_t used = strlen(key);
    snprintf(key + used, KEY_BYTES - used, "%lld,", (long long)numbers[i]);
  }
  key_text(key, "");
}

int64_t *plan(const char *key, int64_t n, int *fresh) {
  *fresh = 0;
  for (int p = 0; p < plan_count; ++p)
    if (plans[p].n == n && strcmp(plans[p].key, key) == 0) return plans[p].table;
  *fresh = 1;
  if (plan_count == MAX_PLANS || n > 65536) return integers(n);
  stored_plan *made = &plans[plan_count++];
  made->key = malloc(strlen(key) + 1);
  made->table = calloc((size_t)(n > 0 ? n : 1), sizeof(int64_t));
  if (!made->key || !made->table) abort();
  strcpy(made->key, key);
  made->n = n;
  return made->table;
}
