#include "conformance/interchange/onnx/node_tests.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "conformance/interchange/onnx/rows.hpp"
#include "conformance/interchange/onnx/verdict_graph.hpp"
#include "conformance/interchange/onnx/write_model.hpp"
#include "conformance/pack/choice.hpp"
#include "conformance/pack/test.hpp"
#include "conformance/values.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"

namespace etalon::conformance::onnx {
namespace {

/// The value of an attribute of a call as ONNX writes it; nothing for reals that are none of f32, in which ONNX keeps them.
[[nodiscard]] std::optional<AttributeValue> onnx_value(const spec::AttributeValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* truth = std::get_if<bool>(&value)) return std::int64_t{*truth ? 1 : 0};
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    if (list->empty()) return std::nullopt;  // to ONNX no axes are all axes
    return *list;
  }
  const auto* real = std::get_if<double>(&value);
  if (real == nullptr || static_cast<double>(static_cast<float>(*real)) != *real) return std::nullopt;
  return *real;
}

/// The call as a node that makes `y`; nothing where an attribute has no counterpart.
[[nodiscard]] std::optional<Node> node_of(const spec::Call& call, const Row& row) {
  Node node;
  node.operation = row.operation;
  node.outputs = {"y"};
  for (const auto& operand : call.operands) node.inputs.push_back(operand.value_or(""));
  for (const auto& [name, value] : call.attributes) {
    const auto pair = std::find_if(row.attributes.begin(), row.attributes.end(),
                                   [&ours = name](const AttributeName& a) { return a.ours == ours; });
    auto written = onnx_value(value);
    if (pair == row.attributes.end() || !written) return std::nullopt;
    node.attributes.emplace(pair->onnx, std::move(*written));
  }
  return node;
}

[[nodiscard]] ValueInfo declared(const std::string& name, const HostTensor& tensor) {
  ValueInfo info{name, type_of(tensor.dtype), std::vector<std::variant<std::int64_t, std::string>>{}};
  for (const std::int64_t extent : tensor.dims) info.extents->emplace_back(extent);
  return info;
}

/// The model with the call's node on its operands, and nothing yet that is answered.
[[nodiscard]] std::optional<NodeTest> begun(const PackedTest& packed) {
  const auto& program = packed.request.program;
  const auto* call = program.steps.size() == 1 ? std::get_if<spec::Call>(&program.steps[0]) : nullptr;
  if (call == nullptr || !program.definitions.empty() || packed.results.size() != 1) return std::nullopt;
  const Row* row = exported_row(call->operation);
  auto node = row == nullptr ? std::nullopt : node_of(*call, *row);
  if (!node) return std::nullopt;
  NodeTest test;
  test.name = packed.request.id;
  for (char& c : test.name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ? c : '_';
  test.model.opset = row->opset;
  test.model.nodes.push_back(std::move(*node));
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const DType dtype = packed.request.inputs[i].dtype;
    if (dtype == DType::bf16 || (row->of_reals && kind_of(dtype) != Kind::real)) return std::nullopt;
    // What is computed from nothing ONNX does not say of every operator.
    if (packed.request.inputs[i].dims.count() == 0 && packed.results.front().value.dims.count() > 0) return std::nullopt;
    test.model.inputs.push_back(declared(program.inputs[i].name, packed.request.inputs[i]));
    test.inputs.push_back(packed.request.inputs[i]);
  }
  return test;
}

/// The least tolerance around the expected numbers that covers the box; nothing where something else than numbers is admitted.
[[nodiscard]] std::optional<Tolerance> covering(const HostTensor& expected, const Way& way) {
  Tolerance least;
  for (std::size_t i = 0; i < static_cast<std::size_t>(expected.dims.count()); ++i) {
    const double meant = element(expected, i);
    if (way.admits[i] != reference::admits_finite || !std::isfinite(meant)) return std::nullopt;
    const double beyond = std::max(std::abs(element(way.lower, i) - meant), std::abs(element(way.upper, i) - meant));
    if (!std::isfinite(beyond)) return std::nullopt;
    if (meant == 0) least.absolute = std::max(least.absolute, beyond);
    else least.relative = std::max(least.relative, beyond / std::abs(meant));
  }
  // A quotient that was rounded down covers less.
  least.relative = least.relative == 0 ? 0 : std::nextafter(least.relative, std::numeric_limits<double>::infinity());
  return least;
}

[[nodiscard]] std::optional<NodeTest> plain_test(const PackedTest& packed) {
  std::optional<NodeTest> test = begun(packed);
  const PackedResult& result = packed.results.front();
  const auto tolerance = test ? covering(result.value, result.ways.front()) : std::nullopt;
  if (!tolerance || result.ways.size() != 1) return std::nullopt;
  test->tolerance = tolerance;
  test->model.outputs.push_back(declared("y", result.value));
  test->outputs.push_back(result.value);
  return test;
}

[[nodiscard]] std::optional<NodeTest> judged_test(const PackedTest& packed) {
  std::optional<NodeTest> test = begun(packed);
  const PackedResult& result = packed.results.front();
  if (!test) return std::nullopt;
  const VerdictGraph verdict = verdict_graph(result.ways, result.value.dtype);
  for (const auto& [name, tensor] : verdict.inputs) {
    test->model.inputs.push_back(declared(name, tensor));
    test->inputs.push_back(tensor);
  }
  test->model.nodes.insert(test->model.nodes.end(), verdict.nodes.begin(), verdict.nodes.end());
  HostTensor all_true(DType::boolean, verdict.verdict);
  std::fill(all_true.bytes.begin(), all_true.bytes.end(), std::byte{1});
  test->model.outputs.push_back(declared("verdict", all_true));
  test->outputs.push_back(std::move(all_true));
  return test;
}

void write_tensors(const std::filesystem::path& folder, const char* kind, const std::vector<ValueInfo>& declared,
                   const std::vector<HostTensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    write_file(folder / fmt::format("{}_{}.pb", kind, i), tensor_bytes(declared[i].name, tensors[i]));
}

}  // namespace

bool is_exported(std::string_view operation) { return exported_row(operation) != nullptr; }

NodeTests node_tests(const ConformOptions& options, const spec::Contract& contract, TestKind kind) {
  for (const std::string& operation : options.operations) {
    if (!is_exported(operation))
      throw SpecViolation(operation + ": it is no single operator of ONNX, so no test of one node is made of it");
  }
  ConformOptions selected = options;
  selected.modes = {spec::Mode::forward};
  NodeTests made;
  for (const Unit& unit : packed_units(selected)) {
    if (unit.check != Check::value || !is_exported(unit.operation)) continue;
    for (const Case& c : chosen_cases(unit, selected)) {
      for (const PackedTest& packed : tests_of(c, contract, made.left_out)) {
        if (packed.rejected) continue;
        std::optional<NodeTest> test = kind == TestKind::judged ? judged_test(packed) : plain_test(packed);
        if (test) made.tests.push_back(std::move(*test));
        else ++made.left_out;
      }
    }
  }
  return made;
}

void write_node_tests(const std::filesystem::path& folder, const NodeTests& tests) {
  for (const NodeTest& test : tests.tests) {
    const std::filesystem::path model = folder / ("test_" + test.name), data = model / "test_data_set_0";
    make_folder(data);
    write_file(model / "model.onnx", model_bytes(test.model));
    write_tensors(data, "input", test.model.inputs, test.inputs);
    write_tensors(data, "output", test.model.outputs, test.outputs);
    if (!test.tolerance) continue;
    write_file(model / "data.json", fmt::format("{{\"rtol\": {}, \"atol\": {}}}\n", test.tolerance->relative, test.tolerance->absolute));
  }
}

}  // namespace etalon::conformance::onnx
