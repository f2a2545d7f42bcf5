#include "conformance/single_call.hpp"

#include <utility>
#include <variant>

namespace etalon::conformance {

spec::Request single_call(const spec::Request& whole, const spec::Call& call, const std::map<std::string, HostTensor>& values) {
  spec::Request request;
  request.id = whole.id;
  request.program.definitions = whole.program.definitions;
  spec::Call copy = call;
  // The same value may be read twice: it is two inputs then.
  const auto take = [&](std::string& name) {
    const HostTensor& value = values.at(name);
    name = "x" + std::to_string(request.inputs.size());
    spec::Input input;
    input.name = name;
    input.dtype = value.dtype;
    input.dims = value.dims;
    request.program.inputs.push_back(std::move(input));
    request.inputs.push_back(value);
  };
  for (auto& operand : copy.operands) {
    if (operand) take(*operand);
  }
  for (auto& [name, value] : copy.attributes) {
    if (auto* runtime = std::get_if<spec::ValueName>(&value)) take(runtime->name);
  }
  request.wrt.assign(request.inputs.size(), false);
  request.program.outputs = call.results;
  request.program.steps.emplace_back(std::move(copy));
  return request;
}

}  // namespace etalon::conformance
