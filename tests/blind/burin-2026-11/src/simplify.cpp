// The passes over the graph, and the rewrites of arithmetic.
#include <algorithm>
#include <cmath>

#include "core.h"

namespace {

bool is(N n, Fn fn) { return n->op == Op::ew && n->fn == fn; }

std::map<N, bool> exact_memo;

bool compute_exact(N n) {
  if (!is_real(n->dt)) return true;
  switch (n->op) {
    case Op::param: return true;
    case Op::constant:
      return std::all_of(n->data->begin(), n->data->end(), [&](Real v) { return isnanq(v) || rounded(v, n->dt) == v; });
    case Op::ew:
      switch (n->fn) {
        case Fn::store: return true;
        case Fn::convert: return n->in[0]->dt == DT::boolean || (n->dt == DT::f64 && n->in[0]->dt != DT::i64 && stored_exactly(n->in[0]));
        case Fn::detach: case Fn::neg: case Fn::abs: case Fn::sign: case Fn::floor: case Fn::ceil: case Fn::trunc:
        case Fn::round: return stored_exactly(n->in[0]);
        case Fn::maximum: case Fn::minimum: return stored_exactly(n->in[0]) && stored_exactly(n->in[1]);
        case Fn::select: return stored_exactly(n->in[1]) && stored_exactly(n->in[2]);
        default: return false;
      }
    case Op::broadcast: case Op::reshape: case Op::transpose: case Op::slice: case Op::embed: case Op::gather:
    case Op::take_along: return stored_exactly(n->in[0]);
    case Op::patch: return stored_exactly(n->in[0]) && n->fill == 0;
    case Op::pad: return stored_exactly(n->in[0]) && stored_exactly(n->in[1]);
    case Op::concat: return std::all_of(n->in.begin(), n->in.end(), stored_exactly);
    case Op::reduce: return (n->red == Red::max || n->red == Red::min) && stored_exactly(n->in[0]);
    default: return false;
  }
}

bool negative_zero(Real v) { return v == 0 && signbitq(v); }

N filled_like(N n, Real v) { return broadcast_to(scalar(v, n->dt), n->shape).n; }

N opposite(N comparison, Fn fn) { return cmp(fn, comparison->in[0], comparison->in[1]).n; }

N negated_condition(N c) {  // what holds where a comparison does not
  switch (c->fn) {
    case Fn::eq: return opposite(c, Fn::ne);
    case Fn::ne: return opposite(c, Fn::eq);
    default: break;
  }
  if (is_real(c->in[0]->dt) && !BUG(negated_order_of_reals)) return nullptr;  // NaN is in no order
  switch (c->fn) {
    case Fn::lt: return opposite(c, Fn::ge);
    case Fn::le: return opposite(c, Fn::gt);
    case Fn::gt: return opposite(c, Fn::le);
    case Fn::ge: return opposite(c, Fn::lt);
    default: return nullptr;
  }
}

bool lossless(DT from, DT to) {
  if (from == to || from == DT::boolean) return true;
  return (from == DT::i32 && (to == DT::i64 || to == DT::f64)) || (from == DT::f32 && to == DT::f64);
}

N rewrite_convert(N n) {
  N x = n->in[0];
  if (x->dt == n->dt) return x;
  if (is(x, Fn::store)) x = x->in[0];
  if (!is(x, Fn::convert)) return nullptr;
  N y = x->in[0];
  bool fine = lossless(y->dt, x->dt);
  if (BUG(round_trip_of_conversions) && y->dt == n->dt && y->dt != DT::boolean && x->dt != DT::boolean) fine = true;
  return fine && stored_exactly(y) ? convert(y, n->dt).n : nullptr;
}

N rewrite_power(N n) {
  Real p;
  V x = n->in[0];
  if (!is_real(n->dt) || !splat_value(n->in[1], p)) return nullptr;
  if (p == 1) return x.n;
  if (p == 2) return (x * x).n;
  if (p == -1) return (1 / x).n;
  if (BUG(power_half_is_square_root) && p == 0.5) return un(Fn::sqrt, x).n;
  return nullptr;
}

N rewrite_unary(N n) {
  N x = n->in[0];
  switch (n->fn) {
    case Fn::detach: return x;
    case Fn::store: return stored_exactly(x) && x->dt == n->dt ? x : nullptr;
    case Fn::convert: return rewrite_convert(n);
    case Fn::neg: return is(x, Fn::neg) ? x->in[0] : nullptr;
    case Fn::abs: return is(x, Fn::neg) || is(x, Fn::abs) ? un(Fn::abs, x->in[0]).n : nullptr;
    case Fn::lnot:
      if (is(x, Fn::lnot)) return x->in[0];
      return x->op == Op::ew && x->in.size() == 2 ? negated_condition(x) : nullptr;
    default: return nullptr;
  }
}

N rewrite_quotient(N n) {
  Real c;
  if (!splat_value(n->in[1], c)) return nullptr;
  if (c == 1) return n->in[0];
  if (c == 0 || !finiteq(c)) return nullptr;
  int e;
  if (fabsq(frexpq(c, &e)) != 0.5) return nullptr;
  Real r = rounded(1 / c, n->dt);  // a power of two: the product is the quotient
  if (r * c != 1 && !BUG(quotient_by_tiny_power_of_two)) return nullptr;
  return (V(n->in[0]) * r).n;
}

N rewrite_binary(N n) {
  V a = n->in[0], b = n->in[1];
  Real v;
  bool real = is_real(n->dt);
  switch (n->fn) {
    case Fn::add:
      for (int i = 0; i < 2; ++i) {
        if (!splat_value(n->in[i], v) || v != 0) continue;
        if (!real || negative_zero(v)) return n->in[1 - i];
      }
      if (is(b.n, Fn::neg)) return (a - V(b.n->in[0])).n;
      return nullptr;
    case Fn::sub:
      if (a.n == b.n && !real) return filled_like(n, 0);
      if (is(b.n, Fn::neg)) return (a + V(b.n->in[0])).n;
      return nullptr;
    case Fn::mul:
      for (int i = 0; i < 2; ++i) {
        if (!splat_value(n->in[i], v)) continue;
        if (v == 1) return n->in[1 - i];
        if (v == 0 && !real) return filled_like(n, 0);
      }
      if (is(a.n, Fn::neg) && is(b.n, Fn::neg)) return (V(a.n->in[0]) * V(b.n->in[0])).n;
      return nullptr;
    case Fn::div: return real ? rewrite_quotient(n) : nullptr;
    case Fn::fdiv: {
      Real w;
      if (real || !is(a.n, Fn::fdiv) || !splat_value(b.n, v) || !splat_value(a.n->in[1], w)) return nullptr;
      if (v <= 0 || w <= 0 || fabsq(v * w) > 2147483647) return nullptr;
      return ew(Fn::fdiv, n->dt, {a.n->in[0], lit(v * w, a)}).n;
    }
    case Fn::pow: return rewrite_power(n);
    case Fn::maximum: case Fn::minimum: return a.n == b.n ? a.n : nullptr;
    case Fn::land: case Fn::lor: return a.n == b.n ? a.n : nullptr;
    case Fn::eq: case Fn::le: case Fn::ge:
      if (a.n == b.n && (!is_real(a.dt()) || BUG(equal_to_itself))) return filled_like(n, 1);
      return nullptr;
    case Fn::ne: case Fn::lt: case Fn::gt:
      if (a.n == b.n && !is_real(a.dt())) return filled_like(n, 0);
      return nullptr;
    default: return nullptr;
  }
}

N rewrite_select(N n) {
  N c = n->in[0], a = n->in[1], b = n->in[2];
  if (a == b) return a;
  Real v;
  if (splat_value(c, v)) return v != 0 ? a : b;
  if (!is(c, Fn::lnot)) return nullptr;
  if (BUG(choice_by_negation_keeps_order)) return select(c->in[0], a, b).n;
  return select(c->in[0], b, a).n;
}

}  // namespace

bool stored_exactly(N n) {
  auto it = exact_memo.find(n);
  if (it != exact_memo.end()) return it->second;
  bool r = compute_exact(n);
  exact_memo[n] = r;
  return r;
}

bool splat_value(N n, Real& v) {
  while (n->op == Op::broadcast || n->op == Op::reshape) n = n->in[0];
  if (n->op != Op::constant || n->data->size() != 1) return false;
  v = (*n->data)[0];
  return true;
}

N rewrite_arithmetic(N n) {
  if (n->op != Op::ew) return nullptr;
  if (n->fn == Fn::select) return rewrite_select(n);
  if (n->in.size() == 1) return rewrite_unary(n);
  return n->in.size() == 2 ? rewrite_binary(n) : nullptr;
}

// Rounds of all rewrites until nothing changes, with common subexpressions joined after each.
std::vector<N> optimise(std::vector<N> roots) {
  for (int round = 0; round < 12; ++round) {
    std::map<N, N> now;
    bool changed = false;
    exact_memo.clear();
    for (N n : topological(roots)) {
      for (N& x : n->in) x = now.at(x);
      N r = nullptr;
      for (auto rewrite : {rewrite_arithmetic, rewrite_movement, rewrite_products, fold_constants}) {
        r = rewrite(n);
        if (r) break;
      }
      if (r) {
        if (r->shape != n->shape || r->dt != n->dt) throw std::logic_error("a rewrite changed the type");
        changed = true;
      }
      now[n] = r ? r : n;
    }
    for (N& r : roots) r = now.at(r);
    eliminate_common(roots);
    if (!changed) break;
  }
  return roots;
}
