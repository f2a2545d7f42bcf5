/// \file
/// Inputs and recorded outputs of a model in a folder, as ONNX's own tests have them (`input_0.pb`, `output_0.pb`, …), and
/// the question that an imported model is on them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "conformance/interchange/onnx/import.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance::onnx {

/// Numbers by the model's names of its inputs and outputs; why there are none stands in their place.
struct DataSet {
  std::map<std::string, Tensor> inputs, outputs;
};

/// The files of the folder, whose numbers count the model's inputs and outputs.
/// \throws IoError for a file that is no tensor, and for one beyond what the model has
[[nodiscard]] DataSet read_data_set(const std::filesystem::path& folder, const Model& model);

/// The numbers of those that have some. \throws Unsupported naming one that has none
[[nodiscard]] std::map<std::string, HostTensor> numbers_of(const std::map<std::string, Tensor>& tensors);

/// The program's values on these inputs.
/// \throws SpecViolation naming an input that has no numbers, or others than the program takes
[[nodiscard]] spec::Request request_of(const Imported& imported, const std::map<std::string, HostTensor>& inputs, const std::string& id);

}  // namespace etalon::conformance::onnx
