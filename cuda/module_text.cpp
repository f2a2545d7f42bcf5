#include "cuda/module_text.hpp"

#include "compiled/emit/text/program_text.hpp"
#include "cuda/cuda_file.hpp"

namespace etalon::cuda {

ModuleText module_text(const compiled::Compilation& made) {
  const compiled::Task task = compiled::task_of(made.system);
  const compiled::source::ProgramText program(task, made, "program");
  ModuleText module{cuda_file(program), {}, made.script, {}};
  for (std::size_t k = 0; k < made.nests.size(); ++k) module.kernels.push_back({program.kernel_name(k), grid_of(made.nests[k])});
  for (const spec::TensorId o : made.system.outputs) {
    const spec::TensorInfo& t = made.system[o];
    module.output_bytes.push_back(static_cast<std::size_t>(t.dims.count()) * size_of(t.dtype));
  }
  return module;
}

}  // namespace etalon::cuda
