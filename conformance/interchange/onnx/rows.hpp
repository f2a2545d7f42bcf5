/// \file
/// What ONNX's operators mean, one row each: the only table of them, for what is imported and what is exported.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "conformance/interchange/onnx/node_translation.hpp"

namespace etalon::conformance::onnx {

/// An attribute that both know: its name in the library and in ONNX.
struct AttributeName {
  std::string_view ours, onnx;
};

/// An operator: how a node of it becomes calls. Where it is the library's operation `meaning`, operand by operand, with these
/// attributes and no others, a call of that can be exported as one node.
struct Row {
  std::string_view operation;  ///< ONNX's name
  Values (*translate)(NodeTranslation& node);
  std::string_view meaning{};  ///< the library's name that the row's function calls, where it asks for it
  bool is_exported = false;
  std::array<AttributeName, 2> attributes{};
  std::int64_t opset = 17;     ///< in which it is exported
  bool of_reals = false;       ///< ONNX has it of reals alone, and the library of integers too
};

/// The row, exported of reals alone.
[[nodiscard]] constexpr Row of_reals(Row row) {
  row.of_reals = true;
  return row;
}

/// Of a row: its meaning, operand by operand.
[[nodiscard]] Values same_operands(NodeTranslation& node);

/// The tables, by family.
[[nodiscard]] std::span<const Row> elementwise_rows();
[[nodiscard]] std::span<const Row> activation_rows();
[[nodiscard]] std::span<const Row> reduction_rows();
[[nodiscard]] std::span<const Row> shape_rows();
[[nodiscard]] std::span<const Row> indexing_rows();
[[nodiscard]] std::span<const Row> window_rows();
[[nodiscard]] std::span<const Row> layer_rows();
[[nodiscard]] std::span<const Row> recurrent_rows();

/// The row of an operator, or nullptr.
[[nodiscard]] const Row* find_row(std::string_view operation);

/// Why an operator has no row.
[[nodiscard]] std::string_view why_not(std::string_view operation);

/// The row by which a call of the library's operation is exported as one node, or nullptr.
[[nodiscard]] const Row* exported_row(std::string_view meaning);

}  // namespace etalon::conformance::onnx
