#include "spec/program/join.hpp"

#include <utility>

#include "spec/error.hpp"
#include "spec/system/splice.hpp"

namespace etalon::spec {
namespace {

/// The tensor of `whole` for every tensor of `part`, added where it is not an input.
std::vector<TensorId> place_tensors(System& whole, const System& part, std::span<const TensorId> inputs,
                                    std::span<const std::string> names, FreshNames& taken) {
  std::vector<TensorId> place(part.tensors.size(), -1);
  for (std::size_t i = 0; i < part.inputs.size(); ++i) place[static_cast<std::size_t>(part.inputs[i])] = inputs[i];
  for (std::size_t i = 0; i < part.outputs.size(); ++i) {
    TensorId& id = place[static_cast<std::size_t>(part.outputs[i])];
    if (id < 0) id = whole.add_tensor(names[i], part[part.outputs[i]].dtype, part[part.outputs[i]].dims);
  }
  for (std::size_t i = 0; i < part.tensors.size(); ++i) {
    if (place[i] >= 0) continue;
    const TensorInfo& local = part.tensors[i];
    place[i] = whole.add_tensor(taken.take(names[0] + "." + local.name, "."), local.dtype, local.dims);
    whole.tensors.back().range = local.range;
  }
  return place;
}

}  // namespace

TensorId append_copy(System& system, TensorId original, std::string name, std::int32_t origin) {
  const TensorId copy = system.add_tensor(std::move(name), system[original].dtype, system[original].dims);
  std::vector<Binder> binders = system.bind_all(copy);
  Expr value = system.at(original, variables(binders));
  system.define(copy, std::move(binders), std::move(value), origin);
  return copy;
}

std::vector<TensorId> join(System& whole, const System& part, std::span<const TensorId> inputs,
                           std::span<const std::string> results, const Source& source, FreshNames& taken) {
  if (inputs.size() != part.inputs.size() || results.size() != part.outputs.size())
    throw InternalError("join: the system of " + (results.empty() ? "a call" : results[0]) +
                        " does not have the operands and results of its call");
  const std::vector<TensorId> place = place_tensors(whole, part, inputs, results, taken);
  const std::int32_t first_origin = splice(whole, part, place);
  for (auto o = whole.origins.begin() + first_origin; o != whole.origins.end(); ++o) {
    o->file = source.file;
    o->line = source.line;
    o->section = source.section;
  }
  std::vector<TensorId> outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    TensorId id = place[static_cast<std::size_t>(part.outputs[i])];
    if (whole[id].name != results[i]) id = append_copy(whole, id, results[i], part.origins.empty() ? -1 : first_origin);
    outputs.push_back(id);
  }
  return outputs;
}

}  // namespace etalon::spec
