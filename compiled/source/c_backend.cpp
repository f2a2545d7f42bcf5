#include "compiled/source/c_backend.hpp"

#include <utility>
#include <vector>

#include "compiled/runtime/buffer.hpp"
#include "compiled/source/c_file.hpp"

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

}  // namespace

Runner run_as_c(const spec::System& system, const CCompiler& compiler, const CompileOptions& options) {
  const Task task = task_of(system);
  const Lowered lowered = lower_for_text(task, options);
  const ProgramText text(task, lowered, entry_name);
  auto loaded = std::make_shared<Loaded>();
  loaded->library = compile_c(c_file(text), compiler);
  loaded->entry = reinterpret_cast<Entry>(loaded->library->symbol(text.name()));
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

std::unique_ptr<spec::Backend> make_c_backend(const CCompiler& compiler, const CompileOptions& options) {
  return make_system_backend("cpu-c", [compiler, options](const spec::System& system) { return run_as_c(system, compiler, options); });
}

}  // namespace etalon::compiled::source
