#include "conformance/interchange/onnx/rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace etalon::conformance::onnx {
namespace {

/// Parts of the names of operators that are not offered as a kind.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kinds{{{"Quantize", "quantised types are not offered"},
                                                                              {"QLinear", "quantised types are not offered"},
                                                                              {"Integer", "quantised types are not offered"},
                                                                              {"If", "control flow is not offered"},
                                                                              {"Loop", "control flow is not offered"},
                                                                              {"Scan", "control flow is not offered"},
                                                                              {"Sequence", "sequences are not offered"},
                                                                              {"Optional", "optional values are not offered"},
                                                                              {"String", "strings are not offered"},
                                                                              {"Random", "ONNX does not say which numbers are drawn"},
                                                                              {"NonZero", "shapes that depend on data are not offered"},
                                                                              {"Unique", "shapes that depend on data are not offered"}}};

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
  for (const auto& [part, why] : kinds) {
    // `If` is a whole name.
    if (part.size() < 3 ? operation == part : operation.find(part) != std::string_view::npos) return why;
  }
  return "it has no counterpart in the library";
}

const Row* exported_row(std::string_view meaning) {
  for (const auto& rows : families()) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.is_exported && row.meaning == meaning; });
    if (at != rows.end()) return &*at;
  }
  return nullptr;
}

}  // namespace etalon::conformance::onnx
