/// \file
/// What the instructions of StableHLO mean, one row each: the only table of them, for what is imported.
#pragma once

#include <span>
#include <string_view>

#include "conformance/interchange/stablehlo/translation.hpp"

namespace etalon::conformance::stablehlo {

struct Row {
  std::string_view instruction;  ///< without its dialect; of `chlo` with it
  Values (*translate)(Translation& t);
  std::string_view meaning{};    ///< the library's name that the row's function calls, of numbers
  std::string_view of_truths{};  ///< that of truth values; where it is empty they are refused
};

/// The tables, by family.
[[nodiscard]] std::span<const Row> elementwise_rows();
[[nodiscard]] std::span<const Row> shape_rows();
[[nodiscard]] std::span<const Row> contraction_rows();
[[nodiscard]] std::span<const Row> window_rows();
[[nodiscard]] std::span<const Row> indexing_rows();
[[nodiscard]] std::span<const Row> normalisation_rows();

/// The row of an instruction by its full name, or nullptr.
[[nodiscard]] const Row* find_row(std::string_view name);

/// Why an instruction has no row.
[[nodiscard]] std::string_view why_not(std::string_view name);

}  // namespace etalon::conformance::stablehlo
