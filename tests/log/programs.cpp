#include "tests/log/programs.hpp"

#include <array>
#include <memory>
#include <stdexcept>

#include "spec/program/extents.hpp"
#include "tools/log/record.hpp"

#ifdef ETALON_COMPILED
#include "compiled/runtime/processor.hpp"
#include "compiled/runtime/executable.hpp"
#endif

namespace etalon::logging::tests {

namespace {

constexpr std::size_t lines_before_calls = 4;

/// The right side of call k; values stay between some units.
std::string call(std::size_t k) {
  const auto v = [](std::size_t i) { return "v" + std::to_string(i); };
  const std::string last = k == 0 ? "x" : v(k - 1);
  const std::string before = k < 3 ? "w" : v(k - 3);
  const std::array<std::string, 14> calls{
      "matmul(" + last + ", w)",       "tanh(" + last + ")",          "add(" + last + ", " + before + ")", "softmax(" + last + ") {axis = -1}",
      "mul(" + last + ", " + before + ")", "sigmoid(" + last + ")",   "cumsum(" + last + ") {axis = 0}",   "layer_norm(" + last + ", _, _)",
      "relu(" + last + ")",            "sub(" + last + ", " + before + ")", "gelu(" + last + ")",          "maximum(" + last + ", b)",
      "transpose(" + last + ")", "scale(" + last + ") {by = 0.5}"};
  return calls[k % calls.size()];
}

}  // namespace

std::string long_program(std::size_t calls) {
  std::string text = "# every call stands on a line of its own\ninput x : f32[4, 4]\nparameter w : f32[4, 4]\nparameter b : f32[4, 4]\n";
  for (std::size_t k = 0; k < calls; ++k) {
    text += "v" + std::to_string(k) + " = " + call(k) + " section \"part " + std::to_string(k / 40) + "/block " + std::to_string(k / 8) + "\"\n";
  }
  const std::string last = "v" + std::to_string(calls - 1);
  return text + "loss = mean(" + last + ") section \"loss\"\ngw = vjp(loss; w)\nb[i, j] += 0.5*x[i, j]\nstep = scale(gw) {by = 0.1}\nw1 = sub(w, step)\n"
                "output loss\nupdate w := w1\n";
}

std::size_t line_of_call(std::size_t k) { return lines_before_calls + 1 + k; }

spec::Program parsed(const std::string& text) { return spec::parse_program(text, file); }

std::vector<HostTensor> some_inputs(const spec::Program& program) {
  std::vector<HostTensor> inputs;
  std::uint32_t state = 1;
  for (const spec::Input& input : program.inputs) {
    if (input.value) {
      inputs.push_back(*input.value);
      continue;
    }
    HostTensor tensor(input.dtype, input.dims);
    const auto next = [&] {
      state = state * 1664525U + 1013904223U;
      return static_cast<float>(state >> 8U) / 8388608.0F - 1.0F;
    };
    if (input.dtype == DType::f32) {
      for (float& x : tensor.view<float>()) x = next();
    } else if (input.dtype == DType::f64) {
      for (double& x : tensor.view<double>()) x = static_cast<double>(next());
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

Log logged_on_reference(const spec::Program& program, const std::vector<HostTensor>& inputs, const std::vector<std::string>& names) {
  spec::Contract contract;
  contract.name = "reference";
  contract.default_function = {0.5, 0, 0, true};
  return record(program, file, inputs, names, {"reference", contract, run_on_reference});
}

Log logged_on_cpu(const spec::Program& program, const std::vector<HostTensor>& inputs, const std::vector<std::string>& names) {
#ifdef ETALON_COMPILED
  static const auto processor = std::make_shared<compiled::Processor>();
  const auto run = [](const spec::System& system, std::span<const HostTensor> given) {
    compiled::CompileOptions options;
    options.device = processor;
    return compiled::compile_system(system, options).run(given);
  };
  return record(program, file, inputs, names, {"cpu", spec::contract_named("cpu"), run});
#else
  return logged_on_reference(program, inputs, names);
#endif
}

Log on_reference(const std::string& text, const std::vector<std::string>& names) {
  const spec::Program program = parsed(text);
  return logged_on_reference(program, some_inputs(with_extents(program)), names);
}

Log on_cpu(const std::string& text, const std::vector<std::string>& names) {
  const spec::Program program = parsed(text);
  return logged_on_cpu(program, some_inputs(with_extents(program)), names);
}

HostTensor& held(Log& log, const std::string& name) {
  const spec::TensorId t = log.meaning.system.find(name);
  if (t < 0 || !log.values[static_cast<std::size_t>(t)]) throw std::out_of_range(name);
  return *log.values[static_cast<std::size_t>(t)];
}

}  // namespace etalon::logging::tests
