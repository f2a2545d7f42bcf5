#include "compiled/lower/bind.hpp"

#include <algorithm>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/script.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled::loops {

namespace {

bool fills_register(const Step& s) { return std::holds_alternative<Reduce>(s.is) || std::holds_alternative<Define>(s.is); }

/// The outermost loop, if nothing but registers stands before it.
Loop* outermost(Nest& nest) {
  if (nest.steps.empty() || !std::all_of(nest.steps.begin(), nest.steps.end() - 1, fills_register)) return nullptr;
  return std::get_if<Loop>(&nest.steps.back().is);
}

/// Whether the plan promises that values of the kernel's outermost loop are independent.
bool is_shared(const Kernel& kernel) {
  return kernel.kind != KernelKind::scatter && (kernel.kind != KernelKind::sequence || kernel.loops.size() > 1);
}

bool is_own(const Nest& nest, TensorId t) {
  return std::any_of(nest.buffers.begin(), nest.buffers.end(), [&](const Buffer& b) { return b.tensor == t && b.scope == Scope::thread; });
}

/// Tiles have loops of their own around them, which count blocks. A loop in lanes that is shared gives each thread a turn of one.
void bind_to_grid(const spec::System& system, const Plan& plan, const Kernel& kernel, Nest& nest) {
  const Accesses all = accesses_of(nest.steps);
  const auto own = [&](TensorId t) { return is_own(nest, t); };
  const auto share = [&](TensorId a, TensorId b) { return share_memory(plan, a, b); };
  bool promised = is_shared(kernel);
  for (Loop* loop = outermost(nest); loop != nullptr; promised = all.in_tiles) {
    if (loop->limit.valid()) return;
    if (!promised && meeting(system, all, loop->binder.variable, own, share)) return;
    loop->bind = Bind::grid;
    loop->width = 1;
    loop = loop->steps.size() == 1 ? std::get_if<Loop>(&loop->steps.front().is) : nullptr;
  }
}

void unroll(std::vector<Step>& steps);

void unroll(Reduce& r) {
  std::int64_t turns = 1;
  bool is_short = true;
  for (auto loop = r.loops.rbegin(); loop != r.loops.rend(); ++loop) {
    turns *= loop->binder.extent;
    is_short = is_short && !loop->in_lanes() && turns <= threshold("most_unrolled");
    if (is_short) loop->bind = Bind::unrolled;
    unroll(loop->steps);
  }
}

void unroll(std::vector<Step>& steps) {
  for (Step& s : steps) {
    if (auto* r = std::get_if<Reduce>(&s.is)) unroll(*r);
    if (auto* loop = std::get_if<Loop>(&s.is)) unroll(loop->steps);
    if (auto* c = std::get_if<Contract>(&s.is)) unroll(c->steps);
  }
}

}  // namespace

void bind(const spec::System& system, const Plan& plan, const Machine& machine, std::size_t kernel, Nest& nest) {
  unroll(nest.steps);
  const Kernel& planned = plan.kernels[kernel];
  if (machine.is_grid()) return bind_to_grid(system, plan, planned, nest);
  if (Loop* loop = outermost(nest); loop != nullptr && is_shared(planned)) loop->bind = Bind::cores;
}

}  // namespace etalon::compiled::loops
