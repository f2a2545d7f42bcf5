// Which instructions are views, which are fused into a loop, and which buffer each result has.
#include <algorithm>
#include <functional>

#include "exec.h"

std::vector<N> topological(const std::vector<N>& roots) {
  std::vector<N> order;
  std::map<N, int> state;
  std::function<void(N)> visit = [&](N n) {
    if (state[n]) return;
    state[n] = 1;
    for (N x : n->in) visit(x);
    order.push_back(n);
  };
  for (N r : roots) visit(r);
  return order;
}

namespace {

// Whether a strided operand can be read under another shape, and with which strides.
bool reshape_view(const Dims& from, const Dims& stride, const Dims& to, Dims& out) {
  Dims f, s;
  for (std::size_t i = 0; i < from.size(); ++i) if (from[i] != 1) { f.push_back(from[i]); s.push_back(stride[i]); }
  if (size_of(from) == 0) { out = row_major(to); return true; }
  bool ascending = std::all_of(s.begin(), s.end(), [](Int v) { return v > 0; });
  if (BUG(reshape_view_checks_last_axis) && ascending && !s.empty() && s.back() == 1) { out = row_major(to); return true; }
  Dims mf, ms;  // axes that follow each other in memory are one
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (!mf.empty() && ms.back() == s[i] * f[i]) { mf.back() *= f[i]; ms.back() = s[i]; }
    else { mf.push_back(f[i]); ms.push_back(s[i]); }
  }
  out.assign(to.size(), 0);
  std::size_t k = mf.size();
  Int left = 1, step = 0;
  for (std::size_t i = to.size(); i-- > 0;) {
    if (to[i] == 1) { out[i] = 0; continue; }
    if (left == 1) {
      if (k == 0) return false;
      --k; left = mf[k]; step = ms[k];
    }
    if (left % to[i] != 0) return false;
    out[i] = step;
    step *= to[i];
    left /= to[i];
  }
  return k == 0 && left == 1;
}

Place view_of(N n, const Place& x) {
  Place p = x;
  switch (n->op) {
    case Op::broadcast:
      p.stride.assign(n->shape.size(), 0);
      for (std::size_t i = 0; i < n->shape.size(); ++i) {
        Int k = n->a[i];
        if (k >= 0 && n->in[0]->shape[k] != 1) p.stride[i] = x.stride[k];
      }
      return p;
    case Op::transpose:
      for (std::size_t i = 0; i < n->shape.size(); ++i) p.stride[i] = x.stride[n->a[i]];
      return p;
    default:  // slice
      for (std::size_t i = 0; i < n->shape.size(); ++i) {
        if (size_of(n->shape) != 0) p.offset += n->a[i] * x.stride[i];
        p.stride[i] = x.stride[i] * n->b[i];
      }
      return p;
  }
}

struct Planner {
  Plan plan;
  std::map<N, int> users;
  std::map<N, N> user;
  std::set<N> rooted;

  int fresh(Int size, const std::vector<Real>* given) {
    plan.size.push_back(size);
    plan.given.push_back(given);
    return int(plan.size.size()) - 1;
  }
  bool inlined(N n) const {
    if (n->op != Op::ew || rooted.count(n)) return false;
    auto u = users.find(n);
    if (u == users.end() || u->second != 1) return false;
    N c = user.at(n);
    if (c->op == Op::ew) return c->shape == n->shape;
    return c->op == Op::reduce;
  }
  void collect(N n, Step& s) {
    if (std::find(s.body.begin(), s.body.end(), n) != s.body.end()) return;
    for (N x : n->in) {
      if (inlined(x)) collect(x, s);
      else if (std::find(s.leaves.begin(), s.leaves.end(), x) == s.leaves.end()) s.leaves.push_back(x);
    }
    s.body.push_back(n);
  }
  void add(N n) {
    Step s;
    s.root = n;
    if (n->op == Op::ew) collect(n, s);
    else if (n->op == Op::reduce && inlined(n->in[0])) collect(n->in[0], s);
    else for (N x : n->in) s.leaves.push_back(x);
    s.out = fresh(size_of(n->shape), nullptr);
    plan.place[n] = {s.out, row_major(n->shape), 0};
    plan.steps.push_back(s);
  }
};

}  // namespace

Plan make_plan(const std::vector<N>& roots, const std::map<N, Operand>& params) {
  Planner p;
  auto order = topological(roots);
  for (N n : order) for (N x : n->in) { ++p.users[x]; p.user[x] = n; }
  p.rooted.insert(roots.begin(), roots.end());
  for (N n : order) {
    auto given = params.find(n);
    if (given != params.end()) {
      const Operand& o = given->second;
      p.plan.place[n] = {p.fresh(Int(o.data->size()), o.data), o.stride, o.offset};
      continue;
    }
    if (n->op == Op::constant) {
      p.plan.place[n] = {p.fresh(size_of(n->shape), n->data.get()), row_major(n->shape), 0};
      continue;
    }
    if (n->op == Op::broadcast || n->op == Op::transpose || n->op == Op::slice) {
      p.plan.place[n] = view_of(n, p.plan.place.at(n->in[0]));
      continue;
    }
    if (n->op == Op::reshape) {
      const Place& x = p.plan.place.at(n->in[0]);
      Dims stride;
      if (reshape_view(n->in[0]->shape, x.stride, n->shape, stride)) {
        p.plan.place[n] = {x.buffer, stride, x.offset};
        continue;
      }
    }
    if (!p.inlined(n)) p.add(n);
  }
  return p.plan;
}

// Storage is handed on to a later result of the same size; an elementwise loop may write over an operand that it reads
// at the very place it writes.
void assign_buffers(Plan& plan, const std::vector<N>& roots) {
  int count = int(plan.size.size()), end = int(plan.steps.size());
  plan.last_use.assign(count, -1);
  for (int s = 0; s < end; ++s) {
    for (N x : plan.steps[s].leaves) {
      plan.last_use[plan.place.at(x).buffer] = s;
    }
  }
  for (N r : roots) {
    plan.last_use[plan.place.at(r).buffer] = end;
  }
  plan.physical.assign(count, -1);
  std::vector<bool> handed(count, false);
  std::multimap<Int, int> idle;
  auto take = [&](Int size) {
    auto it = idle.find(size);
    if (it == idle.end()) return plan.storages++;
    int p = it->second;
    idle.erase(it);
    return p;
  };
  for (int s = 0; s < end; ++s) {
    Step& step = plan.steps[s];
    int out = step.out;
    if (step.root->op == Op::ew) {
      for (N x : step.leaves) {
        int b = plan.place.at(x).buffer;
        if (plan.given[b] || plan.last_use[b] != s || plan.size[b] != plan.size[out] || plan.physical[b] < 0) continue;
        bool same = true;  // all that is read of it is read where it is written
        for (N y : step.leaves) {
          const Place& p = plan.place.at(y);
          if (p.buffer != b) continue;
          if (BUG(in_place_checks_first_operand) && y != x) continue;
          same = same && p.offset == 0 && y->shape == step.root->shape && p.stride == row_major(y->shape);
        }
        if (!same) continue;
        plan.physical[out] = plan.physical[b];
        handed[b] = true;
        break;
      }
    }
    if (plan.physical[out] < 0) plan.physical[out] = take(plan.size[out]);
    for (int b = 0; b < count; ++b) {
      if (plan.given[b] || plan.last_use[b] != s || plan.physical[b] < 0 || b == out || handed[b]) continue;
      idle.emplace(plan.size[b], plan.physical[b]);
    }
    if (plan.last_use[out] < 0) idle.emplace(plan.size[out], plan.physical[out]);
  }
}
