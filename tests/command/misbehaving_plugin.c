/* Plug-ins that go wrong, one way each: -DKIND_crash and so on; and two that write scripts, or would, -DKIND_writes and -DKIND_old_table. */
#include <stdio.h>
#include <stdlib.h>

#include "spec/backend.h"

static const char *describe(void *self) {
  (void)self;
#if defined(KIND_bad_description)
  return "{\"etalon\":1,\"name\":\"bad\",\"dtypes\":\"f32\"}";
#elif defined(KIND_writes) || defined(KIND_old_table)
  return "{\"etalon\":1,\"name\":\"writes\",\"version\":\"1\",\"operations\":[\"neg\"],\"dtypes\":[\"f32\"],\"modes\":[\"forward\"],\"scripts\":true}";
#else
  return "{\"etalon\":1,\"name\":\"bad\",\"version\":\"1\",\"operations\":[\"neg\"],\"dtypes\":[\"f32\"],\"modes\":[\"forward\"],\"contract\":{}}";
#endif
}

static void run(void *self, const etalon_request *request, etalon_answer *answer) {
  const etalon_tensor *x = request->inputs;
  (void)self;
#if defined(KIND_crash)
  abort();
#elif defined(KIND_hang)
  for (volatile int forever = 1; forever;) {}
#elif defined(KIND_no_answer)
  (void)answer;
#elif defined(KIND_wrong_place)
  answer->add(answer, ETALON_OUTPUTS, 7, ETALON_F32, x->rank, x->shape);
#elif defined(KIND_wrong_shape)
  const int64_t shape[1] = {3};
  answer->add(answer, ETALON_OUTPUTS, 0, ETALON_F32, 1, shape);
#elif defined(KIND_negative_extent)
  const int64_t shape[1] = {-3};
  answer->add(answer, ETALON_OUTPUTS, 0, ETALON_F32, 1, shape);
#elif defined(KIND_wrong_dtype)
  answer->add(answer, ETALON_OUTPUTS, 0, 17, x->rank, x->shape);
#elif defined(KIND_huge)
  const int64_t shape[3] = {INT64_MAX, INT64_MAX, 2};
  answer->add(answer, ETALON_OUTPUTS, 0, ETALON_F32, 3, shape);
#else
  puts("what a library prints while it works");
  fflush(stdout);
  {
    int64_t count = 1;
    float *room = answer->add(answer, ETALON_OUTPUTS, 0, ETALON_F32, x->rank, x->shape);
    for (int32_t axis = 0; axis < x->rank; ++axis) count *= x->shape[axis];
    if (request->mode != ETALON_FORWARD) answer->unsupported(answer, "mode", "only values");
    else if (x->dtype != ETALON_F32) answer->unsupported(answer, "dtype", "only f32");
    else if (request->call_count != 1) answer->unsupported(answer, "request", "only one call");
    else for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i, at = 0;
      for (int32_t axis = x->rank; axis-- > 0; rest /= x->shape[axis]) at += rest % x->shape[axis] * x->strides[axis];
      room[i] = -((const float *)x->data)[at];
    }
  }
#endif
  (void)x;
}

/* Tells what it was asked; of element 7 it writes none. */
static const char *script(void *self, const etalon_request *request, const etalon_element *shown) {
  static char text[80];
  (void)self;
  if (shown && shown->element == 7) return NULL;
  if (!shown) return "all";
  snprintf(text, sizeof text, "%s %d %d %d", request->calls[0].operation, shown->list, shown->tensor, (int)shown->element);
  return text;
}

#if defined(KIND_no_table)
const char *another_name(void) { (void)run; (void)script; return describe(NULL); }
#else
const etalon_backend *etalon_backend_table(void) {
#if defined(KIND_wrong_version)
  static const etalon_backend table = {ETALON_BACKEND_VERSION + 1, NULL, describe, run, NULL, script};
#elif defined(KIND_old_table)
  static const etalon_backend table = {1, NULL, describe, run, NULL, script};
#else
  static const etalon_backend table = {ETALON_BACKEND_VERSION, NULL, describe, run, NULL, script};
#endif
  return &table;
}
#endif
