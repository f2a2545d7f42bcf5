#include "compiled/task.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "spec/program/extents.hpp"
#include "spec/program/wishes.hpp"

namespace etalon::compiled {

namespace {

std::vector<PlanOptions::Update> updates_of(const spec::Program& program) {
  const std::vector<spec::Update> all = spec::all_updates(program);
  std::unordered_map<std::string_view, std::size_t> position;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) position.emplace(program.inputs[i].name, i);
  std::vector<PlanOptions::Update> updates;
  for (std::size_t u = 0; u < all.size(); ++u) updates.push_back({position.at(all[u].parameter), program.outputs.size() + u});
  return updates;
}

}  // namespace

Task task_of(const spec::Program& given) {
  if (has_open_extents(given)) return task_of(with_extents(given));
  const spec::Program program = with_captures(given);
  spec::System system = lower(program);  // verifies; what follows relies on it
  Task task{std::move(system), program.inputs, given.outputs.size(), {}, updates_of(program)};
  for (std::string& name : captures(program)) {
    const auto at = std::find(program.outputs.begin(), program.outputs.end(), name);
    task.captured.push_back({std::move(name), static_cast<std::size_t>(at - program.outputs.begin())});
  }
  return task;
}

Task task_of(const spec::System& system) {
  Task task{system, {}, system.outputs.size(), {}, {}};
  for (const spec::TensorId id : system.inputs) {
    spec::Input input;
    input.name = system[id].name;
    input.dtype = system[id].dtype;
    input.dims = system[id].dims;
    input.range = system[id].range;
    task.inputs.push_back(std::move(input));
  }
  return task;
}

}  // namespace etalon::compiled
