/**
 * \file
 * A kernel in C99 or C++ for `etalon judge-kernel`: one function.
 *
 *     #include "etalon_kernel.h"
 *     int kernel(const etalon_kernel_call *call) {
 *       const float *x = call->operands[0].data;
 *       float *y = call->results[0].data;
 *       for (int64_t i = 0; i < call->results[0].shape[0]; ++i) y[i] = -x[i];
 *       return 0;
 *     }
 *
 * Operands, results and attributes stand in the order of the definition (`etalon explain OPERATION`), attributes in the
 * order of their names. Tensors are dense and row-major unless strides are asked for with `--strided`; data is aligned
 * to 64 bytes where it is dense. An operand may only be read; every element of every result is to be written.
 */
#ifndef ETALON_KERNEL_H
#define ETALON_KERNEL_H

#include "spec/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Room for a dense tensor. What it holds before means nothing. */
typedef struct etalon_result {
  int32_t dtype; /**< an etalon_dtype */
  int32_t rank;
  const int64_t *shape;
  void *data;
} etalon_result;

typedef struct etalon_kernel_call {
  int32_t operand_count;
  const etalon_tensor *operands; /**< `dtype` -1 for an optional one that is not there; the members of a pack in order */
  int32_t result_count;
  const etalon_result *results;
  int32_t attribute_count;
  const etalon_attribute *attributes; /**< all of them; defaults are filled in, axes count from 0 */
  int32_t pack_count;
  const int64_t *packs; /**< how many members each pack has */
} etalon_kernel_call;

/** Returns 0, or something else to decline the question. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int kernel(const etalon_kernel_call *call);

#ifdef __cplusplus
}
#endif

#endif
