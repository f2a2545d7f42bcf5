#include "conformance/interchange/onnx/write_model.hpp"

#include <string_view>

#include "spec/error.hpp"
#include "spec/wire_message.hpp"

namespace etalon::conformance::onnx {
namespace {

/// The version of the file's format; that of operators is the model's.
constexpr std::int64_t format_version = 8;

/// The numbers of fields are those of onnx.proto.
using Message = spec::WireMessage;

[[nodiscard]] Message message_of(const std::string& name, const HostTensor& tensor) {
  Message m;
  for (const std::int64_t extent : tensor.dims) m.number(1, extent);
  m.number(2, type_of(tensor.dtype)).bytes(8, name);
  return m.bytes(9, {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
}

/// The fields of each kind of attribute; field 20 names the kind.
struct AttributeFields {
  Message& m;

  bool operator()(const NotOffered&) const { return false; }
  bool operator()(double value) const { return m.real(2, static_cast<float>(value)).number(20, 1), true; }
  bool operator()(std::int64_t value) const { return m.number(3, value).number(20, 2), true; }
  bool operator()(const std::string& value) const { return m.bytes(4, value).number(20, 3), true; }
  bool operator()(const Tensor& value) const {
    const auto* tensor = std::get_if<HostTensor>(&value);
    if (tensor == nullptr) return false;
    return m.message(5, message_of("", *tensor)).number(20, 4), true;
  }
  bool operator()(const std::vector<double>& values) const {
    for (const double value : values) m.real(7, static_cast<float>(value));
    return m.number(20, 6), true;
  }
  bool operator()(const std::vector<std::int64_t>& values) const {
    for (const std::int64_t value : values) m.number(8, value);
    return m.number(20, 7), true;
  }
};

[[nodiscard]] Message message_of(const Node& node) {
  Message m;
  for (const std::string& name : node.inputs) m.bytes(1, name);
  for (const std::string& name : node.outputs) m.bytes(2, name);
  m.bytes(3, node.name).bytes(4, node.operation);
  for (const auto& [name, value] : node.attributes) {
    Message attribute;
    attribute.bytes(1, name);
    if (std::visit(AttributeFields{attribute}, value)) m.message(5, attribute);
  }
  return m.bytes(7, node.domain);
}

[[nodiscard]] Message message_of(const ValueInfo& info) {
  Message shape, tensor, type, m;
  m.bytes(1, info.name);
  if (info.type == 0) return m;
  tensor.number(1, info.type);
  if (info.extents) {
    for (const auto& extent : *info.extents) {
      Message axis;
      if (const auto* number = std::get_if<std::int64_t>(&extent)) axis.number(1, *number);
      else if (!std::get<std::string>(extent).empty()) axis.bytes(2, std::get<std::string>(extent));
      shape.message(1, axis);
    }
    tensor.message(2, shape);
  }
  return m.message(2, type.message(1, tensor));
}

}  // namespace

std::int64_t type_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return 1;
    case DType::i32: return 6;
    case DType::i64: return 7;
    case DType::boolean: return 9;
    case DType::f16: return 10;
    case DType::f64: return 11;
    case DType::bf16: return 16;
  }
  throw InternalError("an element type that ONNX has not");
}

std::string model_bytes(const Model& model) {
  Message graph, opset, m;
  for (const Node& node : model.nodes) graph.message(1, message_of(node));
  graph.bytes(2, "etalon");
  for (const auto& [name, tensor] : model.initializers) {
    if (const auto* numbers = std::get_if<HostTensor>(&tensor)) graph.message(5, message_of(name, *numbers));
  }
  for (const ValueInfo& info : model.inputs) graph.message(11, message_of(info));
  for (const ValueInfo& info : model.outputs) graph.message(12, message_of(info));
  opset.bytes(1, "").number(2, model.opset);
  return m.number(1, format_version).bytes(2, "etalon").message(7, graph).message(8, opset).text();
}

std::string tensor_bytes(const std::string& name, const HostTensor& tensor) { return message_of(name, tensor).text(); }

}  // namespace etalon::conformance::onnx
