/// \file
/// Small models of ONNX for tests, and what their programs compute.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "conformance/interchange/onnx/data_set.hpp"
#include "conformance/interchange/onnx/write_model.hpp"
#include "reference/backend.hpp"

namespace etalon::tests {

using namespace conformance::onnx;

[[nodiscard]] inline ValueInfo declared(const std::string& name, DType dtype, const std::vector<std::int64_t>& extents) {
  ValueInfo info{name, type_of(dtype), std::vector<std::variant<std::int64_t, std::string>>{}};
  for (const std::int64_t extent : extents) info.extents->emplace_back(extent);
  return info;
}

[[nodiscard]] inline HostTensor reals(const Dims& dims, const std::vector<float>& numbers) { return HostTensor::of<float>(dims, numbers); }

[[nodiscard]] inline HostTensor integers(const std::vector<std::int64_t>& numbers) {
  return HostTensor::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers);
}

/// A model of one node that makes `y` (and `y1`, …) of the inputs x0, x1, … and of the initializers, in order of their names.
struct OneNode {
  std::string operation;
  std::map<std::string, AttributeValue> attributes{};
  std::vector<HostTensor> inputs{};
  std::map<std::string, Tensor> initializers{};
  std::int64_t opset = 17;
  std::size_t results = 1;

  [[nodiscard]] Model model() const {
    Model m{opset, {{"n", operation, "", {}, {}, attributes}}, initializers, {}, {}};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string name = "x" + std::to_string(i);
      m.inputs.push_back(declared(name, inputs[i].dtype, {inputs[i].dims.begin(), inputs[i].dims.end()}));
      m.nodes[0].inputs.push_back(name);
    }
    for (const auto& [name, tensor] : initializers) m.nodes[0].inputs.push_back(name);
    for (std::size_t r = 0; r < results; ++r) {
      m.nodes[0].outputs.push_back(r == 0 ? "y" : "y" + std::to_string(r));
      m.outputs.push_back({m.nodes[0].outputs.back(), 0, {}});
    }
    return m;
  }

  [[nodiscard]] std::map<std::string, HostTensor> numbers() const {
    std::map<std::string, HostTensor> named;
    for (std::size_t i = 0; i < inputs.size(); ++i) named["x" + std::to_string(i)] = inputs[i];
    return named;
  }
};

/// What the reference computes for the model on these inputs; nothing where it is refused.
[[nodiscard]] inline std::optional<std::vector<HostTensor>> computed(const Model& model, const std::map<std::string, HostTensor>& inputs,
                                                                     const ImportOptions& options = {}) {
  const Imported imported = import_model(model, options);
  if (!imported.refused.empty()) return std::nullopt;
  spec::Answer answer = reference::make_reference_backend()->run(request_of(imported, inputs, "model.onnx"));
  auto* numbers = std::get_if<spec::Numbers>(&answer);
  if (numbers == nullptr) return std::nullopt;
  return std::move(numbers->outputs);
}

[[nodiscard]] inline std::optional<std::vector<HostTensor>> computed(const OneNode& node) { return computed(node.model(), node.numbers()); }

}  // namespace etalon::tests
