#include "conformance/interchange/stablehlo/text.hpp"

#include "conformance/interchange/stablehlo/equations.hpp"

namespace etalon::conformance::stablehlo {

std::string module_text(const spec::Program& program) {
  verify(program);
  const spec::System system = lower(program);
  Instructions out;
  std::vector<Tensor> inputs;
  for (const spec::TensorId id : system.inputs) {
    const spec::TensorInfo& info = system[id];
    inputs.push_back(out.argument({info.dtype, {info.dims.begin(), info.dims.end()}}));
  }
  const std::vector<Tensor> outputs = write_equations(system, inputs, out);
  return "module {\n" + out.function("main", outputs) + "}\n";
}

}  // namespace etalon::conformance::stablehlo
