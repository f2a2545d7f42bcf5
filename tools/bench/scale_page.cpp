#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "tools/bench/pages.hpp"
#include "tools/bench/quantity_text.hpp"
#include "tools/bench/statistics.hpp"

namespace etalon::bench {
namespace {

/// What one cell says: its size with time and memory. Cells without a time are left out.
struct Point {
  double size;
  double seconds;
  const Cell* cell;
  const Measurement* measurement;
};

std::vector<Point> points_of(const Run& run, const std::string& group) {
  std::vector<Point> points;
  for (const Cell& cell : run.cells) {
    if (cell.group != group || cell.measurements.empty() || cell.measurements[0].seconds.empty()) continue;
    points.push_back({cell.size, summary_of(cell.measurements[0].seconds).median, &cell, &cell.measurements[0]});
  }
  return points;
}

std::vector<std::string> groups_of(const Run& run) {
  std::vector<std::string> groups;
  for (const Cell& cell : run.cells) {
    if (std::find(groups.begin(), groups.end(), cell.group) == groups.end()) groups.push_back(cell.group);
  }
  return groups;
}

/// How often a quantity has grown for how often the size has: 1 where it grows like the size.
std::string growth(double now, double before, const Point& p, const Point& last) {
  return ratio_text(now / before / (p.size / last.size));
}

void write_calls(std::ostream& out, const std::vector<Point>& points) {
  out << "| calls | first results | per call | growth | peak memory above | per call | growth |\n|---|---|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& p = points[i];
    const auto bytes = static_cast<double>(p.measurement->peak_bytes);
    std::string time_growth, memory_growth;
    if (i > 0) {
      time_growth = growth(p.seconds, points[i - 1].seconds, p, points[i - 1]);
      memory_growth = growth(bytes, static_cast<double>(points[i - 1].measurement->peak_bytes), p, points[i - 1]);
    }
    out << fmt::format("| {:.0f} | {} | {} | {} | {} | {:.0f} KiB | {} |\n", p.size, time_text(p.seconds), time_text(p.seconds / p.size), time_growth,
                       memory_text(p.measurement->peak_bytes), bytes / p.size / 1024, memory_growth);
  }
}

void write_steps(std::ostream& out, const std::string& what, const std::vector<Point>& points) {
  out << fmt::format("| {} | threads | step | steps/s | GFLOP/s | first results |\n|---|---|---|---|---|---|\n", what);
  for (const Point& p : points) {
    out << fmt::format("| {:.0f} | {} | {} | {:.0f} | {:.1f} | {} |\n", p.size, p.cell->threads, time_text(p.seconds), 1 / p.seconds,
                       p.cell->flops / p.seconds * 1e-9, time_text(p.measurement->first_seconds));
  }
}

}  // namespace

bool is_scale(const Run& run) {
  return std::any_of(run.cells.begin(), run.cells.end(), [](const Cell& cell) { return cell.size > 0; });
}

void write_scale(std::ostream& out, const Run& run) {
  for (const std::string& group : groups_of(run)) {
    const std::vector<Point> points = points_of(run, group);
    if (points.empty()) continue;
    const bool compiles = points.front().cell->is_first_call;
    out << fmt::format("\n### Scale: {}\n\n", group);
    if (compiles)
      out << "A fresh process, from the program to its first results, compilation included. Growth is that of the quantity over that of the calls, against "
             "the row above: 1 where it grows like the program, 10 from row to row where it grows like its square.\n\n";
    compiles ? write_calls(out, points) : write_steps(out, group, points);
    out << fmt::format("\n`{}`: {}\n", points.back().cell->workload, points.back().cell->what);
  }
}

}  // namespace etalon::bench
