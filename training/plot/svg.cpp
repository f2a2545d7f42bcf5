#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "spec/markup.hpp"
#include "training/plot/chart.hpp"
#include "training/plot/scale.hpp"

namespace etalon::training {

namespace {

constexpr double width = 640;
constexpr double height = 400;
constexpr double margin = 60;

std::string label(double x, double y, const std::string& text, const char* anchor = "middle") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, markup(text));
}

std::string page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n{3}{4}</svg>\n",
      width, height, markup(title), label(width / 2, 24, title), body);
}

std::string frame() {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>\n", margin,
                     margin, width - 2 * margin, height - 2 * margin);
}

}  // namespace

Curve logarithm(const Curve& curve) {
  Curve out = curve;
  out.title = "log " + curve.title;
  out.y_label = "log " + curve.y_label;
  for (double& v : out.values) v = v > 0 ? std::log(v) : std::numeric_limits<double>::quiet_NaN();
  return out;
}

std::string as_svg(const Curve& curve) {
  const Range range = range_of(curve.values);
  const double last = std::max<double>(1, static_cast<double>(curve.values.size()) - 1);
  std::string points;
  for (std::size_t i = 0; i < curve.values.size(); ++i) {
    if (!std::isfinite(curve.values[i])) continue;
    const double x = margin + (width - 2 * margin) * static_cast<double>(i) / last;
    const double up = (curve.values[i] - range.low) / (range.high - range.low);
    points += fmt::format("{:.2f},{:.2f} ", x, height - margin - (height - 2 * margin) * up);
  }
  std::string body = frame();
  body += fmt::format("<polyline fill=\"none\" stroke=\"#1f5fa8\" points=\"{}\"/>\n", points);
  body += label(margin - 6, margin + 4, fmt::format("{:.4g}", range.high), "end");
  body += label(margin - 6, height - margin + 4, fmt::format("{:.4g}", range.low), "end");
  body += label(margin, height - margin + 18, "0") + label(width - margin, height - margin + 18, fmt::format("{}", last));
  body += label(width / 2, height - 18, curve.x_label) + label(margin, margin - 10, curve.y_label);
  return page(curve.title, body);
}

std::string as_svg(const DecisionMap& map) {
  const double cell_x = (width - 2 * margin) / static_cast<double>(map.columns);
  const double cell_y = (height - 2 * margin) / static_cast<double>(map.rows);
  std::string body;
  for (std::int64_t r = 0; r < map.rows; ++r) {
    for (std::int64_t c = 0; c < map.columns; ++c) {
      const bool positive = map.values[static_cast<std::size_t>(r * map.columns + c)] >= 0;
      body += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
                          margin + static_cast<double>(c) * cell_x, margin + static_cast<double>(r) * cell_y,
                          cell_x + 0.1, cell_y + 0.1, positive ? "#dbe8f6" : "#f8e3d6");
    }
  }
  for (std::size_t i = 0; i < map.points.size(); ++i) {
    const double x = (map.points[i][0] - map.x_range[0]) / (map.x_range[1] - map.x_range[0]);
    const double y = (map.points[i][1] - map.y_range[0]) / (map.y_range[1] - map.y_range[0]);
    body += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"2\" fill=\"{}\"/>\n", margin + x * (width - 2 * margin),
                        height - margin - y * (height - 2 * margin), map.labels[i] == 0 ? "#1f5fa8" : "#b5521b");
  }
  return page(map.title, body + frame());
}

std::string as_svg(const ConfusionMatrix& matrix) {
  const double cell = (height - 2 * margin) / static_cast<double>(matrix.classes);
  const double left = (width - cell * static_cast<double>(matrix.classes)) / 2;
  const std::int64_t most = std::max<std::int64_t>(1, *std::max_element(matrix.counts.begin(), matrix.counts.end()));
  std::string body;
  for (std::int64_t r = 0; r < matrix.classes; ++r) {
    body += label(left - 10, margin + (static_cast<double>(r) + 0.65) * cell, fmt::format("{}", r));
    body += label(left + (static_cast<double>(r) + 0.5) * cell, margin - 6, fmt::format("{}", r));
    for (std::int64_t c = 0; c < matrix.classes; ++c) {
      const std::int64_t n = matrix.counts[static_cast<std::size_t>(r * matrix.classes + c)];
      const double x = left + static_cast<double>(c) * cell;
      const double y = margin + static_cast<double>(r) * cell;
      body += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"#1f5fa8\" fill-opacity=\"{:.3f}\" "
          "stroke=\"#ccc\"/>\n",
          x, y, cell, cell, static_cast<double>(n) / static_cast<double>(most));
      if (n != 0) body += label(x + cell / 2, y + cell * 0.65, fmt::format("{}", n));
    }
  }
  body += label(width / 2, height - 30, "answer") + label(left - 40, height / 2, "truth");
  return page(matrix.title, body);
}

}  // namespace etalon::training
