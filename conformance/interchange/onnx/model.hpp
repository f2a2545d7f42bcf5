/// \file
/// A model of ONNX as data: what its file says, read and not yet understood. It knows no operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spec/host_tensor.hpp"

namespace etalon::conformance::onnx {

/// A tensor's numbers; or why there are none, as in `tensors of int8 are not offered`.
using Tensor = std::variant<HostTensor, std::string>;

/// An attribute's value. Of the kinds that are not offered (graphs, sequences, strings in lists) only the reason is kept.
struct NotOffered {
  std::string why;
  std::string holds{};  ///< of a graph: `2 nodes from "act" (Relu) on`
};
using AttributeValue = std::variant<NotOffered, double, std::int64_t, std::string, Tensor, std::vector<double>, std::vector<std::int64_t>>;

struct Node {
  std::string name;
  std::string operation;
  std::string domain;
  std::vector<std::string> inputs;   ///< an empty name is an input that is left out
  std::vector<std::string> outputs;
  std::map<std::string, AttributeValue> attributes;
};

/// An input's or output's declaration.
struct ValueInfo {
  std::string name;
  std::int64_t type = 0;  ///< ONNX's number of the element type; 0 where it is no tensor or not said
  /// An extent is a number, a name for one, or (an empty name) nothing; nothing at all where the rank is not said.
  std::optional<std::vector<std::variant<std::int64_t, std::string>>> extents;
};

struct Model {
  std::int64_t opset = 0;  ///< version of the operators that are ONNX's own; 0 where it is not said
  std::vector<Node> nodes;
  std::map<std::string, Tensor> initializers;
  std::vector<ValueInfo> inputs;  ///< without those that are initializers
  std::vector<ValueInfo> outputs;
};

/// The element type of that number, or nothing where the library has none.
[[nodiscard]] std::optional<DType> dtype_of(std::int64_t type);

/// `int8` for 3: ONNX's own name of the type.
[[nodiscard]] std::string type_name(std::int64_t type);

/// The model in a file's bytes (ModelProto).
/// \param where the file's name in messages
/// \param folder where the file lies, and other files with numbers of its tensors; without it those are not offered
/// \throws IoError `where: …` for bytes that are no model: malformed messages, texts that are not UTF-8, tensors whose data
/// do not fit their extents, no graph, values that are made twice; numbers outside of the folder
[[nodiscard]] Model read_model(std::span<const std::byte> file, std::string_view where,
                               const std::optional<std::filesystem::path>& folder = {});

/// One tensor and its name (TensorProto), as the files of ONNX's own tests hold them. \throws IoError
[[nodiscard]] std::pair<std::string, Tensor> read_tensor(std::span<const std::byte> message, std::string_view where,
                                                         const std::optional<std::filesystem::path>& folder = {});

}  // namespace etalon::conformance::onnx
