/* What the kernels of this backend share: dense operands in wide arithmetic, an arena, plans, and the defect in force. */
#ifndef BLIND_KERNEL_H
#define BLIND_KERNEL_H

#include <math.h>
#include <quadmath.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "spec/backend.h"

/* Elements are widened when they are packed and rounded once when they are stored: a product of two f64 is exact. */
typedef __float128 wide;
#define fabsl fabsq
#define sqrtl sqrtq
#define expl expq
#define expm1l expm1q
#define logl logq
#define log1pl log1pq
#define sinl sinq
#define cosl cosq
#define acosl acosq
#define atanl atanq
#define atan2l atan2q
#define tanhl tanhq
#define coshl coshq
#define erfl erfq
#define powl powq
#define fmodl fmodq
#define floorl floorq
#define ceill ceilq
#define truncl truncq
#define rintl rintq
#define roundl roundq
#define copysignl copysignq

enum { MAX_RANK = 8, MAX_OPERANDS = 12, MAX_RESULTS = 6 };

typedef struct array {
  int32_t dtype; /* -1: absent */
  int32_t rank;
  int64_t shape[MAX_RANK];
  int64_t n;
  wide *d;    /* of reals */
  int64_t *i; /* of integers and truth values */
} array;

typedef struct call_state {
  const etalon_request *request;
  const etalon_call *call;
  etalon_answer *answer;
  int mode;
  int operand_count;
  array in[MAX_OPERANDS], tangent[MAX_OPERANDS];
  int moves[MAX_OPERANDS];  /* whether a tangent came */
  wide *grad[MAX_OPERANDS]; /* of reals in vjp, else NULL */
  int result_count;
  array out[MAX_RESULTS], out_tangent[MAX_RESULTS];
  wide *cotangent[MAX_RESULTS]; /* taken by seed() once the result's shape is known */
  int answered;
} call_state;

typedef void kernel(call_state *);
typedef struct kernel_row {
  const char *name;
  kernel *run;
  int gradients;
} kernel_row;

/* defect.c */
int defect(const char *name);

/* arena.c */
void *take(size_t bytes); /* zeroed, until the request ends */
void *take_dirty(size_t bytes);
void release_all(void);
static inline wide *reals(int64_t n) { return take(sizeof(wide) * (size_t)(n > 0 ? n : 1)); }
static inline int64_t *integers(int64_t n) { return take(sizeof(int64_t) * (size_t)(n > 0 ? n : 1)); }
/* A plan is a table of positions; *fresh says that it is yet to be filled. */
int64_t *plan(const char *key, int64_t n, int *fresh);
void key_text(char *key, const char *text);
void key_numbers(char *key, const int64_t *numbers, int64_t n);
enum { KEY_BYTES = 1024 };

/* pack.c */
int pack(const etalon_tensor *t, array *a);
void unpack(const array *a, void *room);
int is_real(int32_t dtype);
int64_t product(const int64_t *shape, int32_t rank);

/* attribute.c */
int64_t attr_int(call_state *c, const char *name, int64_t otherwise);
wide attr_real(call_state *c, const char *name, wide otherwise);
const char *attr_symbol(call_state *c, const char *name, const char *otherwise);
int attr_is(call_state *c, const char *name, const char *symbol);
/* `count` numbers; one integer stands for all. With *count < 0 the count is the attribute's own. */
int attr_list(call_state *c, const char *name, int64_t *list, int *count, int64_t otherwise);

/* results */
array *result(call_state *c, int r, int32_t dtype, int32_t rank, const int64_t *shape);
wide *seed(call_state *c, int r);
void refuse(call_state *c, const char *what, const char *why);
static inline int absent(const call_state *c, int k) { return k >= c->operand_count || c->in[k].dtype < 0; }
static inline wide as_f32(wide x) { return (wide)(float)x; }

/* Positions in an array of `shape` of the elements of rows: kept axes in order, then `axes` in theirs. */
typedef struct rows {
  int64_t count, length;
  const int64_t *at;
} rows;
rows rows_of(const array *x, const int64_t *axes, int axis_count);
int reduced_shape(const array *x, const int64_t *axes, int n, int keepdims, int64_t *shape);

extern const kernel_row elementwise_rows[], movement_rows[], reduction_rows[], row_rows[], loss_rows[], linear_rows[], window_rows[], step_rows[];

#endif
