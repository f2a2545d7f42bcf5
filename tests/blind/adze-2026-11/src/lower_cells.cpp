// Attention, positions and recurrent cells.
#include "lower.h"

namespace adze {

namespace {

std::vector<T> one(T t) { return {t}; }

T causal_mask(I rows, I cols) {
  T r = iota({rows, cols}, 0), t = iota({rows, cols}, 1);
  if (bug("causal_mask_aligned_at_end")) r = r + K(cols - rows, {}, DT::I64);
  return bin(Op::Le, t, r);
}

T weights(T s, T mask) {
  if (mask) return softmax_last(s, mask);
  return softmax_last(s, K(1, {s.dim(s.rank() - 1)}, DT::Bool));
}

T attention(const Call& c) {
  T q = c.in(0), k = c.in(1), v = c.in(2), mask = c.in(3), scale = c.in(4);
  const I m = q.dim(q.rank() - 2), d = q.dim(q.rank() - 1), n = k.dim(k.rank() - 2);
  T s = matmul(q, swap_last(k));
  if (scale) s = s * scale;
  else s = s / sqrt(K(d));
  T live;
  if (c.flag("causal", false)) live = causal_mask(m, n);
  if (mask) live = live ? bin(Op::And, mask, live) : mask;
  return matmul(weights(s, live), v);
}

T heads_apart(T x, I heads) {  // [.., n, h e] to [.., h, n, e]
  const int r = x.rank();
  Shape s = x.shape();
  s.back() /= heads;
  s.insert(s.end() - 1, heads);
  if (bug("heads_interleaved_in_projection")) {
    std::swap(s[r - 1], s[r]);
    T y = reshape(x, s);
    return move_axis(y, r, r - 2);
  }
  return move_axis(reshape(x, s), r - 1, r - 2);
}

T multi_head(const Call& c) {
  T x = c.in(0), mask = c.in(9);
  const I heads = c.whole("heads", 1), n = x.dim(x.rank() - 2);
  T q = heads_apart(linear_last(x, c.in(1), c.in(5)), heads), k = heads_apart(linear_last(x, c.in(2), c.in(6)), heads);
  T v = heads_apart(linear_last(x, c.in(3), c.in(7)), heads);
  T s = matmul(q, swap_last(k)) / sqrt(K(q.dim(q.rank() - 1)));
  T live = c.flag("causal", false) ? causal_mask(n, n) : T{};
  if (mask) live = live ? bin(Op::And, mask, live) : mask;
  T h = matmul(weights(s, live), v);
  h = move_axis(h, h.rank() - 3, h.rank() - 2);
  Shape shape(h.shape().begin(), h.shape().end() - 2);
  shape.push_back(h.dim(h.rank() - 2) * h.dim(h.rank() - 1));
  return linear_last(reshape(h, shape), c.in(4), c.in(8));
}

T angles(T pos, I half, I width, T base) {  // [.., half]
  T i = real(iota({half}, 0));
  T f = bin(Op::Pow, base, K(-2) * i / K(width));
  return unsqueeze(real(pos), pos.rank()) * f;
}

T rope(const Call& c) {
  T x = c.in(0);
  const int r = x.rank();
  const I n = x.dim(r - 2), d = x.dim(r - 1), h = d / 2;
  if (d % 2) throw Rejected("d % 2 == 0");
  T pos = c.in(1) ? c.in(1) : iota({n}, 0);
  T a = angles(pos, h, d, c.num("base", 10000.0)), co = un(Op::Cos, a), si = un(Op::Sin, a);
  if (c.word("pairing", "interleaved") == "half") {
    T p = part(x, r - 1, 0, h), q = part(x, r - 1, h, d);
    return concat({p * co - q * si, q * co + p * si}, r - 1);
  }
  Shape s = x.shape();
  s.back() = h;
  s.push_back(2);
  T v = reshape(x, s);
  auto half = [&](I k) { Shape w = s; w.pop_back(); return reshape(part(v, r, k, k + 1), w); };
  T p = half(0), q = half(1);
  return reshape(concat({unsqueeze(p * co - q * si, r), unsqueeze(p * si + q * co, r)}, r), x.shape());
}

T encoding(const Call& c) {
  T pos = c.in(0);
  const I width = c.whole("width", 0), half = (width + 1) / 2;
  T a = angles(pos, half, width, c.num("base", 10000.0));
  T both = concat({unsqueeze(un(Op::Sin, a), a.rank()), unsqueeze(un(Op::Cos, a), a.rank())}, a.rank());
  Shape s = a.shape();
  s.back() = 2 * half;
  T y = reshape(both, s);
  return store(part(y, y.rank() - 1, 0, width), c.dtype(DT::F32));
}

T plus(T a, T b) { return b ? a + b : a; }

T rnn(const Call& c) {
  T z = linear_last(c.in(0), c.in(2), c.in(4)) + linear_last(c.in(1), c.in(3), c.in(5));
  return c.word("nonlinearity", "tanh") == "relu" ? relu(z) : tanh(z);
}

std::vector<T> lstm(const Call& c) {
  T h = c.in(1), cell = c.in(2);
  T z = plus(linear_last(c.in(0), c.in(3), c.in(5)) + linear_last(h, c.in(4), T{}), bug("lstm_second_bias_dropped") ? T{} : c.in(6));
  const int last = z.rank() - 1;
  const I n = z.dim(last) / 4;
  auto gate = [&](I k) { return part(z, last, k * n, (k + 1) * n); };
  T i = sigmoid(gate(0)), f = sigmoid(gate(1)), g = tanh(gate(2)), o = sigmoid(gate(3));
  T next = f * cell + i * g;
  return {o * tanh(next), next};
}

T gru(const Call& c) {
  T h = c.in(1), s = linear_last(c.in(0), c.in(2), c.in(4)), t = linear_last(h, c.in(3), c.in(5));
  const int last = s.rank() - 1;
  const I n = s.dim(last) / 3;
  auto piece = [&](T v, I k) { return part(v, last, k * n, (k + 1) * n); };
  T r = sigmoid(piece(s, 0) + piece(t, 0)), u = sigmoid(piece(s, 1) + piece(t, 1));
  T next = tanh(piece(s, 2) + r * piece(t, 2));
  if (bug("gru_update_gate_inverted")) return (K(1) - u) * h + u * next;
  return (K(1) - u) * next + u * h;
}

}  // namespace

void lower_cells(Table& t) {
  t["scaled_dot_product_attention"] = [](const Call& c) { return one(attention(c)); };
  t["multi_head_attention"] = [](const Call& c) { return one(multi_head(c)); };
  t["rope"] = [](const Call& c) { return one(rope(c)); };
  t["sinusoidal_encoding"] = [](const Call& c) { return one(encoding(c)); };
  t["rnn_cell"] = [](const Call& c) { return one(rnn(c)); };
  t["lstm_cell"] = lstm;
  t["gru_cell"] = [](const Call& c) { return one(gru(c)); };
}

}  // namespace adze
