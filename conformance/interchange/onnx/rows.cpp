#include "conformance/interchange/onnx/rows.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace etalon::conformance::onnx {
namespace {

/// Why operators whose names begin so are not offered.
struct Unoffered {
  std::string_view begin, why;
};

constexpr std::string_view quantised = "quantised types are not offered", control = "control flow is not offered",
                           lists = "sequences are not offered", drawn = "ONNX does not say which numbers are drawn",
                           shaped = "shapes that depend on data are not offered";
constexpr Unoffered unoffered[] = {
    {"Bernoulli", drawn},
    {"Compress", shaped},
    {"ConcatFromSequence", lists},
    {"ConvInteger", quantised},
    {"Dequantize", quantised},
    {"DynamicQuantize", quantised},
    {"If", control},
    {"Loop", control},
    {"MatMulInteger", quantised},
    {"Multinomial", drawn},
    {"NonMaxSuppression", shaped},
    {"NonZero", shaped},
    {"Optional", "optional values are not offered"},
    {"QLinear", quantised},
    {"Quantize", quantised},
    {"Random", drawn},
    {"Scan", control},
    {"Sequence", lists},
    {"SplitToSequence", lists},
    {"String", "strings are not offered"},
    {"Unique", shaped},
};

[[nodiscard]] std::array<std::span<const Row>, 8> families() {
  return {elementwise_rows(), activation_rows(), reduction_rows(), shape_rows(),
          indexing_rows(),    window_rows(),     layer_rows(),     recurrent_rows()};
}

}  // namespace

Values same_operands(NodeTranslation& node) {
  node.read_over({"consumed_inputs"});
  return node.call(node.meaning(), node.all());
}

const Row* find_row(std::string_view operation) {
  for (const auto& rows : families()) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.operation == operation; });
    if (at != rows.end()) return &*at;
  }
  return nullptr;
}

std::string_view why_not(std::string_view operation) {
  const auto begins = [&](const Unoffered& kind) { return operation.starts_with(kind.begin); };
  const auto at = std::find_if(std::begin(unoffered), std::end(unoffered), begins);
  return at == std::end(unoffered) ? "it has no counterpart in the library" : at->why;
}

const Row* exported_row(std::string_view meaning) {
  for (const auto& rows : families()) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.is_exported && row.meaning == meaning; });
    if (at != rows.end()) return &*at;
  }
  return nullptr;
}

}  // namespace etalon::conformance::onnx
