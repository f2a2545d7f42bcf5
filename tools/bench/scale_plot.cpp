#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/pages.hpp"
#include "tools/bench/statistics.hpp"

namespace etalon::bench {
namespace {

using Points = std::vector<std::pair<double, double>>;

struct Series {
  std::string name;
  Points points;
};

/// One plot: several series on the same axes.
struct Panel {
  std::string title;
  std::vector<Series> series;
};

constexpr double width = 760, panel_width = 240, panel_height = 200, left = 44, top = 40, bottom = 30, gap = 10;

/// Powers of ten that hold every value.
struct Axis {
  int low = 0, high = 1;
  [[nodiscard]] double at(double value) const { return (std::log10(value) - low) / (high - low); }
};

Axis axis_over(const Panel& panel, const auto& value) {
  double least = 1e300, most = 1e-300;
  for (const Series& s : panel.series) {
    for (const auto& p : s.points) {
      least = std::min(least, value(p));
      most = std::max(most, value(p));
    }
  }
  Axis axis{static_cast<int>(std::floor(std::log10(least))), static_cast<int>(std::ceil(std::log10(most)))};
  axis.high = std::max(axis.high, axis.low + 1);
  return axis;
}

std::string text(double x, double y, const char* anchor, const char* style, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y, anchor, style, words);
}

void write_panel(std::ostream& out, const Panel& panel, double x0) {
  const Axis across = axis_over(panel, [](const auto& p) { return p.first; });
  const Axis up = axis_over(panel, [](const auto& p) { return p.second; });
  const double from = x0 + left, length = panel_width - left - gap;
  const auto x = [&](double value) { return from + across.at(value) * length; };
  const auto y = [&](double value) { return top + (1 - up.at(value)) * panel_height; };
  out << text(x0 + 4, 16, "start", "label", panel.title);
  for (int power = across.low; power <= across.high; ++power) {
    const double value = std::pow(10.0, power);
    out << fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" class=\"grid\"/>\n", x(value), top, top + panel_height);
    out << text(x(value), top + panel_height + 14, "middle", "note", fmt::format("{:g}", value));
  }
  for (int power = up.low; power <= up.high; ++power) {
    const double value = std::pow(10.0, power);
    out << fmt::format("<line x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" class=\"grid\"/>\n", y(value), from, from + length);
    out << text(from - 4, y(value) + 3, "end", "note", fmt::format("{:g}", value));
  }
  for (std::size_t s = 0; s < panel.series.size(); ++s) {
    const Series& series = panel.series[s];
    std::string path;
    for (const auto& [size, value] : series.points) {
      path += fmt::format("{:.1f},{:.1f} ", x(size), y(value));
      out << fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" class=\"dot{}\"/>\n", x(size), y(value), s);
    }
    out << fmt::format("<polyline points=\"{}\" class=\"line{}\"/>\n", path, s);
    out << fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"8\" height=\"8\" class=\"dot{}\"/>\n", x0 + 4 + static_cast<double>(s) * 76, 22, s);
    out << text(x0 + 15 + static_cast<double>(s) * 76, 30, "start", "note", series.name);
  }
}

constexpr const char* style =
    "<style>.label{fill:#1f2328}.note{fill:#59636e;font-size:9px}.grid{stroke:#d1d9e0}polyline{fill:none;stroke-width:1.5}"
    ".dot0{fill:#2f7ed8}.line0{stroke:#2f7ed8}.dot1{fill:#d1603d}.line1{stroke:#d1603d}.dot2{fill:#4b9b4b}.line2{stroke:#4b9b4b}"
    "@media(prefers-color-scheme:dark){.label{fill:#e6edf3}.note{fill:#9198a1}.grid{stroke:#3d444d}}</style>\n";

void add(Panel& panel, const std::string& name, double size, double value) {
  if (panel.series.empty() || panel.series.back().name != name) panel.series.push_back({name, {}});
  panel.series.back().points.emplace_back(size, value);
}

}  // namespace

void write_scale_plot(std::ostream& out, const Run& run) {
  Panel time{"first results, s, against calls", {}}, memory{"peak memory, MiB, against calls", {}}, steps{"steps/s against size", {}};
  for (const Cell& cell : run.cells) {
    if (cell.measurements.empty() || cell.measurements[0].seconds.empty() || cell.size <= 0) continue;
    const Measurement& m = cell.measurements[0];
    const double seconds = summary_of(m.seconds).median;
    if (cell.is_first_call) {
      add(time, cell.group, cell.size, seconds);
      if (m.peak_bytes > 0) add(memory, cell.group, cell.size, static_cast<double>(m.peak_bytes) / 1048576);
    } else if (cell.threads == 1) {
      add(steps, cell.group, cell.size, 1 / seconds);
    }
  }
  out << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<title>Time, memory and steps a second against size</title>\n{}",
      width, top + panel_height + bottom, style);
  double x0 = 0;
  for (const Panel* panel : {&time, &memory, &steps}) {
    if (panel->series.empty()) continue;
    write_panel(out, *panel, x0);
    x0 += panel_width + gap;
  }
  out << "</svg>\n";
}

}  // namespace etalon::bench
