#include "compiled/ir/flow.hpp"

#include <algorithm>
#include <map>

#include "compiled/ir/lanes.hpp"
#include "compiled/ir/language.hpp"

namespace etalon::compiled {
namespace {

std::size_t at(TensorId t) { return static_cast<std::size_t>(t); }

void note(std::vector<std::size_t>& kernels, std::size_t k) {
  if (kernels.empty() || kernels.back() != k) kernels.push_back(k);
}

void note(std::vector<TensorId>& tensors, TensorId t) {
  if (std::find(tensors.begin(), tensors.end(), t) == tensors.end()) tensors.push_back(t);
}

}  // namespace

std::size_t Flow::last_use(TensorId t) const {
  const auto& r = readers[at(t)];
  const auto& w = writers[at(t)];
  if (r.empty() && w.empty()) return never;
  return std::max(r.empty() ? 0 : r.back(), w.empty() ? 0 : w.back());
}

Flow flow_of(const spec::System& system, const std::vector<Kernel>& kernels) {
  Flow flow;
  flow.reads.resize(kernels.size());
  flow.writes.resize(kernels.size());
  flow.readers.resize(system.tensors.size());
  flow.writers.resize(system.tensors.size());
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    for (const Statement& s : kernels[k].statements) {
      const spec::Equation& e = system.equations[s.equation];
      note(flow.writes[k], e.target);
      note(flow.writers[at(e.target)], k);
      for_each_read(e, [&](const spec::Expr& x) {
        note(flow.reads[k], x->tensor);
        note(flow.readers[at(x->tensor)], k);
      });
    }
  }
  return flow;
}

std::vector<std::size_t> live_bytes(const spec::System& system, const Plan& plan, const Flow& flow) {
  std::vector<bool> kept(system.tensors.size());
  for (const Commit& c : plan.commits) kept[at(system.outputs[c.output])] = true;
  std::vector<std::map<std::size_t, std::size_t>> blocks(plan.kernels.size());  // offset to bytes: one block, whoever shares it
  for (std::size_t t = 0; t < system.tensors.size(); ++t) {
    const Residence& r = plan.residences[t];
    if (r.home != Home::arena || flow.writers[t].empty()) continue;
    const std::size_t end = kept[t] ? plan.kernels.size() - 1 : flow.last_use(static_cast<TensorId>(t));
    for (std::size_t k = flow.writers[t].front(); k <= end; ++k) blocks[k][r.offset] = r.bytes;
  }
  std::vector<std::size_t> live;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    std::size_t bytes = plan.kernels[k].scratch ? plan.kernels[k].scratch->all_bytes() : 0;
    for (const auto& [offset, size] : blocks[k]) bytes += size;
    live.push_back(bytes);
  }
  return live;
}

double operations_of(const spec::Equation& equation) {
  return points_of<double>(equation.binders) * (loops::operations(equation.value) + 1);
}

}  // namespace etalon::compiled
