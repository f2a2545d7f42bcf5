#include "cuda/shared_kernels.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/alike.hpp"

namespace etalon::cuda {

namespace {

using compiled::Operand;
using compiled::loops::Likeness;
using spec::TensorId;

/// Whether a kernel reads a tensor that it writes. Then nobody's memory is restricted: what another thread has written must be read again,
/// and NVRTC 13.0 merges a read of it with one of restricted memory in another branch, and lets both go by the cache that sees no writes.
bool reads_what_it_writes(const compiled::loops::Nest& nest) {
  const std::vector<compiled::loops::Access> all = compiled::loops::accesses_of(nest.steps).elements;
  return std::ranges::any_of(nest.buffers, [&](const compiled::loops::Buffer& b) {
    const auto does = [&](bool write) { return std::ranges::any_of(all, [&](const auto& a) { return a.tensor == b.tensor && a.write == write; }); };
    return b.scope == compiled::loops::Scope::argument && does(true) && does(false);
  });
}

/// The operands of a kernel where its model has those of its own; nothing where they do not correspond.
std::optional<std::vector<Operand>> in_order_of(const std::vector<Operand>& model, const Likeness& model_names, const std::vector<Operand>& own, const Likeness& own_names) {
  std::vector<Operand> ordered;
  for (const Operand& o : model) {
    const auto named = std::ranges::find(model_names.tensors, o.tensor);
    if (named == model_names.tensors.end()) return std::nullopt;
    const TensorId tensor = own_names.tensors[static_cast<std::size_t>(named - model_names.tensors.begin())];
    const auto found = std::ranges::find(own, tensor, &Operand::tensor);
    if (found == own.end() || found->read != o.read || found->written != o.written) return std::nullopt;
    ordered.push_back(*found);
  }
  if (ordered.size() != own.size()) return std::nullopt;
  return ordered;
}

}  // namespace

SharedKernels::SharedKernels(const compiled::source::ProgramText& program) : program_(program) {
  const compiled::Compilation& lowered = program.lowered();
  const std::size_t count = lowered.nests.size();
  operands_.resize(count);
  std::vector<bool> reads_constant(count);
  for (const compiled::Command& command : lowered.script.commands) {
    const auto* launch = std::get_if<compiled::Launch>(&command.does);
    if (launch == nullptr) continue;
    operands_[launch->kernel] = launch->operands;
    reads_constant[launch->kernel] = std::erase_if(operands_[launch->kernel], [&](const Operand& o) { return program.constant(o.tensor) != nullptr; }) > 0;
  }
  const std::vector<Likeness> alike = compiled::loops::find_alike(lowered.system, lowered.nests);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t model = alike[k].model;
    models_.push_back(k);
    restricted_.push_back(restricted_of(k));
    if (model == k || models_[model] != model || reads_constant[k] || reads_constant[model]) continue;
    const auto ordered = in_order_of(operands_[model], alike[model], operands_[k], alike[k]);
    if (!ordered) continue;
    const std::vector<Operand> own = std::exchange(operands_[k], *ordered);
    restricted_[k] = restricted_of(k);
    if (restricted_[k] == restricted_[model]) {
      models_[k] = model;
    } else {
      operands_[k] = own;
      restricted_[k] = restricted_of(k);
    }
  }
}

std::vector<bool> SharedKernels::restricted_of(std::size_t kernel) const {
  const bool shared = reads_what_it_writes(program_.lowered().nests[kernel]);
  std::vector<TensorId> ids;
  for (const Operand& o : operands_[kernel]) ids.push_back(o.tensor);
  std::vector<bool> all;
  for (const TensorId id : ids) all.push_back(!shared && !program_.overlaps(id, ids));
  return all;
}

}  // namespace etalon::cuda
