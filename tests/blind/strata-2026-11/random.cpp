// Philox4x32-10, four words a block, and what is drawn with it.
#include <cmath>

#include "strata.h"

struct Stream {
  uint64_t seed, block = ~0ull;
  uint32_t step, stream, words[4];
  uint32_t word(uint64_t n) {
    if (n / 4 != block) {
      block = n / 4;
      uint32_t c[4] = {(uint32_t)block, (uint32_t)(block >> 32), step, stream}, k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
      for (int r = 0; r < 10; ++r) {
        const uint64_t p = (uint64_t)0xD2511F53u * c[0], q = (uint64_t)0xCD9E8D57u * c[2];
        const uint32_t a = (uint32_t)(q >> 32) ^ c[1] ^ k[0], b = (uint32_t)q, d = (uint32_t)(p >> 32) ^ c[3] ^ k[1], e = (uint32_t)p;
        c[0] = a; c[1] = b; c[2] = d; c[3] = e;
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
      }
      for (int w = 0; w < 4; ++w) words[w] = c[w];
    }
    return words[n % 4];
  }
};
template <class S> static Stream stream_of(const Ctx<S>& c, int first) {
  Stream s;
  s.seed = (uint64_t)c.in[first].i[0];
  if (defect("seed-of-32-bits")) s.seed &= 0xFFFFFFFFu;
  s.step = (uint32_t)(uint64_t)c.in[first + 1].i[0];
  s.stream = (uint32_t)(uint64_t)c.call->integer("stream", 0);
  return s;
}
static W unit(Stream& s, DT dt, uint64_t e, uint64_t each, uint64_t which, bool above) {
  if (dt == F32) return (W)((s.word(each * e + which) >> 8) + (above ? 1 : 0)) / 16777216;
  const uint64_t low = s.word(2 * (each * e + which)), high = s.word(2 * (each * e + which) + 1);
  return (W)((low >> 11) + 2097152 * high + (above ? 1 : 0)) / 9007199254740992.0Q;
}
static W gauss(Stream& s, DT dt, uint64_t e) {
  const W u1 = unit(s, dt, e, 2, 0, true), u2 = unit(s, dt, e, 2, 1, false);
  return sqrtq(-2 * logq(u1)) * cosq(2 * PI_W * u2);
}
template <class S> static void run_draw(Ctx<S>& c) {
  const Call& k = *c.call;
  Arr<S>& y = c.result(k.dtype(F32), k.list("shape"));
  Stream s = stream_of(c, 0);
  W fan_in = 1, fan_out = 1;
  const bool weights = !k.is("uniform") && !k.is("normal");
  if (weights) {
    for (size_t a = 1; a < y.shape.size(); ++a) fan_in *= (W)y.shape[a];
    fan_out = (W)y.shape[0];
    for (size_t a = 2; a < y.shape.size(); ++a) fan_out *= (W)y.shape[a];
  }
  W gain = k.real("gain", 1);
  const W fan = k.symbol("mode", "fan_in") == "fan_out" ? fan_out : fan_in;
  if (k.op[0] == 'k') {
    const std::string f = k.symbol("nonlinearity", "leaky_relu");
    const W slope = k.real("slope", 0);
    gain = f == "leaky_relu" ? sqrtq(2 / (1 + slope * slope)) : f == "relu" ? sqrtq((W)2) : f == "tanh" ? (W)5 / 3 : f == "selu" ? (W)3 / 4 : (W)1;
  }
  for (int64_t e = 0; e < y.n(); ++e) {
    W v;
    if (k.is("uniform")) { const W low = k.real("low", 0), high = k.real("high", 1); v = low + (high - low) * unit(s, y.dt, e, 1, 0, false); }
    else if (k.is("normal")) v = k.real("mean", 0) + k.real("std", 1) * gauss(s, y.dt, e);
    else if (k.is("xavier_uniform")) v = gain * sqrtq(6 / (fan_in + fan_out)) * (2 * unit(s, y.dt, e, 1, 0, false) - 1);
    else if (k.is("xavier_normal")) v = gain * sqrtq(2 / (fan_in + fan_out)) * gauss(s, y.dt, e);
    else if (k.is("kaiming_uniform")) v = gain * sqrtq(3 / fan) * (2 * unit(s, y.dt, e, 1, 0, false) - 1);
    else v = gain / sqrtq(fan) * gauss(s, y.dt, e);
    y.a[e] = S(v);
  }
}
template <class S> static void run_mask(Ctx<S>& c) {
  Arr<S>& y = c.result(BOOL, c.call->list("shape"));
  Stream s = stream_of(c, 0);
  const W limit = c.call->real("keep") * 4294967296.0Q;
  for (int64_t e = 0; e < y.n(); ++e) y.i[e] = defect("bernoulli-threshold-of-32-bits") ? s.word(e) < (uint32_t)(uint64_t)limit : (W)s.word(e) + 1 <= limit;
}
template <class S> static void run_dropout(Ctx<S>& c) {
  Arr<S>& y = c.result(c.in[0].dt, c.in[0].shape);
  Stream s = stream_of(c, 1);
  const W p = c.call->real("p", 0.5);
  for (int64_t e = 0; e < y.n(); ++e) y.a[e] = (W)s.word(e) + 1 <= p * 4294967296.0Q ? S(0) : c.in[0].a[e] / S(1 - p);
}
template <class S> static void dropout_back(Ctx<S>& c) {
  Stream s = stream_of(c, 1);
  const W p = c.call->real("p", 0.5);
  for (int64_t e = 0; e < c.in[0].n(); ++e)
    if (!((W)s.word(e) + 1 <= p * 4294967296.0Q)) c.gin[0].a[e] += defect("dropout-cotangent-unscaled") ? c.g[0].a[e] : c.g[0].a[e] / S(1 - p);
}
template <class S> static void run_categorical(Ctx<S>& c) {
  const Arr<S>& x = c.in[0];
  const int64_t axis = c.call->axis(x.rank());
  const Rows r = rows_of(x.shape, {axis});
  Stream s = stream_of(c, 1);
  Arr<S>& y = c.result(I64, reduced_shape(x.shape, {axis}, false));
  for (int64_t k = 0; k < r.count; ++k) {
    int64_t best = 0;
    W top = 0;
    for (int64_t j = 0; j < r.length; ++j) {
      const W u = (W)(2 * (int64_t)(s.word(k * r.length + j) >> 9) + 1) / 16777216, z = val(x.a[r.at[k * r.length + j]]) - logq(-logq(u));
      if (j == 0 || (top == top && (z != z || z > top))) { top = z; best = j; }
    }
    y.i[k] = best;
  }
}
Table random_ops() {
  Table t;
  for (const char* n : {"uniform", "normal", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal"}) t.push_back({n, FLAT(run_draw), 0});
  t.push_back({"bernoulli_mask", FLAT(run_mask), 0});
  t.push_back({"dropout", KERNELS(run_dropout, dropout_back), 0});
  t.push_back({"categorical", FLAT(run_categorical), 0});
  return t;
}
