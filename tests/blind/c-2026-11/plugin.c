/* The table that the host asks for: one call at a time, values and both first derivatives. */
#include "kernel.h"
#include <stdio.h>

static const kernel_row *const families[] = {elementwise_rows, movement_rows, reduction_rows, row_rows, loss_rows, linear_rows, window_rows, step_rows};
enum { FAMILIES = sizeof families / sizeof *families };

void refuse(call_state *c, const char *what, const char *why) {
  if (!c->answered) c->answer->unsupported(c->answer, what, why);
  c->answered = 1;
}

static array dense(int32_t dtype, int32_t rank, const int64_t *shape) {
  array a;
  memset(&a, 0, sizeof a);
  a.dtype = dtype;
  a.rank = rank;
  if (rank) memcpy(a.shape, shape, sizeof(int64_t) * (size_t)rank);
  a.n = product(a.shape, rank);
  if (is_real(dtype)) a.d = reals(a.n);
  else a.i = integers(a.n);
  return a;
}

array *result(call_state *c, int r, int32_t dtype, int32_t rank, const int64_t *shape) {
  c->out[r] = dense(dtype, rank, shape);
  c->out_tangent[r] = dense(is_real(dtype) ? dtype : ETALON_F64, rank, shape);
  return &c->out[r];
}

wide *seed(call_state *c, int r) {
  if (c->cotangent[r]) return c->cotangent[r];
  c->cotangent[r] = reals(c->out[r].n);
  for (int32_t o = 0; o < c->request->output_count; ++o) {
    array g;
    if (c->request->outputs[o] != c->call->results[r] || !pack(&c->request->cotangents[o], &g) || !g.d) continue;
    for (int64_t e = 0; e < g.n && e < c->out[r].n; ++e) c->cotangent[r][e] += g.d[e];
  }
  return c->cotangent[r];
}

static const kernel_row *find(const char *name) {
  for (int f = 0; f < FAMILIES; ++f)
    for (const kernel_row *row = families[f]; row->name; ++row)
      if (strcmp(row->name, name) == 0) return row;
  return NULL;
}

static int take_operands(call_state *c) {
  const etalon_request *q = c->request;
  c->operand_count = c->call->operand_count;
  if (c->operand_count > MAX_OPERANDS) { refuse(c, "request", "many operands"); return 0; }
  for (int k = 0; k < c->operand_count; ++k) {
    const int32_t value = c->call->operands[k];
    if (value < 0) { c->in[k].dtype = -1; continue; }
    if (value >= q->input_count) { refuse(c, "request", "operands that are no inputs"); return 0; }
    if (!pack(&q->inputs[value], &c->in[k])) { refuse(c, "dtype", "no 16-bit types"); return 0; }
    if (!c->in[k].d) continue;
    c->moves[k] = c->mode == ETALON_JVP && q->tangents[value].dtype >= 0 && pack(&q->tangents[value], &c->tangent[k]);
    if (c->mode == ETALON_JVP && !c->moves[k]) c->tangent[k] = dense(c->in[k].dtype, c->in[k].rank, c->in[k].shape);
    if (c->mode == ETALON_VJP && q->wrt && q->wrt[value]) c->grad[k] = reals(c->in[k].n);
  }
  return 1;
}

/* Derivatives by attributes that are values of the program are not offered. */
static int differentiates_attributes(const call_state *c) {
  const etalon_request *q = c->request;
  for (int32_t v = 0; v < q->input_count; ++v) {
    int operand = 0;
    for (int k = 0; k < c->operand_count; ++k) operand |= c->call->operands[k] == v;
    if (!operand && ((c->mode == ETALON_VJP && q->wrt && q->wrt[v]) || (c->mode == ETALON_JVP && q->tangents[v].dtype >= 0))) return 1;
  }
  return 0;
}

static void give(call_state *c, int list, int position, const array *a) {
  void *room = c->answer->add(c->answer, list, position, a->dtype, a->rank, a->shape);
  if (room) unpack(a, room);
}

static void answer(call_state *c) {
  const etalon_request *q = c->request;
  for (int32_t o = 0; o < q->output_count; ++o)
    for (int32_t r = 0; r < c->call->result_count; ++r)
      if (q->outputs[o] == c->call->results[r]) {
        give(c, ETALON_OUTPUTS, o, &c->out[r]);
        if (c->mode == ETALON_JVP && c->out[r].d) give(c, ETALON_TANGENTS, o, &c->out_tangent[r]);
      }
  for (int32_t v = 0; v < q->input_count && c->mode == ETALON_VJP; ++v) {
    if (!q->wrt || !q->wrt[v]) continue;
    array sum = dense(q->inputs[v].dtype, q->inputs[v].rank, q->inputs[v].shape);
    for (int k = 0; k < c->operand_count; ++k)
      if (c->call->operands[k] == v && c->grad[k])
        for (int64_t e = 0; e < sum.n; ++e) {
          if (defect("same-operand-twice-counted-once") && k > 0 && c->call->operands[k - 1] == v) continue;
          sum.d[e] += c->grad[k][e];
        }
    give(c, ETALON_COTANGENTS, v, &sum);
  }
}

static void serve(call_state *c) {
  const etalon_request *q = c->request;
  if (q->call_count != 1) { refuse(c, "request", "one call at a time"); return; }
  if (q->mode == ETALON_JVP_OF_VJP) { refuse(c, "mode", "first derivatives only"); return; }
  const kernel_row *row = find(c->call->operation);
  if (!row) { refuse(c, "operation", c->call->operation); return; }
  if (q->mode != ETALON_FORWARD && !row->gradients) { refuse(c, "mode", "values only"); return; }
  for (int32_t o = 0; o < q->output_count; ++o)
    if (q->outputs[o] < q->input_count) { refuse(c, "request", "an input as output"); return; }
  if (!take_operands(c)) return;
  if (differentiates_attributes(c)) { refuse(c, "attribute", "no derivatives by attributes"); return; }
  for (int k = 0; k < c->operand_count; ++k)
    if (c->in[k].n > (1 << 22)) { refuse(c, "size", "too large"); return; }
  row->run(c);
  if (!c->answered) answer(c);
}

static void run(void *self, const etalon_request *request, etalon_answer *to) {
  (void)self;
  call_state *c = take(sizeof *c);
  c->request = request;
  c->call = request->calls;
  c->answer = to;
  c->mode = request->mode;
  serve(c);
  release_all();
}

static const char *describe(void *self) {
  static char text[8192];
  (void)self;
  size_t used = (size_t)snprintf(text, sizeof text, "{\"etalon\":1,\"name\":\"blind kernels in C\",\"version\":\"1\",\"operations\":[");
  const char *between = "";
  for (int f = 0; f < FAMILIES; ++f)
    for (const kernel_row *row = families[f]; row->name; ++row, between = ",")
      used += (size_t)snprintf(text + used, sizeof text - used, "%s\"%s\"", between, row->name);
  snprintf(text + used, sizeof text - used, "],\"dtypes\":[\"f32\",\"f64\",\"i32\",\"i64\",\"bool\"],\"modes\":[\"forward\",\"jvp\",\"vjp\"],\"contract\":{\"nan_of_extrema\":\"propagate\"}}");
  return text;
}

const etalon_backend *etalon_backend_table(void) {
  static const etalon_backend table = {ETALON_BACKEND_VERSION, NULL, describe, run, NULL, NULL};
  return &table;
}
