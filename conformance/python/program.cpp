#include "conformance/python/program.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "conformance/python/arrays.hpp"
#include "conformance/python/interval.hpp"
#include "conformance/python/others_run.hpp"
#include "reference/answer.hpp"
#include "spec/error.hpp"
#include "spec/program/binding.hpp"
#include "spec/program/extents.hpp"
#include "spec/program/program.hpp"

namespace etalon::python {
namespace {

namespace py = pybind11;

[[nodiscard]] spec::Program program_of(const std::string& text) {
  spec::Program program = spec::parse_program(text, "program");
  if (spec::has_open_extents(program)) program = spec::with_extents(std::move(program));
  spec::verify(program);
  return program;
}

/// Outputs, and behind them the values that parameters hold afterwards.
[[nodiscard]] spec::Program asking_for_updates(spec::Program program) {
  for (const spec::Update& update : spec::all_updates(program)) {
    if (std::find(program.outputs.begin(), program.outputs.end(), update.value) == program.outputs.end())
      program.outputs.push_back(update.value);
  }
  program.updates.clear();
  return program;
}

/// Every input of the program by its name; constants are its own.
[[nodiscard]] std::vector<HostTensor> inputs_of(const spec::Program& program, const py::dict& given) {
  std::vector<HostTensor> inputs;
  std::size_t taken = 0;
  for (const spec::Input& input : program.inputs) {
    if (input.value) {
      inputs.push_back(*input.value);
      continue;
    }
    if (!given.contains(input.name))
      throw SpecViolation(fmt::format("program: input {} : {} is missing", input.name,
                                      to_string(spec::ValueType{input.dtype, input.dims})));
    inputs.push_back(tensor_of(given[py::str(input.name)], "input " + input.name));
    ++taken;
  }
  if (taken < given.size()) {
    for (const auto& [key, value] : given) {
      const auto name = key.cast<std::string>();
      const bool known = std::any_of(program.inputs.begin(), program.inputs.end(),
                                     [&](const spec::Input& input) { return input.name == name && !input.value; });
      if (!known) throw SpecViolation("program: there is no input " + name);
    }
  }
  spec::verify_inputs(program, inputs);
  return inputs;
}

[[nodiscard]] spec::Request request_of(const spec::Program& program, const py::dict& given) {
  spec::Request request;
  request.id = "run";
  request.inputs = inputs_of(program, given);
  request.program = asking_for_updates(program);
  return request;
}

[[nodiscard]] std::vector<HostTensor> outputs_of(const spec::Request& request) {
  const OthersRun others_run;
  return reference::correctly_rounded(request).outputs;
}

/// The outputs by name, and the parameters that hold something else afterwards.
[[nodiscard]] py::tuple run(const spec::Program& program, const py::dict& given) {
  const spec::Request request = request_of(program, given);
  const std::vector<HostTensor> all = outputs_of(request);
  py::dict outputs, state;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) outputs[py::str(program.outputs[i])] = array_of(all[i]);
  for (const spec::Update& update : spec::all_updates(program)) {
    const auto& names = request.program.outputs;
    state[py::str(update.parameter)] =
        array_of(all[static_cast<std::size_t>(std::find(names.begin(), names.end(), update.value) - names.begin())]);
  }
  return py::make_tuple(outputs, state);
}

/// By name what is given at a run, as text of its type.
[[nodiscard]] py::dict types_in(const spec::Program& program, bool parameters) {
  py::dict types;
  for (const spec::Input& input : program.inputs) {
    if (!input.value && (input.role == spec::Role::parameter) == parameters)
      types[py::str(input.name)] = to_string(spec::ValueType{input.dtype, input.dims});
  }
  return types;
}

}  // namespace

void bind_program(py::module_& module) {
  py::class_<spec::Program>(module, "Program")
      .def(py::init(&program_of))
      .def_property_readonly("text", [](const spec::Program& p) { return spec::to_text(p); })
      .def_property_readonly("inputs", [](const spec::Program& p) { return types_in(p, false); })
      .def_property_readonly("parameters", [](const spec::Program& p) { return types_in(p, true); })
      .def_property_readonly("outputs", [](const spec::Program& p) { return p.outputs; })
      .def("run", &run)
      .def("interval", [](const spec::Program& p, const py::dict& given, const std::string& contract) {
        spec::Request request = request_of(p, given);
        return interval_of([&request] { return std::move(request); }, contract);
      });
}

}  // namespace etalon::python
