#include <limits>
#include <optional>
#include <span>

#include "conformance/interchange/onnx/import.hpp"
#include "conformance/interchange/onnx/write_model.hpp"
#include "tests/fuzz/readers.hpp"

namespace etalon::fuzz {
namespace {

using namespace conformance::onnx;

[[nodiscard]] Model read(std::string_view text) { return read_model(std::as_bytes(std::span(text)), "fuzzed"); }

[[nodiscard]] ValueInfo declared(const std::string& name, std::vector<std::variant<std::int64_t, std::string>> extents) {
  return {name, type_of(DType::f32), std::move(extents)};
}

[[nodiscard]] HostTensor integers(const std::vector<std::int64_t>& numbers) {
  return HostTensor::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers);
}

/// One node on x, which has three axes, and on what else it takes.
[[nodiscard]] std::string model_of(const char* operation, std::map<std::string, AttributeValue> attributes,
                                   std::map<std::string, Tensor> others, std::int64_t opset = 17) {
  Node node{"n", operation, "", {"x"}, {"y"}, std::move(attributes)};
  for (const auto& [name, tensor] : others) node.inputs.push_back(name);
  return model_bytes(
      {opset, {node}, std::move(others), {declared("x", {std::int64_t{2}, std::int64_t{3}, std::int64_t{4}})}, {declared("y", {})}});
}

}  // namespace

void read_onnx(std::string_view text) {
  std::optional<Model> model;
  if (!accepted([&] { model = read(text); })) return;
  const std::string written = model_bytes(*model);
  std::optional<Model> again;
  if (!accepted([&] { again = read(written); })) broken("a model that is written can be read", written);
  if (model_bytes(*again) != written) broken("a model is the same after it was written", written);
  ImportOptions options;
  options.dims = {{"N", 2}};
  const Imported imported = import_model(*model, options);
  for (const std::string& line : imported.refused) check_message(line);
  if (!imported.refused.empty()) return;
  const std::string program = to_text(imported.program);
  if (!accepted([&] {
        if (to_text(spec::parse_program(program)) != program) broken("an imported program is the same after its text", program);
      }))
    broken("an imported program can be read", program);
}

std::vector<std::string> onnx_seeds() {
  const Tensor weights = HostTensor::of<float>({2, 3, 3}, std::vector<float>(18, 0.5F));
  std::vector<std::string> seeds{
      model_of("Relu", {}, {}),
      model_of("Softmax", {{"axis", std::int64_t{1}}}, {}, 11),
      model_of("Conv", {{"pads", std::vector<std::int64_t>{1, 0}}, {"auto_pad", std::string("NOTSET")}}, {{"w", weights}}),
      model_of("MaxPool", {{"kernel_shape", std::vector<std::int64_t>{2}}, {"auto_pad", std::string("SAME_UPPER")}}, {}),
      model_of("Slice", {}, {{"a", integers({-1})}, {"b", integers({-9})}, {"c", integers({2})}, {"d", integers({-2})}}),
      model_of("Pad", {{"mode", std::string("reflect")}}, {{"p", integers({0, 0, 2, 0, 0, 1})}}),
      model_of("Reshape", {}, {{"s", integers({0, -1})}}),
      model_of("Gather", {{"axis", std::int64_t{2}}}, {{"i", integers({-1, 0})}}),
      model_of("Einsum", {{"equation", std::string("abc->cb")}}, {}),
      model_of("ReduceL2", {{"axes", std::vector<std::int64_t>{-1}}, {"keepdims", std::int64_t{0}}}, {}),
      model_of("Resize", {{"mode", std::string("nearest")}},
               {{"r", HostTensor(DType::f32, {0})}, {"s", HostTensor::of<float>({3}, {1, 1, 2})}})};
  // Operands that are left out where a product reads them, and an axis that is no integer.
  for (const char* other : {"x", "i"}) {
    Model absent{17, {{"", "Einsum", "", {"", other}, {"y"}, {{"equation", std::string("i,i->i")}}}}, {}, {}, {declared("y", {})}};
    absent.initializers = {{"i", integers({1, 2})}};
    absent.inputs = {declared("x", {std::int64_t{2}})};
    seeds.push_back(model_bytes(absent));
  }
  seeds.push_back(model_of("CumSum", {}, {{"a", HostTensor::of<float>({}, {std::numeric_limits<float>::quiet_NaN()})}}));
  // A shape that is computed, and an extent that is open.
  Model chain{
      13, {}, {{"i", integers({0})}, {"m", integers({-1})}}, {declared("x", {std::string("N"), std::int64_t{6}})}, {declared("y", {})}};
  chain.nodes = {{"", "Shape", "", {"x"}, {"s"}, {}}, {"", "Gather", "", {"s", "i"}, {"n"}, {}},
                 {"", "Concat", "", {"n", "m"}, {"t"}, {{"axis", std::int64_t{0}}}}, {"", "Reshape", "", {"x", "t"}, {"y"}, {}}};
  seeds.push_back(model_bytes(chain));
  return seeds;
}

}  // namespace etalon::fuzz
