#include "compiled/runtime/c_backend.hpp"

#include <utility>
#include <vector>

#include "compiled/emit/text/c_file.hpp"
#include "compiled/runtime/buffer.hpp"

namespace etalon::compiled::source {

namespace {

constexpr const char* entry_name = "program";

using Entry = void (*)(const void* arguments);

/// A loaded program with its workspace.
struct Loaded {
  std::shared_ptr<Library> library;
  Entry entry = nullptr;
  std::vector<std::pair<DType, Dims>> outputs;
  Buffer workspace;
};

Runner runner_of(const std::shared_ptr<Library>& library, const ProgramText& program) {
  auto loaded = std::make_shared<Loaded>();
  loaded->library = library;
  loaded->entry = reinterpret_cast<Entry>(library->symbol(program.name()));
  const Compilation& lowered = program.lowered();
  for (const spec::TensorId o : lowered.system.outputs) loaded->outputs.emplace_back(lowered.system[o].dtype, lowered.system[o].dims);
  loaded->workspace = Buffer(lowered.plan.arena_bytes);
  return [loaded](std::span<const HostTensor> inputs) {
    // The struct of arguments is a row of pointers: inputs, outputs, workspace.
    std::vector<const void*> arguments;
    std::vector<HostTensor> outputs;
    for (const auto& [dtype, dims] : loaded->outputs) outputs.emplace_back(dtype, dims);
    for (const HostTensor& t : inputs) arguments.push_back(t.bytes.data());
    for (HostTensor& t : outputs) arguments.push_back(t.bytes.data());
    arguments.push_back(loaded->workspace.data());
    loaded->entry(arguments.data());
    return outputs;
  };
}

}  // namespace

std::vector<Runner> run_together_as_c(std::span<const spec::System> systems, const CCompiler& compiler, const CompileOptions& options) {
  std::vector<Task> tasks;
  std::vector<Compilation> lowered;
  for (const spec::System& system : systems) {
    tasks.push_back(task_of(system));
    lowered.push_back(lower_for_text(tasks.back(), options));
  }
  Names file;
  std::vector<ProgramText> programs;
  programs.reserve(systems.size());
  for (std::size_t i = 0; i < systems.size(); ++i) programs.emplace_back(tasks[i], lowered[i], entry_name, file);
  const std::shared_ptr<Library> library = compile_c(c_file(programs), compiler);
  std::vector<Runner> runners;
  for (std::size_t i = 0; i < systems.size(); ++i) runners.push_back(runner_of(library, programs[i]));
  return runners;
}

Runner run_as_c(const spec::System& system, const CCompiler& compiler, const CompileOptions& options) {
  return run_together_as_c({&system, 1}, compiler, options).front();
}

std::unique_ptr<spec::Backend> make_c_backend(const CCompiler& compiler, const CompileOptions& options) {
  return make_system_backend("cpu-c", [compiler, options](const spec::System& system) { return run_as_c(system, compiler, options); });
}

}  // namespace etalon::compiled::source
