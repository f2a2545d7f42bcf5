/// \file
/// In which trees a backend adds: found by masking, for two large opposite terms swallow exactly the terms that are added
/// before the two meet. It knows no backend.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/measure/probe.hpp"

namespace etalon::conformance {

/// What was seen of one way to ask for a sum of so many terms.
struct TreeMeasure {
  std::string layout;
  bool products = false;
  std::int64_t terms = 0;
  std::int64_t height = 0;  ///< additions that some term goes through; 0 when nothing is rounded on the way
  bool is_tree = true;      ///< every node adds two numbers
};

/// Sums of rows of terms, one result per row; nothing when the backend declines. Every call has the same number of rows.
using SumRows = std::function<std::optional<std::vector<double>>(std::span<const double> rows)>;

/// The tree in which `terms` numbers of the type are added. \returns nothing when the backend declines.
[[nodiscard]] std::optional<TreeMeasure> measure_tree(const SumRows& sum, DType dtype, std::int64_t terms, std::size_t rows);

/// Reductions along either axis and contractions, at several lengths up to the longest.
[[nodiscard]] std::vector<TreeMeasure> measure_sums(spec::Backend& backend, const spec::Library& library, DType dtype,
                                                    std::int64_t longest);

/// The tightest declaration that every measure keeps, among blocks short enough to have been met several times; none where
/// nothing better than any order was seen.
[[nodiscard]] spec::SumTree tree_that_holds(std::span<const TreeMeasure> seen, bool products);

}  // namespace etalon::conformance
