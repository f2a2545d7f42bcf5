#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "conformance/case.hpp"
#include "spec/library/library.hpp"
#include "spec/program/binding.hpp"

namespace etalon::conformance {
namespace {

std::vector<std::string> operand_names(const spec::Definition& d, const CallTypes& call) {
  std::vector<std::string> names;
  std::size_t pack = 0;
  for (std::size_t i = 0; i < d.operand_count; ++i) {
    const std::string name(d.at(d.operands[i].name));
    if (!d.operands[i].pack) {
      names.push_back(name);
      continue;
    }
    const std::size_t members = pack < call.packs.size() ? call.packs[pack] : call.operands.size() - names.size();
    ++pack;
    for (std::size_t m = 0; m < members; ++m) names.push_back(name + "_" + std::to_string(m));
  }
  return names;
}

spec::Program program_of(const Case& c) {
  const spec::Definition& definition = definition_of(c);
  const std::vector<std::string> names = operand_names(definition, c.call);
  spec::Program program;
  program.definitions = c.key.library.texts_for(c.call.operation);
  spec::Call call;
  call.operation = c.call.operation;
  call.packs = c.call.packs;
  // As a backend sees them: complete, so that it needs no table of defaults. An ill-typed call has attributes as they were
  // drawn, and as many results as are declared.
  call.attributes = c.call.attributes;
  std::size_t results = definition.result_count;
  if (c.key.check != Check::rejection) {
    spec::Instance instance = instance_of(c);
    call.attributes = std::move(instance.attributes);
    results = instance.results.size();
  }
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    if (!c.operands[i]) {
      call.operands.emplace_back();
      continue;
    }
    spec::Input input;
    input.name = i < names.size() ? names[i] : "x" + std::to_string(i);
    input.dtype = c.operands[i]->dtype;
    input.dims = c.operands[i]->dims;
    call.operands.emplace_back(input.name);
    program.inputs.push_back(std::move(input));
  }
  for (std::size_t r = 0; r < results; ++r) {
    const bool named = results == definition.result_count;
    const std::string name(definition.at(definition.results[named ? r : 0].name));
    call.results.push_back(named ? name : name + "_" + std::to_string(r));
    program.outputs.push_back(call.results.back());
  }
  program.steps.emplace_back(std::move(call));
  return program;
}

std::vector<std::optional<spec::Placement>> places_of(const std::vector<std::optional<Arrangement>>& arrangements,
                                                      const std::vector<std::optional<HostTensor>>& tensors) {
  std::vector<std::optional<spec::Placement>> places(tensors.size());
  for (std::size_t i = 0; i < tensors.size() && i < arrangements.size(); ++i) {
    if (tensors[i] && arrangements[i]) places[i] = placement_of(*arrangements[i], *tensors[i]);
  }
  return places;
}

void place(spec::Request& request, const Case& c) {
  if (c.key.check != Check::layout) return;
  const std::vector<std::optional<HostTensor>> inputs(request.inputs.begin(), request.inputs.end());
  request.placements.inputs = places_of(c.arrangements.operands, inputs);
  request.placements.tangents = places_of(c.arrangements.tangents, request.tangents);
  request.placements.cotangents = places_of(c.arrangements.cotangents, request.cotangents);
}

}  // namespace

std::vector<HostTensor> present(const Case& c) {
  std::vector<HostTensor> inputs;
  for (const auto& t : c.operands) {
    if (t) inputs.push_back(*t);
  }
  return inputs;
}

bool holds_nothing(const Case& c) {
  return std::any_of(c.operands.begin(), c.operands.end(), [](const auto& t) { return t && t->dims.count() == 0; });
}

spec::Instance instance_of(const Case& c) { return instance_of(c.call, c.key.library); }

spec::Instance instance_of(const CallTypes& call, const spec::Library& library) {
  return spec::instantiate(library.named(call.operation), call.operands, call.packs, call.attributes);
}

std::vector<spec::ValueType> result_types(const Case& c) {
  if (!c.program) return instance_of(c).results;
  const auto types = spec::types_of(*c.program);
  std::vector<spec::ValueType> results;
  for (const std::string& name : c.program->outputs) results.push_back(types.at(name));
  return results;
}

const spec::Definition& definition_of(const Case& c) { return c.key.library.named(c.call.operation); }

spec::Request request_of(const Case& c) {
  spec::Request request;
  request.program = c.program ? *c.program : program_of(c);
  request.id = id_of(c.key);
  request.mode = c.mode;
  request.inputs = present(c);
  request.wrt = c.wrt;
  const bool second = c.mode == spec::Mode::jvp_of_vjp;
  if (c.mode == spec::Mode::jvp || second) request.tangents = c.tangents;
  if (c.mode == spec::Mode::vjp || second) request.cotangents = c.cotangents;
  if (second) request.cotangent_tangents = c.cotangent_tangents;
  place(request, c);
  return request;
}

std::size_t elements_of(const Case& c) {
  std::size_t count = 0;
  for (const auto* group : {&c.operands, &c.tangents, &c.cotangents, &c.cotangent_tangents}) {
    for (const auto& t : *group) count += t ? static_cast<std::size_t>(t->dims.count()) : 0;
  }
  return count;
}

std::optional<Case> case_of(const spec::Request& request) {
  const spec::Program& program = request.program;
  const auto* call = program.steps.size() == 1 ? std::get_if<spec::Call>(&program.steps[0]) : nullptr;
  if (call == nullptr || call->results != program.outputs) return std::nullopt;
  Case c;
  c.key.library = spec::library_of(program);
  c.mode = request.mode;
  c.call = {call->operation, {}, call->packs, call->attributes};
  // What is read twice has one cotangent, and would have two as operands of their own.
  const bool twice = request.mode == spec::Mode::forward || request.mode == spec::Mode::jvp;
  std::size_t next = 0;
  for (const auto& operand : call->operands) {
    c.call.operands.emplace_back();
    c.operands.emplace_back();
    if (!operand) continue;
    std::size_t at = 0;
    while (at < next && program.inputs[at].name != *operand) ++at;
    if (at == next && (next == program.inputs.size() || program.inputs[next].name != *operand)) return std::nullopt;
    if (at == next) ++next;
    else if (!twice) return std::nullopt;
    c.operands.back() = request.inputs[at];
    c.call.operands.back() = spec::ValueType{program.inputs[at].dtype, program.inputs[at].dims};
    if (at < request.wrt.size()) c.wrt.push_back(request.wrt[at]);
    c.tangents.push_back(at < request.tangents.size() ? request.tangents[at] : std::nullopt);
  }
  if (next != program.inputs.size()) return std::nullopt;
  c.cotangents = request.cotangents;
  c.cotangent_tangents = request.cotangent_tangents;
  return c;
}

}  // namespace etalon::conformance
