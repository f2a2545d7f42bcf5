#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <vector>

#include "tools/bench/pages.hpp"
#include "tools/bench/quantity_text.hpp"

namespace etalon::bench {
namespace {

constexpr double width = 760, left = 170, right = 60, bar = 9, gap = 7, top = 66;

/// One workload with its ratios by number of threads.
struct Row {
  std::string workload;
  std::map<unsigned, double> ratios;
};

std::vector<Row> rows_of(const Run& run) {
  std::vector<Row> rows;
  for (const Cell& cell : run.cells) {
    const Standing s = standing_of(cell);
    if (!s.ratio) continue;
    if (rows.empty() || rows.back().workload != cell.workload) rows.push_back({cell.workload, {}});
    rows.back().ratios[cell.threads] = *s.ratio;
  }
  return rows;
}

/// Powers of ten on both sides of 1 that hold every ratio.
struct Scale {
  int low = -1, high = 1;
  [[nodiscard]] double at(double ratio) const {
    return left + (std::log10(ratio) - low) / (high - low) * (width - left - right);
  }
};

Scale scale_of(const std::vector<Row>& rows) {
  Scale scale;
  for (const Row& row : rows) {
    for (const auto& [threads, ratio] : row.ratios) {
      scale.low = std::min(scale.low, static_cast<int>(std::floor(std::log10(ratio))));
      scale.high = std::max(scale.high, static_cast<int>(std::ceil(std::log10(ratio))));
    }
  }
  return scale;
}

std::string text(double x, double y, std::string_view anchor, std::string_view style, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y, anchor, style,
                     words);
}

void write_axis(std::ostream& out, const Scale& scale, double height) {
  for (int power = scale.low; power <= scale.high; ++power) {
    const double x = scale.at(std::pow(10.0, power));
    out << fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" class=\"{3}\"/>\n", x,
                       top - 8, height - 8, power == 0 ? "one" : "grid");
    out << text(x, top - 14, "middle", "note", fmt::format("{:g}", std::pow(10.0, power)));
  }
}

void write_row(std::ostream& out, const Row& row, const Scale& scale, double y) {
  out << text(left - 10, y + 10, "end", "label", row.workload);
  for (const auto& [threads, ratio] : row.ratios) {
    const double from = std::min(scale.at(1), scale.at(ratio)), length = std::abs(scale.at(ratio) - scale.at(1));
    out << fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" class=\"{} {}\"/>\n", from, y,
                       std::max(1.0, length), bar, threads == 1 ? "one-thread" : "threads",
                       ratio < 1 ? "slower" : "faster");
    out << text(scale.at(ratio) + (ratio < 1 ? -4 : 4), y + 8, ratio < 1 ? "end" : "start", "note", ratio_text(ratio));
    y += bar + 2;
  }
}

constexpr std::string_view style =
    "<style>.label{fill:#1f2328}.note{fill:#59636e;font-size:9px}.grid{stroke:#d1d9e0}.one{stroke:#1f2328}"
    ".slower{fill:#d1603d}.faster{fill:#2f7ed8}.threads{opacity:.6}"
    "@media(prefers-color-scheme:dark){.label{fill:#e6edf3}.note{fill:#9198a1}.grid{stroke:#3d444d}.one{stroke:#e6edf3}"
    ".slower{fill:#f0883e}.faster{fill:#58a6ff}}</style>\n";

}  // namespace

void write_plot(std::ostream& out, const Run& run) {
  const std::vector<Row> rows = rows_of(run);
  const Scale scale = scale_of(rows);
  double height = top + 10;
  for (const Row& row : rows) height += static_cast<double>(row.ratios.size()) * (bar + 2) + gap;
  out << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" font-family=\"sans-serif\" "
      "font-size=\"11\">\n<title>Best peer's median over Etalon's, by workload</title>\n",
      width, height);
  out << style;
  out << text(left - 10, 20, "end", "label", "best peer / Etalon");
  out << text(left, 20, "start", "label", "medians; right of 1 Etalon is faster; the paler bar: more threads");
  write_axis(out, scale, height);
  double y = top;
  for (const Row& row : rows) {
    write_row(out, row, scale, y);
    y += static_cast<double>(row.ratios.size()) * (bar + 2) + gap;
  }
  out << "</svg>\n";
}

}  // namespace etalon::bench
