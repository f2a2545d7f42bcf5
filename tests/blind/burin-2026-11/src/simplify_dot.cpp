// Canonical products and windows, constant folding, common subexpressions.
#include <algorithm>
#include <cstring>

#include "core.h"

namespace {

// A transposed operand is read where it lies, if its free axes keep their order.
N fold_transpose(N n, int side) {
  N x = n->in[side];
  if (x->op != Op::transpose) return nullptr;
  const Dims &batch = side ? n->b : n->a, &sum = side ? n->d : n->c;
  Dims free, nb, ns;
  for (Int i = 0; i < Int(x->shape.size()); ++i) if (!contains(batch, i) && !contains(sum, i)) free.push_back(x->a[i]);
  if (!std::is_sorted(free.begin(), free.end())) return nullptr;
  for (Int i : batch) nb.push_back(x->a[i]);
  for (Int i : sum) ns.push_back(x->a[i]);
  V other = n->in[1 - side], y = x->in[0];
  return side ? dot(other, y, n->a, nb, n->c, ns).n : dot(y, other, nb, n->b, ns, n->d).n;
}

N rewrite_patch(N n) {
  N x = n->in[0];
  std::size_t k = n->a.size();
  auto all = [](const Dims& s, Int v) { return std::all_of(s.begin(), s.end(), [v](Int e) { return e == v; }); };
  Dims out(n->shape.begin() + 2, n->shape.begin() + 2 + k);
  if (all(n->a, 1) && all(n->d, 0) && size_of(n->shape) > 0) {  // windows of one element
    Dims start(2 + k, 0), step = {1, 1}, count(n->shape.begin(), n->shape.begin() + 2 + k);
    step.insert(step.end(), n->b.begin(), n->b.end());
    if (BUG(pointwise_window_last_stride) && k > 1) step[1 + k] = step[k];
    for (std::size_t i = 2; i < 2 + k; ++i) if ((count[i] - 1) * step[i] >= x->shape[i]) return nullptr;
    return reshape(slice(x, start, step, count), n->shape).n;
  }
  if (x->op == Op::pad && n->fill == 0) {
    Real v;
    bool zero = splat_value(x->in[1], v) && v == 0 && !signbitq(v);
    if (BUG(windows_of_padded_with_any_value)) zero = true;
    Dims padding = n->d;
    for (std::size_t i = 0; i < 2 + k; ++i) {
      if (x->a[i] < 0 || x->b[i] < 0 || (i < 2 && (x->a[i] || x->b[i]))) return nullptr;
      if (i >= 2) padding[i - 2] += x->a[i];
    }
    if (zero) return patch(x->in[0], n->a, n->b, n->c, padding, out, 0).n;
  }
  return nullptr;
}

std::string key_of(N n) {
  std::string k;
  auto put = [&](const void* p, std::size_t size) { k.append(static_cast<const char*>(p), size); };
  auto dims = [&](const Dims& s) {
    Int size = Int(s.size());
    put(&size, sizeof size);
    put(s.data(), s.size() * sizeof(Int));
  };
  int head[4] = {int(n->op), int(n->fn), int(n->red), int(n->dt)};
  put(head, sizeof head);
  dims(n->shape);
  if (!(BUG(common_reductions_of_any_axes) && n->op == Op::reduce)) dims(n->a);
  dims(n->b);
  dims(n->c);
  dims(n->d);
  double fill = double(n->fill);
  put(&fill, sizeof fill);
  std::vector<Int> ids;
  for (N x : n->in) ids.push_back(x->id);
  bool commutes = n->op == Op::ew && (n->fn == Fn::add || n->fn == Fn::mul || n->fn == Fn::eq || n->fn == Fn::ne);
  if (commutes) std::sort(ids.begin(), ids.end());
  put(ids.data(), ids.size() * sizeof(Int));
  if (n->data) {
    for (Real v : *n->data) {
      double high = double(v), low = double(v - high);
      if (BUG(common_zeros_of_either_sign) && v == 0) high = low = 0;
      put(&high, sizeof high);
      put(&low, sizeof low);
    }
  }
  return k;
}

}  // namespace

N rewrite_products(N n) {
  if (n->op == Op::patch) return rewrite_patch(n);
  if (n->op != Op::dot) return nullptr;
  N r = fold_transpose(n, 0);
  return r ? r : fold_transpose(n, 1);
}

N fold_constants(N n) {
  if (n->in.empty() || n->op == Op::broadcast || size_of(n->shape) > 1024) return nullptr;
  if (n->op == Op::ew && !n->shape.empty()) {  // of repeated numbers: computed once
    std::vector<V> scalars;
    for (N x : n->in) {
      Real v;
      if (x->op != Op::broadcast || !splat_value(x, v)) break;
      scalars.push_back(scalar(v, x->dt));
    }
    if (scalars.size() == n->in.size()) return broadcast_to(ew(n->fn, n->dt, scalars), n->shape).n;
  }
  for (N x : n->in) if (x->op != Op::constant) return nullptr;
  for (N x : n->in) if (size_of(x->shape) > 1024) return nullptr;
  if (n->op == Op::reduce && size_of(n->in[0]->shape) == 0) return nullptr;
  V c = scalar(0, n->dt);
  c.n->shape = n->shape;
  *c.n->data = execute({n}, {})[0];
  return c.n;
}

void eliminate_common(std::vector<N>& roots) {
  std::map<std::string, N> seen;
  std::map<N, N> now;
  for (N n : topological(roots)) {
    for (N& x : n->in) x = now.at(x);
    if (n->op == Op::param) { now[n] = n; continue; }
    now[n] = seen.emplace(key_of(n), n).first->second;
  }
  for (N& r : roots) r = now.at(r);
}
