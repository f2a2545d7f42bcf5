// Derivatives by transformation of the graph: tangents forwards, cotangents backwards.
#include <algorithm>

#include "core.h"

namespace {

V in(N n, int i) { return n->in[i]; }

// t times the derivative of an elementwise instruction by its operand i; null where that is zero everywhere.
V push(N y, int i, V t) {
  V a = in(y, 0), b = y->in.size() > 1 ? in(y, 1) : V(), v = V(y);
  V zero = zeros_like(t);
  switch (y->fn) {
    case Fn::store: return t;
    case Fn::neg: return -t;
    case Fn::abs: return t * un(Fn::sign, a);
    case Fn::sqrt: return t / (2 * v);
    case Fn::sqrt0: {
      V d = t / (2 * un(Fn::sqrt, a));
      return BUG(root_of_zero_not_guarded) ? d : select(cmp(Fn::le, a, lit(0, a)), zero, d);
    }
    case Fn::exp: return t * v;
    case Fn::exp2: return BUG(exp2_derivative_without_ln2) ? t * v : t * (v * M_LN2q);
    case Fn::expm1: return t * un(Fn::exp, a);
    case Fn::log: return t / a;
    case Fn::log2: return t / a / M_LN2q;
    case Fn::log1p: return t / (1 + a);
    case Fn::sin: return t * un(Fn::cos, a);
    case Fn::cos: return -(t * un(Fn::sin, a));
    case Fn::tan: return t * (1 + v * v);
    case Fn::sinh: return t * un(Fn::cosh, a);
    case Fn::cosh: return t * un(Fn::sinh, a);
    case Fn::tanh: return t * (1 - v * v);
    case Fn::erf: return t * (M_2_SQRTPIq * un(Fn::exp, -(a * a)));
    case Fn::sigmoid: return t * (v * un(Fn::sigmoid, -a));
    case Fn::softplus: return t * un(Fn::sigmoid, a);
    case Fn::silu: {
      V s = un(Fn::sigmoid, a);
      return t * (s * (1 + a * un(Fn::sigmoid, -a)));
    }
    case Fn::add: return t;
    case Fn::sub: return i == 0 ? t : -t;
    case Fn::mul: return t * (i == 0 ? b : a);
    case Fn::div: return i == 0 ? t / b : -(t * (a / b / b));
    case Fn::fma: return i == 2 ? t : t * (i == 0 ? b : a);
    case Fn::maximum:
    case Fn::minimum: {
      V self = i == 0 ? a : b, other = i == 0 ? b : a;
      V wins = cmp(y->fn == Fn::maximum ? Fn::gt : Fn::lt, self, other);
      return select(wins, t, select(cmp(Fn::eq, self, other), t * Real(0.5), zero));
    }
    case Fn::pow: {
      if (i == 0) {
        V d = select(cmp(Fn::eq, b, lit(1, b)), t, t * (b * ew(Fn::pow, a.dt(), {a, b - 1})));
        return select(cmp(Fn::eq, b, lit(0, b)), zero, d);
      }
      V d = t * (v * un(Fn::log, a));
      if (BUG(pow_exponent_at_zero_base)) return d;
      V matters = ew(Fn::lor, DT::boolean, {cmp(Fn::ne, a, lit(0, a)), cmp(Fn::lt, b, lit(0, b))});
      return select(matters, d, zero);
    }
    case Fn::rem:
      if (i == 0) return t;
      return -(t * un(BUG(remainder_derivative_truncates) ? Fn::trunc : Fn::floor, a / b));
    case Fn::atan2: {
      V r = a * a + b * b;
      if (BUG(atan2_derivative_signs)) return i == 0 ? t * (b / r) : t * (a / r);
      return i == 0 ? t * (b / r) : -(t * (a / r));
    }
    default: return V();  // floor, sign, comparisons, detach
  }
}

V masked_extremum(N y, V keep_shape_of) {  // whether an element is the first extremum of its set
  V x = in(y, 0);
  V first = reduce(y->red == Red::max ? Red::argmax : Red::argmin, x, y->a);
  if (BUG(extremum_derivative_to_all_equals)) {
    Dims k = x.shape();
    for (Int a : y->a) k[a] = 1;
    return cmp(Fn::eq, x, broadcast_to(reshape(V(y), k), x.shape()));
  }
  Dims ext, map, keep = x.shape();
  for (Int a : y->a) { ext.push_back(x.dim(a)); keep[a] = 1; }
  Dims place = row_major(ext);
  V position = broadcast_to(scalar(0, DT::i64), x.shape());
  for (std::size_t k = 0; k < y->a.size(); ++k) position = position + iota(x.shape(), y->a[k]) * lit(place[k], position);
  return cmp(Fn::eq, position, broadcast_to(reshape(first, keep), keep_shape_of.shape()));
}

V kept(N y, V v) {  // a reduction's result over the shape of its operand
  Dims k = y->in[0]->shape;
  for (Int a : y->a) k[a] = 1;
  return broadcast_to(reshape(v, k), y->in[0]->shape);
}

V plus(V a, V b) { return !a ? b : !b ? a : a + b; }

V tangent(N y, std::map<N, V>& d) {
  auto of = [&](int i) { auto it = d.find(y->in[i]); return it == d.end() ? V() : it->second; };
  auto or_zero = [&](int i) { V t = of(i); return t ? t : zeros_like(in(y, i)); };
  bool any = false;
  for (std::size_t i = 0; i < y->in.size(); ++i) any = any || of(int(i));
  if (!any || !is_real(y->dt)) return V();
  V t = of(0);
  switch (y->op) {
    case Op::ew: {
      if (y->fn == Fn::convert) return convert(t, y->dt);
      if (y->fn == Fn::detach) return V();
      if (y->fn == Fn::store) return store(t, y->dt);
      if (BUG(where_tangent_of_single_branch) && y->fn == Fn::select && !of(2)) return of(1);
      if (y->fn == Fn::select) return select(in(y, 0), or_zero(1), or_zero(2));
      V r;
      for (int i = 0; i < int(y->in.size()); ++i) {
        if (BUG(product_with_itself_counted_once) && i == 1 && y->fn == Fn::mul && y->in[0] == y->in[1]) continue;
        if (of(i)) r = plus(r, push(y, i, of(i)));
      }
      return r;
    }
    case Op::broadcast: return broadcast(t, y->shape, y->a);
    case Op::reshape: return reshape(t, y->shape);
    case Op::transpose: return transpose(t, y->a);
    case Op::slice: return slice(t, y->a, y->b, y->shape);
    case Op::pad: return pad(or_zero(0), y->a, y->b, or_zero(1));
    case Op::embed: return embed(t, y->a, y->b, y->shape);
    case Op::concat: {
      std::vector<V> ts;
      for (int i = 0; i < int(y->in.size()); ++i) ts.push_back(or_zero(i));
      return concat(ts, y->a[0]);
    }
    case Op::reduce:
      switch (y->red) {
        case Red::sum: return sum(t, y->a);
        case Red::prod: return sum(t * raw(Op::prod_others, in(y, 0), {}, y->a), y->a);
        case Red::max: case Red::min: return sum(select(masked_extremum(y, t), t, zeros_like(t)), y->a);
        default: return V();
      }
    case Op::cum:
      return y->a[0] ? raw(Op::cumprod_jvp, in(y, 0), {t}, y->a) : cum(false, t, y->a[1], y->a[2], y->a[3]);
    case Op::dot: {
      V r;
      if (of(0) && !(BUG(dot_tangent_of_one_side) && of(1))) r = dot(of(0), in(y, 1), y->a, y->b, y->c, y->d);
      if (of(1)) r = plus(r, dot(in(y, 0), of(1), y->a, y->b, y->c, y->d));
      return r;
    }
    case Op::patch: {
      Dims out(y->shape.begin() + 2, y->shape.begin() + 2 + y->a.size());
      return patch(t, y->a, y->b, y->c, y->d, out, 0);
    }
    case Op::unpatch: return unpatch(t, y->a, y->b, y->c, y->d, Dims(y->shape.begin() + 2, y->shape.end()));
    case Op::gather: return gather(t, in(y, 1), y->a[0]);
    case Op::scatter: return scatter(or_zero(0), in(y, 1), or_zero(2), y->a[0]);
    case Op::take_along: return take_along(t, in(y, 1), y->a[0]);
    case Op::scat_along: return scat_along(or_zero(0), in(y, 1), or_zero(2), y->a[0]);
    default: throw Unsupported("mode", "no tangent of this instruction");
  }
}

V dot_cotangent(N y, int side, V ct) {
  const Dims &sb = side ? y->b : y->a, &sc = side ? y->d : y->c;
  const Dims &ob = side ? y->a : y->b, &oc = side ? y->c : y->d;
  V self = in(y, side), other = in(y, 1 - side);
  Int nb = Int(sb.size());
  Dims self_free, other_free;
  for (Int i = 0; i < self.rank(); ++i) if (!contains(sb, i) && !contains(sc, i)) self_free.push_back(i);
  for (Int i = 0; i < other.rank(); ++i) if (!contains(ob, i) && !contains(oc, i)) other_free.push_back(i);
  Int ns = Int(self_free.size()), no = Int(other_free.size());
  Dims cb = iota_dims(nb), cc;
  for (Int i = 0; i < no; ++i) cc.push_back(side ? nb + i : nb + ns + i);
  V r = dot(ct, other, cb, ob, cc, other_free);  // batch, free axes of self, contracted axes of other in their order
  Dims order = oc, perm(self.rank());
  std::sort(order.begin(), order.end());
  for (Int i = 0; i < nb; ++i) perm[sb[i]] = i;
  for (Int i = 0; i < ns; ++i) perm[self_free[i]] = nb + i;
  for (std::size_t i = 0; i < sc.size(); ++i) {
    perm[sc[i]] = nb + ns + (std::find(order.begin(), order.end(), oc[i]) - order.begin());
  }
  return transpose(r, perm);
}

V broadcast_cotangent(N y, V ct) {
  V x = in(y, 0);
  Dims gone, back;
  for (Int i = 0; i < Int(y->shape.size()); ++i) {
    Int k = y->a[i];
    if (k < 0 || (x.dim(k) == 1 && y->shape[i] != 1)) gone.push_back(i);
    else back.push_back(k);
  }
  if (BUG(broadcast_cotangent_first_two_axes) && gone.size() > 2) {
    for (std::size_t i = 2; i < gone.size(); ++i) ct = slice_axis(ct, gone[i], 0, 1);
  }
  V r = sum(ct, gone);
  return reshape(r, x.shape());  // maps are increasing
}

V inverse_transposed(N y, V ct) {
  Dims p(y->a.size());
  for (std::size_t i = 0; i < p.size(); ++i) p[y->a[i]] = Int(i);
  return transpose(ct, p);
}

// The cotangents of the operands of y; null where there is none.
std::vector<V> cotangents(N y, V ct) {
  std::vector<V> r(y->in.size());
  auto set = [&](int i, auto f) { if (is_real(y->in[i]->dt)) r[i] = f(); };
  V x = y->in.empty() ? V() : in(y, 0);
  switch (y->op) {
    case Op::ew:
      if (y->fn == Fn::detach) break;
      if (y->fn == Fn::convert) {
        set(0, [&] { return convert(ct, x.dt()); });
      } else if (y->fn == Fn::select) {
        set(1, [&] { return select(x, ct, zeros_like(ct)); });
        set(2, [&] { return select(x, zeros_like(ct), ct); });
      } else if (y->fn == Fn::store) {
        r[0] = store(ct, y->dt);
      } else {
        for (int i = 0; i < int(y->in.size()); ++i) set(i, [&] { return push(y, i, ct); });
      }
      break;
    case Op::broadcast: r[0] = broadcast_cotangent(y, ct); break;
    case Op::reshape: r[0] = reshape(ct, x.shape()); break;
    case Op::transpose: r[0] = inverse_transposed(y, ct); break;
    case Op::slice: r[0] = embed(ct, y->a, y->b, x.shape()); break;
    case Op::embed: r[0] = slice(ct, y->a, y->b, x.shape()); break;
    case Op::pad: {
      Dims low = y->a, high = y->b;
      for (Int& v : low) v = -v;
      for (Int& v : high) v = -v;
      if (BUG(pad_cotangent_ignores_crop)) {
        for (std::size_t i = 0; i < low.size(); ++i) {
          if (low[i] > 0 && high[i] <= 0 && y->shape[i] >= x.dim(Int(i))) { high[i] += low[i]; low[i] = 0; }
        }
      }
      r[0] = pad(ct, low, high, scalar(0, ct.dt()));
      break;
    }
    case Op::concat: {
      Int at = 0;
      for (std::size_t i = 0; i < y->in.size(); ++i) {
        Int e = y->in[i]->shape[y->a[0]];
        r[i] = slice_axis(ct, y->a[0], at, e);
        at += e;
      }
      break;
    }
    case Op::reduce:
      if (y->red == Red::sum) r[0] = kept(y, ct);
      if (y->red == Red::prod) r[0] = kept(y, ct) * raw(Op::prod_others, x, {}, y->a);
      if (y->red == Red::max || y->red == Red::min) {
        V c = kept(y, ct);
        r[0] = select(masked_extremum(y, c), c, zeros_like(c));
      }
      break;
    case Op::cum:
      if (y->a[0]) r[0] = raw(Op::cumprod_vjp, x, {ct}, y->a);
      else r[0] = cum(false, ct, y->a[1], !y->a[2], y->a[3]);
      break;
    case Op::dot: for (int i = 0; i < 2; ++i) r[i] = dot_cotangent(y, i, ct); break;
    case Op::patch: r[0] = unpatch(ct, y->a, y->b, y->c, y->d, Dims(x.shape().begin() + 2, x.shape().end())); break;
    case Op::unpatch: {
      Dims out(x.shape().begin() + 2, x.shape().begin() + 2 + y->a.size());
      r[0] = patch(ct, y->a, y->b, y->c, y->d, out, 0);
      break;
    }
    case Op::gather: r[0] = scatter(zeros_like(x), in(y, 1), ct, y->a[0]); break;
    case Op::scatter: r[0] = ct; r[2] = gather(ct, in(y, 1), y->a[0]); break;
    case Op::take_along: r[0] = scat_along(zeros_like(x), in(y, 1), ct, y->a[0]); break;
    case Op::scat_along: r[0] = ct; r[2] = take_along(ct, in(y, 1), y->a[0]); break;
    default: throw Unsupported("mode", "no cotangent of this instruction");
  }
  return r;
}

}  // namespace

std::vector<V> append_jvp(const std::vector<V>& outputs, const std::vector<V>& params, const std::vector<V>& tangents) {
  std::map<N, V> d;
  std::vector<N> roots;
  for (V o : outputs) roots.push_back(o.n);
  for (std::size_t i = 0; i < params.size(); ++i) if (tangents[i]) d[params[i].n] = tangents[i];
  for (N n : topological(roots)) {
    if (d.count(n) || n->in.empty()) continue;
    V t = tangent(n, d);
    if (t) d[n] = t;
  }
  std::vector<V> r;
  for (V o : outputs) r.push_back(!is_real(o.dt()) ? V() : d.count(o.n) ? d[o.n] : zeros_like(o));
  return r;
}

std::vector<V> append_vjp(const std::vector<V>& outputs, const std::vector<V>& cts, const std::vector<V>& params) {
  std::map<N, V> d;
  std::map<N, bool> needed;
  std::vector<N> roots;
  for (V o : outputs) roots.push_back(o.n);
  for (V p : params) if (p) needed[p.n] = true;
  auto order = topological(roots);
  for (N n : order) for (N x : n->in) if (needed[x] && is_real(x->dt)) needed[n] = needed[n] || is_real(n->dt);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!cts[i]) continue;
    d[outputs[i].n] = plus(d[outputs[i].n], cts[i]);
  }
  for (std::size_t k = order.size(); k-- > 0;) {
    N n = order[k];
    if (!needed[n] || n->in.empty() || !d.count(n) || !d[n]) continue;
    auto c = cotangents(n, d[n]);
    for (std::size_t i = 0; i < c.size(); ++i) {
      if (!c[i] || !needed[n->in[i]]) continue;
      d[n->in[i]] = plus(d[n->in[i]], c[i]);
    }
  }
  std::vector<V> r;
  for (V p : params) r.push_back(!p ? V() : d.count(p.n) && d[p.n] ? d[p.n] : zeros_like(p));
  return r;
}
