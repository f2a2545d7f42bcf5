/// \file
/// One step of recurrent networks: two products, and the gates in one kernel.
#include "call.hpp"
#include "defect.hpp"

namespace weft {
namespace {

V projected(V x, V w, V b) {
  Shape shape = x.shape();
  const Int n = shape.back();
  shape.back() = w.shape()[0];
  Int rows = 1;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
  const V y = reshaped(contract(reshaped(x, {1, rows, n}), reshaped(permuted(w, {1, 0}), {1, n, w.shape()[0]})), shape);
  return b ? y + b : y;
}

/// Gate k of the last axis, which holds several of n.
V gate(V z, Int k, Int n) {
  Shape shape = z.shape();
  const Int all = shape.back();
  shape.back() = n;
  Map map;
  for (Int i = 0; i < size_of(shape); ++i) map.push_back(i / std::max<Int>(n, 1) * all + k * n + i % std::max<Int>(n, 1));
  return moved(z, std::move(map), shape);
}

Results rnn_cell(const Call& c) {
  const V z = projected(c.x(0), c.x(2), c.maybe(4)) + projected(c.x(1), c.x(3), c.maybe(5));
  if (c.word("nonlinearity") == "tanh") return {unary(Op::tanh, z)};
  return {select(z <= 0, like(z, 0), z)};
}

Results lstm_cell(const Call& c) {
  const V h = c.x(1);
  const Int n = h.shape().back();
  const V z = projected(c.x(0), c.x(3), c.maybe(5)) + projected(h, c.x(4), c.maybe(6));
  // Input, forget, cell and output gates, in turn.
  const V c1 = logistic(gate(z, 1, n)) * c.x(2) + logistic(gate(z, 0, n)) * unary(Op::tanh, gate(z, 2, n));
  const V h1 = logistic(gate(z, 3, n)) * unary(Op::tanh, c1);
  // The backward kernel starts from the hidden state.
  return {h1, c.g.reverse && defect("cotangent-of-the-cell-state-is-dropped") ? unary(Op::detach, c1) : c1};
}

Results gru_cell(const Call& c) {
  const V h = c.x(1);
  const Int n = h.shape().back();
  const V s = projected(c.x(0), c.x(2), c.maybe(4));
  const V t = projected(h, c.x(3), c.maybe(5));
  const V reset = logistic(gate(s, 0, n) + gate(t, 0, n));
  const V update = logistic(gate(s, 1, n) + gate(t, 1, n));
  V old = reset * gate(t, 2, n);
  if (c.maybe(5) && defect("bias-of-the-new-gate-is-not-reset")) {
    const V bare = gate(projected(h, c.x(3), {}), 2, n);
    old = reset * bare + gate(c.maybe(5), 2, n);
  }
  const V fresh = unary(Op::tanh, gate(s, 2, n) + old);
  return {(1 - update) * fresh + update * h};
}

}  // namespace

void add_cells(Table& t) {
  t["rnn_cell"] = rnn_cell;
  t["lstm_cell"] = lstm_cell;
  t["gru_cell"] = gru_cell;
}

}  // namespace weft
