#include "conformance/interchange/onnx/fold.hpp"

#include <algorithm>
#include <variant>

#include "reference/backend.hpp"
#include "spec/error.hpp"

namespace etalon::conformance::onnx {
namespace {

/// More elements than shapes and axes have are left to the program.
constexpr std::int64_t most_elements = 4096;

[[nodiscard]] bool is_small_integer(const Value& value) {
  return kind_of(value->type.dtype) != Kind::real && value->type.dims.count() <= most_elements;
}

/// The program's outputs, or nothing where the reference gives none.
[[nodiscard]] std::optional<std::vector<HostTensor>> computed(const spec::Program& program) {
  spec::Request request;
  request.program = program;
  for (const spec::Input& input : program.inputs) request.inputs.push_back(*input.value);
  spec::Answer answer = reference::make_reference_backend()->run(request);
  auto* numbers = std::get_if<spec::Numbers>(&answer);
  if (numbers == nullptr) return std::nullopt;
  return std::move(numbers->outputs);
}

}  // namespace

std::optional<Values> folded(const Row& row, const Node& node, std::int64_t opset, const Values& operands) {
  const auto folds = [](const Value& value) { return value == nullptr || (value->folds && is_small_integer(value)); };
  if (operands.empty() || !std::all_of(operands.begin(), operands.end(), folds)) return std::nullopt;
  Values own;
  for (const Value& value : operands) own.push_back(value == nullptr ? nullptr : known_value(*value->known));
  Writer writer("");
  NodeTranslation translation(node, opset, row.meaning, std::move(own), writer);
  Values results = row.translate(translation);
  if (translation.unread() || !std::all_of(results.begin(), results.end(), is_small_integer)) return std::nullopt;
  for (std::size_t i = 0; i < results.size(); ++i) writer.output(results[i], "y" + std::to_string(i));
  const auto numbers = computed(writer.finish());
  if (!numbers) return std::nullopt;
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = known_value((*numbers)[i]);
  return results;
}

}  // namespace etalon::conformance::onnx
