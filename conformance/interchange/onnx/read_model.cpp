#include <bit>
#include <set>

#include <fmt/format.h>

#include "conformance/interchange/onnx/model.hpp"
#include "conformance/interchange/onnx/wire.hpp"
#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance::onnx {
namespace {

/// Numbers of fields are those of onnx.proto. Messages nest as deep as these functions call each other, and no deeper:
/// of graphs inside of attributes only the nodes are counted.
using Bytes = std::span<const std::byte>;
using Folder = std::optional<std::filesystem::path>;

/// AttributeProto.AttributeType.
enum class AttributeKind : std::int64_t {
  unsaid = 0,
  real = 1,
  integer = 2,
  text = 3,
  tensor = 4,
  graph = 5,
  reals = 6,
  integers = 7,
  texts = 8
};

/// An attribute as its message has it.
struct AttributeParts {
  std::string name;
  AttributeKind kind = AttributeKind::unsaid;
  std::optional<double> real;
  std::optional<std::int64_t> integer;
  std::optional<std::string> text;
  std::optional<Tensor> tensor;
  std::optional<Bytes> graph;
  std::vector<std::byte> reals;
  std::vector<std::int64_t> integers;
};

[[nodiscard]] std::vector<double> doubles_of(const std::vector<std::byte>& words) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i + 4 <= words.size(); i += 4) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 4; ++k) bits |= std::to_integer<std::uint32_t>(words[i + k]) << (8 * k);
    numbers.push_back(static_cast<double>(std::bit_cast<float>(bits)));
  }
  return numbers;
}

/// Files of old versions do not say the kind: it is that of what is there.
[[nodiscard]] AttributeKind kind_of(const AttributeParts& parts) {
  if (parts.kind != AttributeKind::unsaid) return parts.kind;
  if (parts.real) return AttributeKind::real;
  if (parts.integer) return AttributeKind::integer;
  if (parts.text) return AttributeKind::text;
  if (parts.tensor) return AttributeKind::tensor;
  if (!parts.reals.empty()) return AttributeKind::reals;
  return AttributeKind::integers;
}

/// What a refusal says of a graph inside of a node: how many nodes it has, and which is the first.
[[nodiscard]] std::string nodes_in(Bytes graph, std::string_view where) {
  std::size_t count = 0;
  std::string name, operation;
  WireReader reader(graph, where);
  for (Field field; reader.next(field);) {
    if (field.number != 1 || ++count > 1) continue;
    WireReader node(field.bytes, where);
    for (Field part; node.next(part);) {
      if (part.number == 3) name = text_of(part, where);
      if (part.number == 4) operation = text_of(part, where);
    }
  }
  if (count == 0) return "no nodes";
  const std::string first = fmt::format("{}({})", name.empty() ? "" : fmt::format("\"{}\" ", as_quoted(name)), as_quoted(operation));
  return count == 1 ? fmt::format("the node {}", first) : fmt::format("{} nodes from {} on", count, first);
}

[[nodiscard]] AttributeValue value_of(AttributeParts& parts, std::string_view where) {
  switch (kind_of(parts)) {
    case AttributeKind::real: return parts.real.value_or(0);  // a zero is not written
    case AttributeKind::integer: return parts.integer.value_or(0);
    case AttributeKind::text: return parts.text.value_or("");
    case AttributeKind::tensor: return parts.tensor ? std::move(*parts.tensor) : Tensor(std::string("it holds no tensor"));
    case AttributeKind::reals: return doubles_of(parts.reals);
    case AttributeKind::integers: return std::move(parts.integers);
    case AttributeKind::graph:
      return NotOffered{"graphs inside of nodes are not offered", parts.graph ? nodes_in(*parts.graph, where) : "no nodes"};
    case AttributeKind::texts: return NotOffered{"lists of strings are not offered"};
    default: return NotOffered{fmt::format("attributes of the kind {} are not offered", static_cast<std::int64_t>(parts.kind))};
  }
}

[[nodiscard]] std::pair<std::string, AttributeValue> read_attribute(Bytes message, std::string_view where, const Folder& folder) {
  AttributeParts parts;
  WireReader reader(message, where);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case 1: parts.name = text_of(field, where); break;
      case 2: parts.real = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(field.integer))); break;
      case 3: parts.integer = static_cast<std::int64_t>(field.integer); break;
      case 4: parts.text = text_of(field, where); break;
      case 5: parts.tensor = read_tensor(field.bytes, where, folder).second; break;
      case 6: parts.graph = field.bytes; break;
      case 7: add_words(field, 4, where, parts.reals); break;
      case 8: add_integers(field, where, parts.integers); break;
      case 20: parts.kind = static_cast<AttributeKind>(field.integer); break;
      default: break;
    }
  }
  AttributeValue value = value_of(parts, where);
  return {std::move(parts.name), std::move(value)};
}

[[nodiscard]] Node read_node(Bytes message, const std::string& where, const Folder& folder) {
  Node node;
  WireReader reader(message, where);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case 1: node.inputs.push_back(text_of(field, where)); break;
      case 2: node.outputs.push_back(text_of(field, where)); break;
      case 3: node.name = text_of(field, where); break;
      case 4: node.operation = text_of(field, where); break;
      case 5: {
        auto [name, value] = read_attribute(field.bytes, where, folder);
        if (!node.attributes.emplace(name, std::move(value)).second)
          throw IoError(fmt::format("{}: a second attribute \"{}\"", where, as_quoted(name)));
        break;
      }
      case 7: node.domain = text_of(field, where); break;
      default: break;
    }
  }
  return node;
}

[[nodiscard]] std::vector<std::variant<std::int64_t, std::string>> read_extents(Bytes message, std::string_view where) {
  std::vector<std::variant<std::int64_t, std::string>> extents;
  WireReader shape(message, where);
  for (Field axis; shape.next(axis);) {
    if (axis.number != 1) continue;
    extents.emplace_back(std::string());
    WireReader reader(axis.bytes, where);
    for (Field field; reader.next(field);) {
      if (field.number == 1) extents.back() = static_cast<std::int64_t>(field.integer);
      if (field.number == 2) extents.back() = text_of(field, where);
    }
  }
  return extents;
}

void read_type(Bytes message, std::string_view where, ValueInfo& info) {
  WireReader type(message, where);
  for (Field kind; type.next(kind);) {
    if (kind.number != 1) continue;  // sequences, maps, optional values
    WireReader reader(kind.bytes, where);
    for (Field field; reader.next(field);) {
      if (field.number == 1) info.type = static_cast<std::int64_t>(field.integer);
      if (field.number == 2) info.extents = read_extents(field.bytes, where);
    }
  }
}

[[nodiscard]] ValueInfo read_value(Bytes message, std::string_view where) {
  ValueInfo info;
  WireReader reader(message, where);
  for (Field field; reader.next(field);) {
    if (field.number == 1) info.name = text_of(field, where);
    if (field.number == 2) read_type(field.bytes, where, info);
  }
  return info;
}

void read_graph(Bytes message, std::string_view where, const Folder& folder, Model& model) {
  std::vector<ValueInfo> inputs;
  WireReader reader(message, where);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case 1: model.nodes.push_back(read_node(field.bytes, fmt::format("{}: node {}", where, model.nodes.size() + 1), folder)); break;
      case 5: {
        auto [name, tensor] = read_tensor(field.bytes, fmt::format("{}: initializer {}", where, model.initializers.size() + 1), folder);
        if (!model.initializers.emplace(name, std::move(tensor)).second)
          throw IoError(fmt::format("{}: a second initializer \"{}\"", where, as_quoted(name)));
        break;
      }
      case 11: inputs.push_back(read_value(field.bytes, where)); break;
      case 12: model.outputs.push_back(read_value(field.bytes, where)); break;
      default: break;
    }
  }
  for (ValueInfo& input : inputs) {
    if (!model.initializers.contains(input.name)) model.inputs.push_back(std::move(input));
  }
}

/// Sets the version of the operators that are ONNX's own.
void read_opset(Bytes message, std::string_view where, Model& model) {
  std::string domain;
  std::int64_t version = 0;
  WireReader reader(message, where);
  for (Field field; reader.next(field);) {
    if (field.number == 1) domain = text_of(field, where);
    if (field.number == 2) version = static_cast<std::int64_t>(field.integer);
  }
  if (domain.empty() || domain == "ai.onnx") model.opset = version;
}

/// Each value is made once.
void check_names(const Model& model, std::string_view where) {
  std::set<std::string_view> made;
  const auto make = [&](const std::string& name) {
    if (!name.empty() && !made.insert(name).second) throw IoError(fmt::format("{}: \"{}\" is made twice", where, as_quoted(name)));
  };
  for (const ValueInfo& input : model.inputs) make(input.name);
  for (const auto& [name, tensor] : model.initializers) make(name);
  for (const Node& node : model.nodes) {
    for (const std::string& name : node.outputs) make(name);
  }
}

}  // namespace

Model read_model(std::span<const std::byte> file, std::string_view where, const std::optional<std::filesystem::path>& folder) {
  Model model;
  bool has_graph = false;
  WireReader reader(file, where);
  for (Field field; reader.next(field);) {
    if (field.number == 7) {
      if (has_graph) throw IoError(fmt::format("{}: expected one graph, found two", where));
      has_graph = true;
      read_graph(field.bytes, where, folder, model);
    }
    if (field.number == 8) read_opset(field.bytes, where, model);
  }
  if (!has_graph) throw IoError(fmt::format("{}: expected a model of ONNX, found no graph in it", where));
  check_names(model, where);
  return model;
}

}  // namespace etalon::conformance::onnx
