#include "conformance/offered_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/components.hpp"
#include "conformance/offer.hpp"
#include "conformance/program_case.hpp"

namespace etalon::conformance {
namespace {

[[nodiscard]] bool is_offered(const spec::Program& program, const spec::Description& description) {
  const std::vector<std::string> called = operations_of(program);
  const auto types = spec::types_of(program);
  return std::all_of(called.begin(), called.end(), [&](const std::string& name) { return offers(description, name); }) &&
         std::all_of(types.begin(), types.end(), [&](const auto& named) { return offers(description, named.second.dtype); });
}

template <class T>
void keep(std::vector<T>& list, const std::vector<bool>& kept) {
  if (list.size() != kept.size()) return;  // not of this mode
  std::vector<T> left;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (kept[i]) left.push_back(std::move(list[i]));
  }
  list = std::move(left);
}

}  // namespace

std::optional<Case> offered_parts(Case c, const spec::Description& description) {
  if (!c.program || is_offered(*c.program, description)) return c;
  const std::vector<Component> parts = components_of(request_of(c));
  if (parts.empty()) return c;
  std::set<std::string> results;
  std::vector<bool> inputs(c.program->inputs.size(), false), outputs(c.program->outputs.size(), false);
  bool about = false;
  for (const Component& part : parts) {
    const spec::Program& program = part.request.program;
    if (!is_offered(program, description)) continue;
    for (const std::size_t i : part.inputs) inputs[i] = true;
    for (const std::size_t o : part.outputs) outputs[o] = true;
    for (const auto& step : program.steps) results.insert(std::get<spec::Call>(step).results.front());
    const std::vector<std::string> called = operations_of(program);
    about = about || std::find(called.begin(), called.end(), c.key.operation) != called.end();
  }
  if (!about || std::find(outputs.begin(), outputs.end(), true) == outputs.end()) return std::nullopt;
  std::vector<bool> steps;
  for (const auto& step : c.program->steps) steps.push_back(results.contains(std::get<spec::Call>(step).results.front()));
  keep(c.program->steps, steps);
  keep(c.assignments, steps);
  keep(c.program->inputs, inputs);
  keep(c.program->outputs, outputs);
  keep(c.operands, inputs);
  keep(c.call.operands, inputs);
  keep(c.wrt, inputs);
  keep(c.tangents, inputs);
  keep(c.cotangents, outputs);
  keep(c.cotangent_tangents, outputs);
  if (c.mode != spec::Mode::forward && std::find(c.wrt.begin(), c.wrt.end(), true) == c.wrt.end()) return std::nullopt;
  return c;
}

}  // namespace etalon::conformance
