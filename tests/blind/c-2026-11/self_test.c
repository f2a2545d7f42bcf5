/* Asks the witness of every defect of a library with and without it, through its own table. Usage: self_test LIBRARY defects.json
 *
 * A witness is `operation mode` and words: `name=value` an attribute, `f32[2,3]=…` an operand, whose numbers are a list,
 * `ramp:first:step`, `fill:v` or `hash:seed`; `@t` after the shape stores a matrix by columns, `@z` all its rows once, `@n` a
 * vector backwards; `-` is an absent operand, `same` the one before once more. Tangents and cotangents are `hash`es. `exact`
 * asks for other bits, else answers must differ by eight units in the last place. The last request after `||` is compared. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spec/backend.h"

enum { MOST = 200000, INPUTS = 12 };
typedef struct number { int64_t dtype, bits; } number;
typedef struct answers { number *all; int count; int64_t shape[8]; int32_t rank, dtype; void *room[32]; int64_t size[32]; int32_t type[32]; int rooms; int refused; } answers;

static int64_t volume(int32_t rank, const int64_t *shape) {
  int64_t n = 1;
  for (int32_t a = 0; a < rank; ++a) n *= shape[a];
  return n;
}
static int64_t width(int32_t dtype) { return dtype == ETALON_F64 || dtype == ETALON_I64 ? 8 : dtype == ETALON_BOOL ? 1 : 4; }

static void *add(etalon_answer *to, int32_t list, int32_t position, int32_t dtype, int32_t rank, const int64_t *shape) {
  answers *a = to->host;
  if (list == ETALON_OUTPUTS && position == 0) {
    a->rank = rank;
    a->dtype = dtype;
    if (rank) memcpy(a->shape, shape, sizeof(int64_t) * (size_t)rank);
  }
  const int r = a->rooms++;
  a->size[r] = volume(rank, shape);
  a->type[r] = dtype;
  return a->room[r] = calloc((size_t)a->size[r] + 1, 8);
}
static void declined(etalon_answer *to, const char *what, const char *why) {
  fprintf(stderr, "unsupported: %s: %s\n", what, why);
  ((answers *)to->host)->refused = 1;
}
static void failed(etalon_answer *to, const char *why) { declined(to, "error", why); }

static double hash(uint64_t seed, int64_t k) {
  uint64_t z = (uint64_t)(k + 1) * 0x9E3779B97F4A7C15u + seed * 0xD1B54A32D192ED03u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (double)(z >> 40) / 8388608.0 - 1.0 + 0.03;
}

static void put(int32_t dtype, void *data, int64_t k, double real, int64_t whole) {
  if (dtype == ETALON_F32) ((float *)data)[k] = (float)real;
  else if (dtype == ETALON_F64) ((double *)data)[k] = real;
  else if (dtype == ETALON_I32) ((int32_t *)data)[k] = (int32_t)whole;
  else if (dtype == ETALON_I64) ((int64_t *)data)[k] = whole;
  else ((uint8_t *)data)[k] = whole != 0;
}

static void fill(int32_t dtype, void *data, int64_t n, const char *text) {
  double first = 0, step = 0;
  if (sscanf(text, "ramp:%lf:%lf", &first, &step) == 2 || sscanf(text, "fill:%lf", &first) == 1) {
    for (int64_t k = 0; k < n; ++k) put(dtype, data, k, first + step * (double)k, (int64_t)(first + step * (double)k));
  } else if (sscanf(text, "hash:%lf", &first) == 1) {
    for (int64_t k = 0; k < n; ++k) put(dtype, data, k, hash((uint64_t)first, k), 0);
  } else {
    for (int64_t k = 0; k < n; ++k) {
      put(dtype, data, k, strtod(text, NULL), strtoll(text, NULL, 10));
      const char *comma = strchr(text, ',');
      text = comma ? comma + 1 : text;
    }
  }
}

static int dtype_of(const char *word) {
  static const char *const names[] = {"f16[", "bf16[", "f32[", "f64[", "i32[", "i64[", "bool["};
  for (int d = 0; d < 7; ++d)
    if (strncmp(word, names[d], strlen(names[d])) == 0) return d;
  return -1;
}

static void operand(etalon_tensor *t, const char *word) {
  int64_t *shape = calloc(8, 8), *strides = calloc(8, 8);
  const char *p = strchr(word, '[') + 1;
  t->dtype = dtype_of(word);
  t->rank = 0;
  while (*p != ']') {
    shape[t->rank++] = strtoll(p, (char **)&p, 10);
    if (*p == ',') ++p;
  }
  const int64_t n = volume(t->rank, shape);
  int64_t stride = 1;
  for (int32_t a = t->rank; a-- > 0; stride *= shape[a]) strides[a] = stride;
  char *data = calloc((size_t)n + 1, 8);
  t->data = data;
  fill(t->dtype, data, n, strchr(p, '=') + 1);
  if (p[1] == '@' && p[2] == 't') { strides[0] = 1; strides[1] = shape[0]; }
  if (p[1] == '@' && p[2] == 'z') strides[0] = 0;
  if (p[1] == '@' && p[2] == 'n') { strides[0] = -1; t->data = data + (n - 1) * width(t->dtype); }
  t->shape = shape;
  t->strides = strides;
}

static void attribute(etalon_attribute *a, char *word) {
  char *value = strchr(word, '=');
  *value++ = 0;
  a->name = word;
  if (*value == '[') {
    int64_t *list = calloc(16, 8);
    for (++value; *value && *value != ']'; value += *value == ',') list[a->count++] = strtoll(value, &value, 10);
    a->kind = ETALON_INTEGERS;
    a->integers = list;
  } else if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
    a->kind = ETALON_BOOLEAN;
    a->integer = *value == 't';
  } else if ((*value >= '0' && *value <= '9') || *value == '-' || strcmp(value, "inf") == 0) {
    a->kind = strpbrk(value, ".ein") ? ETALON_REAL : ETALON_INTEGER;
    a->real = strtod(value, NULL);
    a->integer = a->kind == ETALON_INTEGER ? strtoll(value, NULL, 10) : 0;
  } else {
    a->kind = ETALON_SYMBOL;
    a->symbol = value;
  }
}

static int results_of(const char *operation) {
  static const char *const several[] = {"sgd2", "adam3", "adamw3", "adagrad2", "rmsprop4", "adamax3", "lion2"};
  for (int k = 0; k < 7; ++k)
    if (strncmp(several[k], operation, strlen(operation)) == 0 && strlen(several[k]) == strlen(operation) + 1) return several[k][strlen(operation)] - '0';
  return 1;
}

static void ask(const etalon_backend *library, char *text, answers *last, int *exact) {
  etalon_tensor inputs[INPUTS], tangents[INPUTS], cotangents[8];
  int32_t operands[INPUTS], results[8], outputs[8];
  uint8_t wrt[INPUTS] = {0};
  etalon_attribute attributes[16];
  memset(attributes, 0, sizeof attributes);
  memset(tangents, 0, sizeof tangents);
  etalon_call call = {0};
  etalon_request request = {0};
  char *state = NULL;
  call.operation = strtok_r(text, " ", &state);
  const char mode = strtok_r(NULL, " ", &state)[0];
  for (char *word; (word = strtok_r(NULL, " ", &state));) {
    if (strcmp(word, "exact") == 0) *exact = 1;
    else if (strcmp(word, "-") == 0) operands[call.operand_count++] = -1;
    else if (strcmp(word, "same") == 0) { operands[call.operand_count] = operands[call.operand_count - 1]; ++call.operand_count; }
    else if (dtype_of(word) >= 0) { operand(&inputs[request.input_count], word); operands[call.operand_count++] = request.input_count++; }
    else attribute(&attributes[call.attribute_count++], word);
  }
  for (int k = 0; k < request.input_count; ++k) {
    const int real = inputs[k].dtype == ETALON_F32 || inputs[k].dtype == ETALON_F64;
    char spell[32];
    tangents[k].dtype = -1;
    if (!real) continue;
    wrt[k] = mode == 'v';
    tangents[k] = inputs[k];
    int64_t *strides = calloc(8, 8), stride = 1;
    for (int32_t a = inputs[k].rank; a-- > 0; stride *= inputs[k].shape[a]) strides[a] = stride;
    void *data = calloc((size_t)volume(inputs[k].rank, inputs[k].shape) + 1, 8);
    snprintf(spell, sizeof spell, "hash:%d", 100 + k);
    fill(inputs[k].dtype, data, volume(inputs[k].rank, inputs[k].shape), spell);
    tangents[k].strides = strides;
    tangents[k].data = data;
  }
  call.result_count = results_of(call.operation);
  for (int r = 0; r < call.result_count; ++r) results[r] = outputs[r] = request.input_count + r;
  call.operands = operands;
  call.attributes = attributes;
  call.results = results;
  request.inputs = inputs;
  request.call_count = 1;
  request.calls = &call;
  request.value_count = request.input_count + call.result_count;
  request.output_count = call.result_count;
  request.outputs = outputs;
  request.wrt = wrt;
  request.tangents = tangents;
  request.cotangents = cotangents;
  for (int r = 0; r < 8; ++r) cotangents[r].dtype = -1;
  etalon_answer to = {last, add, declined, failed, failed};
  if (mode == 'v') { /* the values first: they have the shape that the cotangent needs */
    answers first;
    memset(&first, 0, sizeof first);
    etalon_answer shape_only = {&first, add, declined, failed, failed};
    library->run(NULL, &request, &shape_only);
    etalon_tensor *g = &cotangents[0];
    int64_t *shape = calloc(8, 8), *strides = calloc(8, 8), stride = 1;
    memcpy(shape, first.shape, sizeof first.shape);
    for (int32_t a = first.rank; a-- > 0; stride *= shape[a]) strides[a] = stride;
    void *data = calloc((size_t)volume(first.rank, shape) + 1, 8);
    fill(first.dtype, data, volume(first.rank, shape), "hash:7");
    *g = (etalon_tensor){first.dtype, first.rank, shape, strides, data};
    request.mode = ETALON_VJP;
  } else if (mode == 'j') request.mode = ETALON_JVP;
  memset(last, 0, sizeof *last);
  library->run(NULL, &request, &to);
}

/* Runs the witness in a process of its own; the number of numbers in its answer, or -1. */
static int answer_of(const char *path, const char *name, const char *witness, number *all, int *exact) {
  int ends[2];
  fflush(stdout);
  if (pipe(ends)) return -1;
  const pid_t child = fork();
  if (child == 0) {
    setenv("ETALON_BLIND", name, 1);
    void *library = dlopen(path, RTLD_NOW);
    if (!library) { fprintf(stderr, "%s\n", dlerror()); _exit(2); }
    const etalon_backend *(*table)(void);
    *(void **)&table = dlsym(library, "etalon_backend_table");
    answers last;
    int32_t asks_exact = 0;
    char *text = strdup(witness);
    for (char *rest = text; rest;) {
      char *next = strstr(rest, "||");
      if (next) { *next = 0; next += 2; }
      ask(table(), rest, &last, &asks_exact);
      rest = next;
    }
    if (last.refused) _exit(3);
    number head = {asks_exact, last.rooms};
    if (write(ends[1], &head, sizeof head) != sizeof head) _exit(4);
    for (int r = 0; r < last.rooms; ++r)
      for (int64_t k = 0; k < last.size[r]; ++k) {
        number one = {last.type[r], 0};
        memcpy(&one.bits, (char *)last.room[r] + k * width(last.type[r]), (size_t)width(last.type[r]));
        if (write(ends[1], &one, sizeof one) != sizeof one) _exit(4);
      }
    _exit(0);
  }
  close(ends[1]);
  FILE *in = fdopen(ends[0], "rb");
  number head;
  int count = -1;
  if (fread(&head, sizeof head, 1, in) == 1) {
    *exact = (int)head.dtype;
    count = (int)fread(all, sizeof *all, MOST, in);
  }
  fclose(in);
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? count : -1;
}

static int apart(number a, number b, int exact) {
  if (a.bits == b.bits) return 0;
  if (exact || (a.dtype != ETALON_F32 && a.dtype != ETALON_F64)) return 1;
  double x, y;
  if (a.dtype == ETALON_F32) {
    float s, t;
    memcpy(&s, &a.bits, 4);
    memcpy(&t, &b.bits, 4);
    x = s;
    y = t;
  } else {
    memcpy(&x, &a.bits, 8);
    memcpy(&y, &b.bits, 8);
  }
  if (isnan(x) || isnan(y)) return isnan(x) != isnan(y);
  return !(fabs(x - y) <= fabs(x) * (a.dtype == ETALON_F32 ? 0x1p-20 : 0x1p-49));
}

static int field(const char *line, const char *key, char *to, size_t room) {
  const char *p = strstr(line, key);
  if (!p) return 0;
  p += strlen(key);
  const char *end = strchr(p, '"');
  if (!end || (size_t)(end - p) >= room) return 0;
  memcpy(to, p, (size_t)(end - p));
  to[end - p] = 0;
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) { fprintf(stderr, "usage: self_test LIBRARY defects.json\n"); return 2; }
  FILE *list = fopen(argv[2], "r");
  number *sound = calloc(MOST, sizeof *sound), *defective = calloc(MOST, sizeof *defective);
  char line[4096], name[128], witness[2048];
  int count = 0, wrong = 0;
  if (!list || !sound || !defective) { fprintf(stderr, "%s cannot be read\n", argv[2]); return 2; }
  while (fgets(line, sizeof line, list)) {
    if (!field(line, "\"name\": \"", name, sizeof name) || !field(line, "\"witness\": \"", witness, sizeof witness)) continue;
    int exact = 0, different = 0;
    const int n = answer_of(argv[1], "", witness, sound, &exact), m = answer_of(argv[1], name, witness, defective, &exact);
    for (int k = 0; n > 0 && n == m && k < n; ++k) different |= apart(sound[k], defective[k], exact);
    ++count;
    if (different) continue;
    ++wrong;
    printf("%s: %s\n", name, n <= 0 || n != m ? "no answer to compare" : "the answers agree");
  }
  printf("%d of %d defects differ at their witness\n", count - wrong, count);
  return wrong || count == 0;
}
