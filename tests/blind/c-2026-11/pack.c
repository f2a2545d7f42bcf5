/* Strided operands to dense wide arrays, dense results back; attributes by name. */
#include "kernel.h"

int is_real(int32_t dtype) { return dtype == ETALON_F32 || dtype == ETALON_F64; }

int64_t product(const int64_t *shape, int32_t rank) {
  int64_t n = 1;
  for (int32_t axis = 0; axis < rank; ++axis) n *= shape[axis];
  return n;
}

static wide real_at(const etalon_tensor *t, int64_t p) {
  if (t->dtype == ETALON_F32) {
    const float v = ((const float *)t->data)[p];
    if (defect("denormal-f32-load-flushed") && fabsf(v) < 1.17549435e-38f) return 0;
    return (wide)v;
  }
  return (wide)((const double *)t->data)[p];
}

static int64_t integer_at(const etalon_tensor *t, int64_t p) {
  if (t->dtype == ETALON_I32) return ((const int32_t *)t->data)[p];
  if (t->dtype == ETALON_I64) {
    const int64_t v = ((const int64_t *)t->data)[p];
    if (defect("i64-load-through-double")) return (int64_t)(double)(v > INT64_MAX - 1024 ? INT64_MAX - 1024 : v);
    return v;
  }
  return ((const uint8_t *)t->data)[p] != 0;
}

int pack(const etalon_tensor *t, array *a) {
  memset(a, 0, sizeof *a);
  a->dtype = t->dtype;
  if (t->dtype < 0) return 1;
  if (t->dtype == ETALON_F16 || t->dtype == ETALON_BF16) return 0;
  a->rank = t->rank;
  if (t->rank) memcpy(a->shape, t->shape, sizeof(int64_t) * (size_t)t->rank);
  a->n = product(a->shape, a->rank);
  if (is_real(a->dtype)) a->d = reals(a->n);
  else a->i = integers(a->n);
  int64_t index[MAX_RANK] = {0}, strides[MAX_RANK], position = 0;
  for (int32_t axis = 0; axis < a->rank; ++axis) strides[axis] = t->strides[axis];
  if (defect("fast-path-ignores-permutation") && a->rank == 2 && strides[0] == 1 && strides[1] == a->shape[0]) {
    strides[0] = a->shape[1]; /* looks dense by its total size */
    strides[1] = 1;
  }
  if (defect("negative-stride-from-front"))
    for (int32_t axis = 0; axis < a->rank; ++axis)
      if (strides[axis] < 0) strides[axis] = 0;
  for (int64_t k = 0; k < a->n; ++k) {
    if (a->d) a->d[k] = real_at(t, position);
    else a->i[k] = integer_at(t, position);
    if (defect("broadcast-stride-loads-once") && a->rank == 2 && strides[0] == 0 && k + 1 == a->shape[1]) break;
    for (int32_t axis = a->rank; axis-- > 0;) {
      position += strides[axis];
      if (++index[axis] < a->shape[axis]) break;
      position -= index[axis] * strides[axis];
      index[axis] = 0;
    }
  }
  return 1;
}

void unpack(const array *a, void *room) {
  for (int64_t k = 0; k < a->n; ++k) switch (a->dtype) {
      case ETALON_F32: {
        float v = (float)a->d[k];
        if (defect("denormal-f32-store-flushed") && fabsf(v) < 1.17549435e-38f) v = 0;
        ((float *)room)[k] = v;
        break;
      }
      case ETALON_F64: ((double *)room)[k] = (double)a->d[k]; break;
      case ETALON_I32: ((int32_t *)room)[k] = (int32_t)(uint32_t)(uint64_t)a->i[k]; break;
      case ETALON_I64: ((int64_t *)room)[k] = a->i[k]; break;
      default: ((uint8_t *)room)[k] = a->i[k] != 0;
    }
}

static const etalon_attribute *find(call_state *c, const char *name) {
  for (int32_t a = 0; a < c->call->attribute_count; ++a)
    if (strcmp(c->call->attributes[a].name, name) == 0) return &c->call->attributes[a];
  return NULL;
}

int64_t attr_int(call_state *c, const char *name, int64_t otherwise) {
  const etalon_attribute *a = find(c, name);
  if (!a) return otherwise;
  if (a->kind == ETALON_REAL) return (int64_t)a->real;
  return a->kind == ETALON_INTEGERS && a->count > 0 ? a->integers[0] : a->integer;
}

wide attr_real(call_state *c, const char *name, wide otherwise) {
  const etalon_attribute *a = find(c, name);
  if (!a) return otherwise;
  if (a->kind == ETALON_VALUE) {
    array value;
    if (a->integer >= c->request->input_count || !pack(&c->request->inputs[a->integer], &value)) {
      refuse(c, "attribute", "a value that is no input");
      return otherwise;
    }
    return value.d ? value.d[0] : (wide)value.i[0];
  }
  return a->kind == ETALON_BOOLEAN ? (wide)a->integer : (wide)a->real;
}

const char *attr_symbol(call_state *c, const char *name, const char *otherwise) {
  const etalon_attribute *a = find(c, name);
  return a && a->symbol ? a->symbol : otherwise;
}

int attr_is(call_state *c, const char *name, const char *symbol) { return strcmp(attr_symbol(c, name, ""), symbol) == 0; }

int attr_list(call_state *c, const char *name, int64_t *list, int *count, int64_t otherwise) {
  const etalon_attribute *a = find(c, name);
  if (a && (a->kind == ETALON_INTEGERS || a->kind == ETALON_REALS)) {
    if (*count < 0) *count = a->count;
    if (a->count < *count && a->count != 1) return 0;
    for (int k = 0; k < *count && k < 64; ++k) {
      const int from = a->count == 1 ? 0 : k;
      list[k] = a->kind == ETALON_INTEGERS ? a->integers[from] : (int64_t)a->reals[from];
    }
    return 1;
  }
  if (*count < 0) *count = a ? 1 : 0;
  for (int k = 0; k < *count; ++k) list[k] = a && a->kind != ETALON_SYMBOL ? a->integer : otherwise;
  return a != NULL;
}
