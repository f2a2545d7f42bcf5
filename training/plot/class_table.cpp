#include "training/plot/class_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "spec/quoted.hpp"

namespace etalon::training {

namespace {

[[nodiscard]] std::int64_t count_at(const ConfusionMatrix& matrix, std::int64_t truth, std::int64_t answer) {
  return matrix.counts[static_cast<std::size_t>(truth * matrix.classes + answer)];
}

[[nodiscard]] std::string share(std::int64_t part, std::int64_t all) {
  return all == 0 ? "-" : fmt::format("{:.4f}", static_cast<double>(part) / static_cast<double>(all));
}

}  // namespace

ConfusionMatrix confusion_of(std::string title, std::int64_t classes, const std::vector<std::int64_t>& labels,
                             const std::vector<std::int64_t>& answers) {
  ConfusionMatrix matrix{std::move(title), classes, {}};
  matrix.counts.resize(static_cast<std::size_t>(classes * classes));
  for (std::size_t row = 0; row < answers.size(); ++row) ++matrix.counts[static_cast<std::size_t>(labels[row] * classes + answers[row])];
  return matrix;
}

double accuracy_of(const ConfusionMatrix& matrix) {
  std::int64_t right = 0, rows = 0;
  for (const std::int64_t count : matrix.counts) rows += count;
  for (std::int64_t c = 0; c < matrix.classes; ++c) right += count_at(matrix, c, c);
  return rows == 0 ? 0 : static_cast<double>(right) / static_cast<double>(rows);
}

std::vector<ClassRow> class_rows(const ConfusionMatrix& matrix, const std::vector<std::string>& names) {
  std::vector<ClassRow> all;
  for (std::int64_t c = 0; c < matrix.classes; ++c) {
    std::int64_t rows = 0, answered = 0;
    for (std::int64_t other = 0; other < matrix.classes; ++other) {
      rows += count_at(matrix, c, other);
      answered += count_at(matrix, other, c);
    }
    const std::int64_t right = count_at(matrix, c, c);
    all.push_back({as_quoted(names[static_cast<std::size_t>(c)]), rows, share(right, answered), share(right, rows),
                   share(2 * right, rows + answered)});
  }
  return all;
}

std::string class_table(const ConfusionMatrix& matrix, const std::vector<std::string>& names) {
  const std::vector<ClassRow> rows = class_rows(matrix, names);
  std::size_t width = 5;
  for (const ClassRow& row : rows) width = std::max(width, row.name.size());
  std::string text = fmt::format("{:<{}} {:>8} {:>9} {:>8} {:>8}\n", "class", width, "rows", "precision", "recall", "F1");
  for (const ClassRow& row : rows)
    text += fmt::format("{:<{}} {:>8} {:>9} {:>8} {:>8}\n", row.name, width, row.rows, row.precision, row.recall, row.f1);
  return text;
}

}  // namespace etalon::training
