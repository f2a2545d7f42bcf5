#include "conformance/interchange/onnx/expect_calls.hpp"

#include <cctype>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include "conformance/values.hpp"

namespace etalon::conformance::onnx {
namespace {

/// NumPy's name of the element type.
[[nodiscard]] std::string_view numpy_name(DType dtype) {
  switch (dtype) {
    case DType::f16: return "float16";
    case DType::f64: return "float64";
    case DType::i32: return "int32";
    case DType::i64: return "int64";
    case DType::boolean: return "bool_";
    default: return "float32";
  }
}

/// The element with as many digits as tell it from every other double, so that none is rounded twice.
[[nodiscard]] std::string element_text(const HostTensor& tensor, std::size_t i) {
  if (tensor.dtype == DType::boolean) return tensor.bytes[i] != std::byte{0} ? "True" : "False";
  if (tensor.dtype == DType::i64) return fmt::format("{}", tensor.view<std::int64_t>()[i]);
  if (tensor.dtype == DType::i32) return fmt::format("{}", tensor.view<std::int32_t>()[i]);
  const double value = element(tensor, i);
  if (std::isnan(value)) return "np.nan";
  if (std::isinf(value)) return value > 0 ? "np.inf" : "-np.inf";
  return fmt::format("{:#}", value);  // with a point: -0 alone would be an integer without a sign
}

[[nodiscard]] std::string array_text(const HostTensor& tensor) {
  std::string elements, extents;
  const auto count = static_cast<std::size_t>(tensor.dims.count());
  for (std::size_t i = 0; i < count; ++i) elements += (i == 0 ? "" : ", ") + element_text(tensor, i);
  for (const std::int64_t extent : tensor.dims) extents += fmt::format("{}, ", extent);
  return fmt::format("np.array([{}], dtype=np.{}).reshape(({}))", elements, numpy_name(tensor.dtype), extents);
}

/// `, axis=1`, where the attribute's kind is one that Python writes so.
[[nodiscard]] std::string attribute_text(const std::string& name, const AttributeValue& value) {
  return std::visit(
      [&](const auto& given) -> std::string {
        using T = std::decay_t<decltype(given)>;
        if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>) return fmt::format(", {}={}", name, given);
        else if constexpr (std::is_same_v<T, std::string>) return fmt::format(", {}=\"{}\"", name, given);
        else if constexpr (std::is_same_v<T, std::vector<double>> || std::is_same_v<T, std::vector<std::int64_t>>)
          return fmt::format(", {}=[{}]", name, fmt::join(given, ", "));
        else return "";  // no attribute of a row that is exported
      },
      value);
}

[[nodiscard]] std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
  return text;
}

[[nodiscard]] std::string call_text(const NodeTest& test) {
  const Node& node = test.model.nodes.front();
  std::string attributes, inputs;
  for (const auto& [name, value] : node.attributes) attributes += attribute_text(name, value);
  for (const HostTensor& input : test.inputs) inputs += (inputs.empty() ? "" : ", ") + array_text(input);
  return fmt::format(
      "        expect(onnx.helper.make_node(\"{}\", inputs=[{}], outputs=[{}]{}),\n"
      "               inputs=[{}],\n               outputs=[{}],\n               name=\"test_{}\",\n"
      "               opset_imports=[onnx.helper.make_opsetid(\"\", {})])\n",
      node.operation, names_text(node.inputs), names_text(node.outputs), attributes, inputs, array_text(test.outputs.front()), test.name,
      test.model.opset);
}

[[nodiscard]] std::string begin_of_file(const std::string& operation) {
  return fmt::format(
      "# Expected numbers are the correctly rounded ones; all that the contract admits is within the tolerance.\n"
      "import numpy as np\n\nimport onnx\nfrom onnx.backend.test.case.base import Base\n"
      "from onnx.backend.test.case.node import expect\n\n\n"
      "class Etalon{}(Base):\n    @staticmethod\n    def export() -> None:\n",
      operation);
}

/// Whether all that the test's own tolerance admits is within the generator's.
[[nodiscard]] bool is_covered(const NodeTest& test) {
  return test.tolerance && test.tolerance->absolute <= expect_tolerance.absolute && test.tolerance->relative <= expect_tolerance.relative;
}

}  // namespace

ExpectFiles expect_files(const NodeTests& tests) {
  ExpectFiles files;
  for (const NodeTest& test : tests.tests) {
    if (!is_covered(test)) {
      ++files.left_out;
      continue;
    }
    const std::string& operation = test.model.nodes.front().operation;
    std::string name = operation + ".py";
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto [at, fresh] = files.texts.try_emplace(name);
    if (fresh) at->second = begin_of_file(operation);
    at->second += call_text(test);
    ++files.calls;
  }
  return files;
}

}  // namespace etalon::conformance::onnx
