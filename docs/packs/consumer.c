/* A golden pack holds a function in C: etalon pack header PACK softmax > tests.h
   cc -DTESTS='"tests.h"' -DSOFTMAX='"mine.h"' consumer.c -lm && ./a.out */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include TESTS   /* etalon_softmax, etalon_softmax_count */
#include SOFTMAX /* void softmax(const float *x, float *y, size_t outer, size_t n, size_t inner) */

static float at(const uint8_t *data, size_t i) { float x; memcpy(&x, data + 4 * i, 4); return x; }

static int holds(const etalon_way *way, const float *y) {
  for (size_t i = 0; i < way->admits_count; ++i) {
    const int bits = way->admits[i];
    if (!((bits & 16) || ((bits & 1) && isfinite(y[i]) && at(way->lower, i) <= y[i] && y[i] <= at(way->upper, i)) ||
          ((bits & 2) && y[i] == INFINITY) || ((bits & 4) && y[i] == -INFINITY) || ((bits & 8) && isnan(y[i])))) return 0;
  }
  return 1;
}

int main(void) {
  size_t asked = 0, failed = 0;
  for (const etalon_test *t = etalon_softmax; t < etalon_softmax + etalon_softmax_count; ++t) {
    if (strcmp(t->mode, "forward") || t->rejected || strcmp(t->inputs[0].dtype, "f32")) continue;
    const etalon_tensor *in = &t->inputs[0];
    size_t axis = (size_t)strtol(strpbrk(t->attributes[0].value, "0123456789"), NULL, 10), outer = 1, inner = 1;
    for (size_t d = 0; d < in->shape_count; ++d) if (d != axis) *(d < axis ? &outer : &inner) *= (size_t)in->shape[d];
    float *x = malloc(in->data_count + 1), *y = malloc(in->data_count + 1);
    if (in->data_count > 0) memcpy(x, in->data, in->data_count);
    softmax(x, y, outer, (size_t)in->shape[axis], inner);
    int right = 0;
    for (size_t w = 0; w < t->results[0].ways_count; ++w) right |= holds(&t->results[0].ways[w], y);
    ++asked, failed += !right;
    if (!right) printf("%s fails\n", t->id);
    free(x), free(y);
  }
  printf("%zu tests, %zu failed\n", asked, failed);
  return failed > 0 || asked == 0;
}
