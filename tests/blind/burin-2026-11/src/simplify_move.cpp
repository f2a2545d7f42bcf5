// Rewrites of what moves elements, and of reductions of it.
#include <algorithm>

#include "core.h"

namespace {

bool same_flips(N a, N b) {  // both reverse whole axes, and the same ones
  if (a->op != Op::slice || b->op != Op::slice || a->b != b->b || a->a != b->a) return false;
  for (std::size_t i = 0; i < a->a.size(); ++i) {
    bool whole = a->b[i] == 1 ? a->a[i] == 0 : a->b[i] == -1 && a->a[i] == a->shape[i] - 1;
    if (!whole || a->in[0]->shape[i] != a->shape[i]) return false;
  }
  return true;
}

N rewrite_transpose(N n) {
  N x = n->in[0];
  if (n->a == iota_dims(Int(n->a.size()))) return x;
  if (x->op != Op::transpose) return nullptr;
  Dims p, wrong;
  for (Int i : n->a) p.push_back(x->a[i]);
  for (Int i : x->a) wrong.push_back(n->a[i]);
  V y = x->in[0];
  if (BUG(transpose_pair_order) && transpose(y, wrong).shape() == n->shape) return transpose(y, wrong).n;
  return transpose(y, p).n;
}

N rewrite_reshape(N n) {
  N x = n->in[0];
  if (n->shape == x->shape) return x;
  if (x->op == Op::reshape) return reshape(x->in[0], n->shape).n;
  if (x->op == Op::transpose) {
    Dims moved;
    for (Int i : x->a) if (x->in[0]->shape[i] != 1) moved.push_back(i);
    bool in_order = std::is_sorted(moved.begin(), moved.end());
    if (in_order) return reshape(x->in[0], n->shape).n;
  }
  return nullptr;
}

N rewrite_broadcast(N n) {
  N x = n->in[0];
  if (x->op != Op::broadcast) return nullptr;
  Dims map;
  for (Int i : n->a) map.push_back(i < 0 ? -1 : x->a[i]);
  // An axis that the inner one stretched is stretched by the outer one now.
  return broadcast(x->in[0], n->shape, map).n;
}

N rewrite_slice(N n) {
  N x = n->in[0];
  std::size_t r = n->shape.size();
  if (size_of(n->shape) == 0) return nullptr;
  if (x->op == Op::slice) {
    Dims start(r), step(r);
    for (std::size_t i = 0; i < r; ++i) {
      start[i] = x->a[i] + n->a[i] * x->b[i];
      if (BUG(slice_pair_start_unscaled) && x->b[i] > 1 && n->b[i] > 0) start[i] = x->a[i] + n->a[i];
      step[i] = x->b[i] * n->b[i];
    }
    return slice(x->in[0], start, step, n->shape).n;
  }
  if (x->op == Op::concat) {
    std::size_t axis = std::size_t(x->a[0]);
    Int first = n->a[axis], last = first + (n->shape[axis] - 1) * n->b[axis], before = 0;
    for (std::size_t k = 0; k < x->in.size(); ++k) {
      Int e = x->in[k]->shape[axis];
      if (std::min(first, last) >= before && std::max(first, last) < before + e) {
        Dims start = n->a;
        start[axis] -= before;
        return slice(x->in[k], start, n->b, n->shape).n;
      }
      before += e;
    }
  }
  if (x->op == Op::pad) {
    Dims start = n->a;
    const Dims& from = x->in[0]->shape;
    for (std::size_t i = 0; i < r; ++i) {
      start[i] -= x->a[i];
      Int last = start[i] + (n->shape[i] - 1) * n->b[i];
      if (std::min(start[i], last) < 0 || std::max(start[i], last) >= from[i]) return nullptr;
    }
    return slice(x->in[0], start, n->b, n->shape).n;
  }
  N c = x->op == Op::ew && x->fn == Fn::store ? x->in[0] : x;
  if (c->op == Op::cum && c->in[0]->op == Op::slice && same_flips(n, c->in[0])) {
    bool flips = n->b[c->a[1]] == -1;
    if (BUG(flips_around_running_sum)) flips = true;
    V y = cum(c->a[0], c->in[0]->in[0], c->a[1], flips ? !c->a[2] : c->a[2], c->a[3]);
    return c == x ? y.n : store(y, y.dt()).n;
  }
  return nullptr;
}

bool none_negative(const Dims& s) { return std::all_of(s.begin(), s.end(), [](Int v) { return v >= 0; }); }

N rewrite_pad(N n) {
  N x = n->in[0];
  if (x->op != Op::pad || !none_negative(n->a) || !none_negative(n->b) || !none_negative(x->a) || !none_negative(x->b)) {
    return nullptr;
  }
  Real v, w;
  bool same = splat_value(n->in[1], v) && splat_value(x->in[1], w) && v == w && signbitq(v) == signbitq(w);
  if (!same) return nullptr;
  Dims low = n->a, high = n->b;
  for (std::size_t i = 0; i < low.size(); ++i) { low[i] += x->a[i]; high[i] += x->b[i]; }
  return pad(x->in[0], low, high, n->in[1]).n;
}

N rewrite_concat(N n) {  // of all the pieces of one tensor, in order
  if (n->in.size() == 1) return n->in[0];
  N whole = nullptr;
  Int at = 0;
  std::size_t axis = std::size_t(n->a[0]);
  for (N x : n->in) {
    if (x->op != Op::slice || (whole && x->in[0] != whole)) return nullptr;
    whole = x->in[0];
    for (std::size_t i = 0; i < x->a.size(); ++i) {
      if (x->b[i] != 1) return nullptr;
      bool in_place = i != axis ? x->a[i] == 0 : x->a[i] == at;
      if (BUG(concat_of_pieces_in_any_order) && i == axis) in_place = true;
      if (!in_place || (i != axis && x->shape[i] != whole->shape[i])) return nullptr;
    }
    at += x->shape[axis];
  }
  return whole->shape == n->shape ? whole : nullptr;
}

N rewrite_reduce(N n) {
  N x = n->in[0];
  bool arg = n->red == Red::argmax || n->red == Red::argmin;
  bool all = n->a == iota_dims(Int(x->shape.size()));
  if (n->a.empty() && !arg) return x;
  if (all && x->op == Op::reshape) {
    return reduce(n->red, x->in[0], iota_dims(Int(x->in[0]->shape.size()))).n;
  }
  if (all && x->op == Op::transpose && (!arg || BUG(position_in_transposed))) {
    return reduce(n->red, x->in[0], n->a).n;
  }
  if (x->op == Op::broadcast && size_of(x->shape) > 0) {
    bool repeats = n->red == Red::max || n->red == Red::min || n->red == Red::any || n->red == Red::all;
    Dims map;
    for (Int i = 0; i < Int(x->a.size()); ++i) {
      if (!contains(n->a, i)) map.push_back(x->a[i]);
      else if (x->a[i] >= 0) repeats = false;
    }
    if (repeats && !n->a.empty()) return broadcast(x->in[0], n->shape, map).n;
  }
  if (x->op == Op::pad && none_negative(x->a) && none_negative(x->b) && size_of(x->in[0]->shape) > 0) {
    Real v;
    bool neutral = splat_value(x->in[1], v) && n->red == Red::max && isinfq(v) && v < 0;
    for (Int i = 0; i < Int(x->a.size()); ++i) if (!contains(n->a, i) && (x->a[i] || x->b[i])) neutral = false;
    if (neutral) return reduce(n->red, x->in[0], n->a).n;
  }
  return nullptr;
}

}  // namespace

N rewrite_movement(N n) {
  switch (n->op) {
    case Op::transpose: return rewrite_transpose(n);
    case Op::reshape: return rewrite_reshape(n);
    case Op::broadcast: return rewrite_broadcast(n);
    case Op::slice: return rewrite_slice(n);
    case Op::pad: return rewrite_pad(n);
    case Op::concat: return rewrite_concat(n);
    case Op::reduce: return rewrite_reduce(n);
    default: return nullptr;
  }
}
