/// \file
/// How well each class is told from the others, from counts alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/plot/chart.hpp"

namespace etalon::training {

/// Counts of labels and what was answered, one each per row.
[[nodiscard]] ConfusionMatrix confusion_of(std::string title, std::int64_t classes, const std::vector<std::int64_t>& labels,
                                           const std::vector<std::int64_t>& answers);

/// The share of rows that are answered right; of none, 0.
[[nodiscard]] double accuracy_of(const ConfusionMatrix& matrix);

/// Of one class: its rows, precision (of the rows answered so, those that are), recall (of its rows, those answered so)
/// and F1, their harmonic mean; `-` where there are none to divide by.
struct ClassRow {
  std::string name;  ///< on one line
  std::int64_t rows = 0;
  std::string precision, recall, f1;
};

/// \param names of the classes
[[nodiscard]] std::vector<ClassRow> class_rows(const ConfusionMatrix& matrix, const std::vector<std::string>& names);

/// The same as lines, and a heading. \param names of the classes
[[nodiscard]] std::string class_table(const ConfusionMatrix& matrix, const std::vector<std::string>& names);

}  // namespace etalon::training
