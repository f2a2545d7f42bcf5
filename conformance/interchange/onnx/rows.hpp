/// \file
/// What ONNX's operators mean, one row each: the only table of them, for what is imported and what is exported.
#pragma once

#include <span>
#include <string_view>

#include "conformance/interchange/onnx/node_translation.hpp"

namespace etalon::conformance::onnx {

/// An operator: how a node of it becomes calls. Where `meaning` is all that a row knows (the operator is the library's
/// operation of that name, operand by operand), `is_plain` says so, and the operation can be exported by it.
struct Row {
  std::string_view operation;  ///< ONNX's name
  Values (*translate)(NodeTranslation& node);
  std::string_view meaning{};  ///< the library's
  bool is_plain = false;
};

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

/// The row by which a call of the library's operation is one node, or nullptr.
[[nodiscard]] const Row* plain_row_for(std::string_view meaning);

}  // namespace etalon::conformance::onnx
