// Running a plan: loops of eight lanes with tails, reductions in lanes, kernels.
#include <algorithm>

#include "exec.h"

Loop::Loop(const Dims& shape, const std::vector<N>& body, const std::vector<N>& leaves, const std::map<N, Place>& place,
           const Base& storage, const Dims& order) {
  std::map<N, int> reg;
  for (N x : leaves) {
    const Place& p = place.at(x);
    Dims stride;
    for (Int i : order) stride.push_back(p.stride[i]);
    Leaf leaf{Kind::general, storage[p.buffer] + p.offset, {}, {}, 1};
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) continue;
      bool follows = !leaf.shape.empty() && leaf.stride.back() == stride[i] * shape[i];
      if (BUG(collapse_into_repeated_axis) && leaf.shape.size() > 1 && stride[i] == 0) follows = true;
      if (follows) {
        leaf.shape.back() *= shape[i];
        leaf.stride.back() = stride[i];
      } else {
        leaf.shape.push_back(shape[i]);
        leaf.stride.push_back(stride[i]);
      }
    }
    const Dims& s = leaf.stride;
    if (s.empty() || (s.size() == 1 && s[0] == 0)) {
      leaf.kind = Kind::splat;
      if (BUG(splat_ignores_offset) && x->op == Op::broadcast) leaf.base = storage[p.buffer];
    } else if (s.size() == 1 && s[0] == 1) {
      leaf.kind = Kind::contiguous;
    } else if (s.size() == 2 && s[0] == 0 && s[1] == 1) {
      leaf.kind = Kind::row;
      leaf.period = leaf.shape[1];
    }
    reg.emplace(x, int(leaves_.size()));
    leaves_.push_back(leaf);
  }
  for (N n : body) {
    Instruction c{n, {0, 0, 0}};
    for (std::size_t i = 0; i < n->in.size(); ++i) c.in[i] = reg.at(n->in[i]);
    reg.emplace(n, int(leaves_.size() + code_.size()));
    code_.push_back(c);
  }
  registers_.resize((leaves_.size() + code_.size()) * lanes);
  result_ = int(leaves_.size() + code_.size()) - 1;
}

void Loop::load(const Leaf& leaf, Int first, int count, Real* to) const {
  switch (leaf.kind) {
    case Kind::splat:
      for (int l = 0; l < count; ++l) to[l] = leaf.base[0];
      return;
    case Kind::contiguous:
      for (int l = 0; l < count; ++l) to[l] = leaf.base[first + l];
      return;
    case Kind::row: {
      bool tail = count < lanes;
      Int at = first % leaf.period;
      if (BUG(row_operand_tail_restarts) && tail && first >= lanes) at = 0;
      for (int l = 0; l < count; ++l) {
        to[l] = leaf.base[at];
        if (++at == leaf.period) at = 0;
      }
      return;
    }
    case Kind::general:
      for (int l = 0; l < count; ++l) {
        Int rest = first + l, at = 0;
        for (std::size_t i = leaf.shape.size(); i-- > 0;) {
          at += rest % leaf.shape[i] * leaf.stride[i];
          rest /= leaf.shape[i];
        }
        to[l] = leaf.base[at];
      }
  }
}

void Loop::run(Int first, int count, Real* out) {
  for (std::size_t i = 0; i < leaves_.size(); ++i) load(leaves_[i], first, count, &registers_[i * lanes]);
  for (std::size_t k = 0; k < code_.size(); ++k) {
    const Instruction& c = code_[k];
    Real* to = &registers_[(leaves_.size() + k) * lanes];
    bool inner = k + 1 < code_.size();
    for (int l = 0; l < count; ++l) {
      Real x[3];
      for (std::size_t i = 0; i < c.n->in.size(); ++i) x[i] = registers_[c.in[i] * lanes + l];
      to[l] = scalar_fn(c.n, x);
      if (BUG(fused_i32_kept_wide) && inner && c.n->dt == DT::i32 && c.n->fn == Fn::add) to[l] = x[0] + x[1];
    }
  }
  for (int l = 0; l < count; ++l) out[l] = registers_[result_ * lanes + l];
}

namespace {

bool better(Red r, Real v, Real best) {  // NaN is the extremum
  if (isnanq(best)) return false;
  if (isnanq(v)) return true;
  return r == Red::max || r == Red::argmax ? v > best : v < best;
}

Real wrapped_sum(Real v, DT dt) {
  if (is_real(dt)) return v;
  Real m = fmodq(v, 18446744073709551616.0Q);
  if (m < 0) m += 18446744073709551616.0Q;
  return rounded(Real(Int((unsigned long long)(m))), dt);
}

Real one_reduction(N n, Loop& loop, Int first, Int inner) {
  Red r = n->red;
  bool arg = r == Red::argmax || r == Red::argmin, extremum = arg || r == Red::max || r == Red::min;
  Real acc[lanes], block[lanes];
  Int at[lanes];
  bool used[lanes] = {};
  DT dt = n->in[0]->dt;
  if (BUG(reduction_skips_lone_tail) && inner > 2 * lanes && inner % lanes == 1) --inner;
  for (Int i = 0; i < inner; i += lanes) {
    int count = int(std::min<Int>(lanes, inner - i));
    loop.run(first + i, count, block);
    for (int l = 0; l < count; ++l) {
      Real v = block[l];
      if (!used[l]) { used[l] = true; acc[l] = v; at[l] = i + l; continue; }
      switch (r) {
        case Red::sum: acc[l] = acc[l] + v; break;
        case Red::prod:
          acc[l] = is_real(dt) ? acc[l] * v
                               : rounded(Real(Int((unsigned long long)(Int(acc[l])) * (unsigned long long)(Int(v)))), dt);
          break;
        case Red::any: acc[l] = acc[l] != 0 || v != 0; break;
        case Red::all: acc[l] = acc[l] != 0 && v != 0; break;
        default:
          if (better(r, v, acc[l])) { acc[l] = v; at[l] = i + l; }
      }
    }
  }
  if (BUG(max_lanes_start_at_zero) && r == Red::max && inner < lanes && is_real(dt)) {
    for (int l = int(inner); l < lanes; ++l) { used[l] = true; acc[l] = 0; at[l] = 0; }
  }
  bool any = false;
  Real v = 0;
  Int where = 0;
  for (int l = 0; l < lanes; ++l) {
    if (!used[l]) continue;
    if (!any) { any = true; v = acc[l]; where = at[l]; continue; }
    switch (r) {
      case Red::sum: v = v + acc[l]; break;
      case Red::prod:
        v = is_real(dt) ? v * acc[l]
                        : rounded(Real(Int((unsigned long long)(Int(v)) * (unsigned long long)(Int(acc[l])))), dt);
        break;
      case Red::any: v = v != 0 || acc[l] != 0; break;
      case Red::all: v = v != 0 && acc[l] != 0; break;
      default: {
        bool nans = isnanq(v) && isnanq(acc[l]);
        bool tie = (nans || v == acc[l]) && at[l] < where;
        if (BUG(arg_tie_by_lane)) tie = false;
        if (BUG(max_of_lanes_drops_nan) && r == Red::max && isnanq(acc[l])) break;
        if (tie || better(r, acc[l], v)) { v = acc[l]; where = at[l]; }
      }
    }
  }
  if (!any) {
    if (extremum) throw std::runtime_error("an extremum of nothing");
    return r == Red::prod || r == Red::all ? 1 : 0;
  }
  if (arg) return Real(where);
  return r == Red::sum ? wrapped_sum(v, dt) + 0 : v;  // a sum begins at +0
}

std::vector<Real> gathered(const Place& p, const Dims& shape, const Real* base) {
  std::vector<Real> out(size_of(shape));
  Dims index(shape.size(), 0);
  Int at = p.offset;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = base[at];
    for (std::size_t k = shape.size(); k-- > 0;) {
      at += p.stride[k];
      if (++index[k] < shape[k]) break;
      at -= p.stride[k] * shape[k];
      index[k] = 0;
    }
  }
  return out;
}

}  // namespace

std::vector<Real> run_reduce(N n, Loop& loop, Int outer, Int inner) {
  std::vector<Real> out(outer);
  for (Int o = 0; o < outer; ++o) out[o] = one_reduction(n, loop, o * inner, inner);
  return out;
}

std::vector<std::vector<Real>> execute(const std::vector<N>& roots, const std::map<N, Operand>& params) {
  Plan plan = make_plan(roots, params);
  assign_buffers(plan, roots);
  std::vector<std::vector<Real>> storage(plan.storages);
  auto bases = [&] {
    Loop::Base b;
    for (std::size_t i = 0; i < plan.size.size(); ++i) {
      b.push_back(plan.given[i] ? plan.given[i]->data() : plan.physical[i] >= 0 ? storage[plan.physical[i]].data() : nullptr);
    }
    return b;
  };
  for (Step& s : plan.steps) {
    N n = s.root;
    std::vector<Real>& out = storage[plan.physical[s.out]];
    out.resize(plan.size[s.out]);
    Loop::Base base = bases();
    if (n->op == Op::ew) {
      Loop loop(n->shape, s.body, s.leaves, plan.place, base, iota_dims(Int(n->shape.size())));
      Int total = Int(out.size());
      for (Int i = 0; i < total; i += lanes) loop.run(i, int(std::min<Int>(lanes, total - i)), &out[i]);
    } else if (n->op == Op::reduce) {
      const Dims& shape = n->in[0]->shape;
      Dims order, permuted;
      for (Int i = 0; i < Int(shape.size()); ++i) if (!contains(n->a, i)) order.push_back(i);
      order.insert(order.end(), n->a.begin(), n->a.end());
      Int outer = size_of(n->shape), inner = 1;
      for (Int i : order) permuted.push_back(shape[i]);
      for (Int i : n->a) inner *= shape[i];
      Loop loop(permuted, s.body, s.leaves, plan.place, base, order);
      std::vector<Real> found = run_reduce(n, loop, outer, inner);
      out = std::move(found);
    } else if (n->op == Op::reshape) {
      out = gathered(plan.place.at(n->in[0]), n->in[0]->shape, base[plan.place.at(n->in[0]).buffer]);
    } else if (n->op == Op::dot) {
      const Place &l = plan.place.at(n->in[0]), &r = plan.place.at(n->in[1]);
      std::vector<Real> found = run_dot(n, l, base[l.buffer] + l.offset, r, base[r.buffer] + r.offset);
      out = std::move(found);
    } else {
      std::vector<std::vector<Real>> x;
      for (N y : n->in) x.push_back(gathered(plan.place.at(y), y->shape, base[plan.place.at(y).buffer]));
      out = run_kernel(n, x);
    }
  }
  Loop::Base base = bases();
  std::vector<std::vector<Real>> result;
  for (N r : roots) {
    const Place& p = plan.place.at(r);
    result.push_back(size_of(r->shape) == 0 ? std::vector<Real>() : gathered(p, r->shape, base[p.buffer]));
  }
  return result;
}
