#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "training/plot/chart.hpp"
#include "training/plot/scale.hpp"

namespace etalon::training {

namespace {

constexpr std::size_t labels = 12;  // to the left of a curve
constexpr std::size_t plot_rows = 16;

/// Mean of the finite values that fall into one column, or NaN.
double column_mean(const std::vector<double>& values, std::size_t column, std::size_t plot_columns) {
  const std::size_t first = column * values.size() / plot_columns;
  const std::size_t last = std::max(first + 1, (column + 1) * values.size() / plot_columns);
  double sum = 0;
  int count = 0;
  for (std::size_t i = first; i < last && i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    sum += values[i];
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / count;
}

}  // namespace

std::string as_text(const Curve& curve, std::size_t columns) {
  const std::size_t plot_columns = std::clamp<std::size_t>(columns, labels + 12, labels + 72) - labels;
  std::vector<double> means;
  for (std::size_t c = 0; c < plot_columns; ++c) means.push_back(column_mean(curve.values, c, plot_columns));
  const Range range = range_of(means);
  std::vector<std::string> canvas(plot_rows, std::string(plot_columns, ' '));
  for (std::size_t c = 0; c < plot_columns; ++c) {
    if (!std::isfinite(means[c])) continue;
    const double height = (means[c] - range.low) / (range.high - range.low) * (plot_rows - 1);
    canvas[plot_rows - 1 - static_cast<std::size_t>(std::lround(height))][c] = '*';
  }
  std::string text = fmt::format("{}\n", curve.title);
  for (std::size_t r = 0; r < plot_rows; ++r) {
    const bool labelled = r == 0 || r + 1 == plot_rows || r == plot_rows / 2;
    const double value = range.high - (range.high - range.low) * static_cast<double>(r) / (plot_rows - 1);
    text += fmt::format("{:>10} |{}\n", labelled ? fmt::format("{:.4g}", value) : "", canvas[r]);
  }
  text += fmt::format("{:>10} +{}\n", curve.y_label, std::string(plot_columns, '-'));
  const std::string last = fmt::format("{}", curve.values.empty() ? 0 : curve.values.size() - 1);
  return text + fmt::format("{:>12}{:^{}}{}\n", "0", curve.x_label, plot_columns - last.size(), last);
}

std::string as_text(const DecisionMap& map, std::size_t columns) {
  const auto shown = std::clamp<std::int64_t>(static_cast<std::int64_t>(columns) - 2, std::min<std::int64_t>(map.columns, 12), map.columns);
  std::vector<std::string> canvas;
  for (std::int64_t r = 0; r < map.rows; ++r) {
    std::string line;
    for (std::int64_t c = 0; c < shown; ++c) {
      line += map.values[static_cast<std::size_t>(r * map.columns + c * map.columns / shown)] >= 0 ? '*' : '.';
    }
    canvas.push_back(line);
  }
  for (std::size_t i = 0; i < map.points.size(); ++i) {
    const auto cell = [](double value, const std::array<double, 2>& range, std::int64_t cells) {
      const double at = (value - range[0]) / (range[1] - range[0]) * static_cast<double>(cells);
      return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(cells - 1)));
    };
    const std::size_t column = cell(map.points[i][0], map.x_range, shown);
    const std::size_t row = static_cast<std::size_t>(map.rows) - 1 - cell(map.points[i][1], map.y_range, map.rows);
    canvas[row][column] = map.labels[i] == 0 ? '#' : '%';
  }
  std::string text = fmt::format("{}: points # and %, sign * and .\n", map.title);
  for (const std::string& line : canvas) text += "  " + line + "\n";
  return text;
}

std::string as_text(const ConfusionMatrix& matrix) {
  std::string text = fmt::format("{}\n truth\\answer", matrix.title);
  for (std::int64_t c = 0; c < matrix.classes; ++c) text += fmt::format("{:>5}", c);
  for (std::int64_t r = 0; r < matrix.classes; ++r) {
    text += fmt::format("\n{:>13}", r);
    for (std::int64_t c = 0; c < matrix.classes; ++c) {
      const std::int64_t n = matrix.counts[static_cast<std::size_t>(r * matrix.classes + c)];
      text += n == 0 ? "    ." : fmt::format("{:>5}", n);
    }
  }
  return text + "\n";
}

}  // namespace etalon::training
