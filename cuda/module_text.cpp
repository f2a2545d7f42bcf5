#include "cuda/module_text.hpp"

#include <utility>
#include <variant>

#include "compiled/emit/text/program_text.hpp"
#include "cuda/cuda_file.hpp"
#include "cuda/shared_kernels.hpp"
#include "cuda/split.hpp"

namespace etalon::cuda {

namespace {

using compiled::Command;
using compiled::Launch;

/// Adds what makes a kernel's reduction in parts, before it, and gives both a piece of the arena; and to blocks what they have of their own of it.
class Splitting {
 public:
  Splitting(ModuleText& module, const spec::System& system, const std::vector<compiled::loops::Nest>& nests) : module_(module), splits_(splits_of(system, module.script, nests)) {}

  void run() {
    compiled::Script script;
    script.memories = std::move(module_.script.memories);
    script.arena_bytes = splits_.arena_bytes;
    for (Command& command : module_.script.commands) {
      for (std::size_t& before : command.after) before = moved_[before];
      auto* launch = std::get_if<Launch>(&command.does);
      const auto split = launch == nullptr ? splits_.of.end() : splits_.of.find(launch->kernel);
      if (split != splits_.of.end()) add_parts(split->second, *launch, command.after, script);
      if (launch != nullptr && splits_.own.contains(launch->kernel)) launch->operands.push_back({-1, splits_.own.at(launch->kernel), true, true});
      moved_.push_back(script.commands.size());
      script.commands.push_back(std::move(command));
    }
    module_.script = std::move(script);
  }

 private:
  void add_parts(const PlacedSplit& placed, Launch& launch, std::vector<std::size_t>& after, compiled::Script& script) {
    Command parts{launch, after};
    auto& made = std::get<Launch>(parts.does);
    made.kernel = module_.kernels.size();
    made.operands.push_back({-1, placed.memory, false, true});
    launch.operands.push_back({-1, placed.memory, true, false});
    module_.kernels.push_back({parts_kernel(module_.kernels[launch.kernel].name), placed.split.grid});
    after = {script.commands.size()};
    script.commands.push_back(std::move(parts));
  }

  ModuleText& module_;
  Splits splits_;
  std::vector<std::size_t> moved_;  ///< where commands are now
};

}  // namespace

ModuleText module_text(const compiled::Compilation& made) {
  const compiled::Task task = compiled::task_of(made.system);
  const compiled::source::ProgramText program(task, made, "program");
  ModuleText module{cuda_file(program), {}, made.script, {}};
  const SharedKernels shared(program);
  for (std::size_t k = 0; k < made.nests.size(); ++k) module.kernels.push_back({shared.name_of(k), grid_of(made.system, made.nests[k])});
  for (Command& command : module.script.commands) {
    if (auto* launch = std::get_if<Launch>(&command.does)) launch->operands = shared.operands_of(launch->kernel);
  }
  Splitting(module, made.system, made.nests).run();
  for (const spec::TensorId o : made.system.outputs) {
    const spec::TensorInfo& t = made.system[o];
    module.output_bytes.push_back(static_cast<std::size_t>(t.dims.count()) * size_of(t.dtype));
  }
  return module;
}

}  // namespace etalon::cuda
