/* Kernels of other operations that cheat in one way each: -DCHEAT=name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "etalon_kernel.h"

enum cheat {
  epsilon_outside, no_epsilon, sample_variance, one_pass_variance, honest_norm,                    /* row_norm */
  half_accumulator, int_accumulator, small_ones_lost, honest_sum, pairwise_sum,                    /* row_sum */
  float_accumulator, honest_double_sum,                                                            /* row_sum in f64 */
  nan_dropped, identity, honest_relu, one_type_only,                                               /* relu */
  zero_minus, dense_only, honest_neg,                                                              /* neg */
  minus_zero_lost, zero_turned,                                                                    /* reciprocal */
  last_axis_only,                                                                                  /* softmax */
  default_only,                                                                                    /* scale */
  subnormals_flushed,                                                                              /* row_tenths */
  ten_bits, honest_product,                                                                        /* matmul */
  same_shapes_only                                                                                 /* add */
};

static int64_t count_of(int32_t rank, const int64_t *shape) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < rank; ++axis) count *= shape[axis];
  return count;
}

static void norm(const float *x, float *y, int64_t m, int64_t n, enum cheat how) {
  for (int64_t i = 0; i < m; ++i, x += n, y += n) {
    float mean = 0, variance = 0, squares = 0;
    for (int64_t j = 0; j < n; ++j) mean += x[j];
    mean /= (float)n;
    for (int64_t j = 0; j < n; ++j) variance += (x[j] - mean) * (x[j] - mean), squares += x[j] * x[j];
    variance /= (float)(how == sample_variance && n > 1 ? n - 1 : n);
    if (how == one_pass_variance) variance = fmaxf(squares / (float)n - mean * mean, 0);
    const float divisor = how == epsilon_outside ? sqrtf(variance) + 1e-5f : how == no_epsilon ? sqrtf(variance) : sqrtf(variance + 1e-5f);
    for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - mean) / divisor;
  }
}

static float shortened(float x, int bits) { /* to the nearest number of so many bits */
  uint32_t u;
  if (!(fabsf(x) > 1e-37f && fabsf(x) < 1e38f)) return x;
  memcpy(&u, &x, sizeof u);
  if (bits < 24) u = (u + (UINT32_C(1) << (23 - bits))) & ~((UINT32_C(1) << (24 - bits)) - 1);
  memcpy(&x, &u, sizeof u);
  return x;
}

static float pairwise(const float *x, int64_t n) {
  return n == 0 ? 0 : n == 1 ? x[0] : pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2);
}

static void sum(const float *x, float *y, int64_t m, int64_t n, enum cheat how) {
  for (int64_t i = 0; i < m; ++i, x += n) {
    float all = how == pairwise_sum ? pairwise(x, n) : 0;
    for (int64_t j = 0; j < n && how != pairwise_sum; ++j) {
      const float term = how == int_accumulator ? rintf(x[j] * 65536) / 65536 : how == small_ones_lost && fabsf(x[j]) < 1e-6f ? 0 : x[j];
      all = how == half_accumulator ? shortened(all + term, 11) : all + term;
    }
    y[i] = all;
  }
}

static void sum_of_doubles(const double *x, double *y, int64_t m, int64_t n, enum cheat how) {
  for (int64_t i = 0; i < m; ++i, x += n) {
    float few = 0;
    double all = 0;
    for (int64_t j = 0; j < n; ++j) few += (float)x[j], all += x[j];
    y[i] = how == float_accumulator ? few : all;
  }
}

static void product(const float *x, const float *y, float *z, int64_t m, int64_t k, int64_t n, enum cheat how) {
  const int bits = how == ten_bits ? 11 : 24;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float all = 0;
      for (int64_t l = 0; l < k; ++l) all += shortened(x[i * k + l], bits) * shortened(y[l * n + j], bits);
      z[i * n + j] = all;
    }
}

static const float *placed(const etalon_tensor *t, int64_t k, int respects) { /* element k in row-major order */
  int64_t position = 0;
  if (!respects) return (const float *)t->data + k;
  for (int32_t axis = t->rank; axis-- > 0; k /= t->shape[axis]) position += k % t->shape[axis] * t->strides[axis];
  return (const float *)t->data + position;
}

static void softmax_of_rows(const float *x, float *y, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i, x += n, y += n) {
    float top = -INFINITY, all = 0;
    for (int64_t j = 0; j < n; ++j) top = x[j] > top || x[j] != x[j] ? x[j] : top;
    for (int64_t j = 0; j < n; ++j) all += y[j] = expf(x[j] - top);
    for (int64_t j = 0; j < n; ++j) y[j] /= all;
  }
}

int kernel(const etalon_kernel_call *call) {
  const enum cheat how = CHEAT;
  const etalon_tensor *operand = call->operands;
  const etalon_result *result = call->results;
  const int64_t *shape = operand->shape, count = count_of(operand->rank, shape);
  const float *x = operand->data;
  float *y = result->data;
  switch (how) {
    case epsilon_outside: case no_epsilon: case sample_variance: case one_pass_variance: case honest_norm:
      norm(x, y, shape[0], shape[1], how);
      break;
    case half_accumulator: case int_accumulator: case small_ones_lost: case honest_sum: case pairwise_sum:
      sum(x, y, shape[0], shape[1], how);
      break;
    case float_accumulator: case honest_double_sum: sum_of_doubles(operand->data, result->data, shape[0], shape[1], how); break;
    case nan_dropped:
      for (int64_t k = 0; k < count; ++k) y[k] = x[k] > 0 ? x[k] : 0;
      break;
    case identity: memcpy(y, x, sizeof *y * (size_t)count); break;
    case honest_relu: case one_type_only:
      if (how == one_type_only && operand->dtype != ETALON_F32) return 1;
      for (int64_t k = 0; k < count; ++k) y[k] = x[k] <= 0 ? 0 : x[k];
      break;
    case zero_minus:
      for (int64_t k = 0; k < count; ++k) y[k] = 0 - x[k];
      break;
    case minus_zero_lost: case zero_turned:
      for (int64_t k = 0; k < count; ++k) y[k] = 1 / (how == zero_turned ? -(0.0f - x[k]) : x[k] + 0.0f);
      break;
    case dense_only: case honest_neg:
      for (int64_t k = 0; k < count; ++k) y[k] = -*placed(operand, k, how == honest_neg);
      break;
    case last_axis_only: {
      const int64_t n = operand->rank > 0 ? shape[operand->rank - 1] : 1;
      softmax_of_rows(x, y, n > 0 ? count / n : 0, n);
      break;
    }
    case default_only: case subnormals_flushed: {
      const float by = how == default_only ? 0.5f : 0.3f;
#if defined(__SSE2__)
      if (how == subnormals_flushed) _mm_setcsr(_mm_getcsr() | 0x8040); /* operands and results */
#endif
      for (int64_t k = 0; k < count; ++k) y[k] = x[k] * by;
      break;
    }
    case ten_bits: case honest_product:
      if (operand[0].rank != 2 || operand[1].rank != 2) return 1;
      product(x, operand[1].data, y, shape[0], shape[1], operand[1].shape[1], how);
      break;
    case same_shapes_only:
      for (int64_t k = 0; k < count && k < count_of(result->rank, result->shape); ++k) y[k] = x[k] + ((const float *)operand[1].data)[k];
      break;
  }
  return 0;
}
