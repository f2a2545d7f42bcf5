#include "conformance/interchange/onnx/data_set.hpp"

#include <span>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/program/binding.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance::onnx {
namespace {

[[nodiscard]] std::map<std::string, Tensor> read_tensors(const std::filesystem::path& folder, const std::string& kind,
                                                         const std::vector<ValueInfo>& declared) {
  std::map<std::string, Tensor> tensors;
  for (std::size_t i = 0;; ++i) {
    const std::filesystem::path path = folder / fmt::format("{}_{}.pb", kind, i);
    if (!std::filesystem::exists(path)) return tensors;
    if (i >= declared.size()) throw IoError(fmt::format("{}: the model has {} {}s", path.string(), declared.size(), kind));
    if (declared[i].type == 0) {
      tensors.emplace(declared[i].name, std::string("sequences and optional values are not offered"));
      continue;
    }
    const std::string bytes = read_file(path);
    tensors.emplace(declared[i].name, read_tensor(std::as_bytes(std::span(bytes)), path.string()).second);
  }
}

}  // namespace

DataSet read_data_set(const std::filesystem::path& folder, const Model& model) {
  if (!std::filesystem::is_directory(folder)) throw IoError(folder.string() + ": expected a folder with input_0.pb, output_0.pb, …");
  return {read_tensors(folder, "input", model.inputs), read_tensors(folder, "output", model.outputs)};
}

std::map<std::string, HostTensor> numbers_of(const std::map<std::string, Tensor>& tensors) {
  std::map<std::string, HostTensor> numbers;
  for (const auto& [name, tensor] : tensors) {
    if (const auto* why = std::get_if<std::string>(&tensor)) throw Unsupported(fmt::format("\"{}\": {}", as_quoted(name), *why));
    numbers.emplace(name, std::get<HostTensor>(tensor));
  }
  return numbers;
}

spec::Request request_of(const Imported& imported, const std::map<std::string, HostTensor>& inputs, const std::string& id) {
  spec::Request request;
  request.id = id;
  request.program = imported.program;
  for (const spec::Input& input : imported.program.inputs) {
    if (input.value) {
      request.inputs.push_back(*input.value);
    } else if (const auto parameter = imported.parameters.find(input.name); parameter != imported.parameters.end()) {
      request.inputs.push_back(parameter->second);
    } else {
      const std::string& name = imported.inputs.at(input.name);
      const auto given = inputs.find(name);
      if (given == inputs.end()) throw SpecViolation(fmt::format("{}: input \"{}\" has no numbers", id, as_quoted(name)));
      request.inputs.push_back(given->second);
    }
  }
  verify_inputs(request.program, request.inputs);
  return request;
}

}  // namespace etalon::conformance::onnx
