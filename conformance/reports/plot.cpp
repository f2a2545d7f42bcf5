#include "conformance/reports/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

constexpr std::size_t bars = Distribution::steps + 2;

// Logarithmic, so that one case in a thousand is seen.
double height(std::size_t count, std::size_t most) {
  return count == 0 ? 0 : std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most));
}

// Bars from `first` on as one path with its feet at y = bottom.
std::string bars_path(const Distribution& d, std::size_t first, std::size_t last, double left, double width, double bottom,
                      double tall, const char* name) {
  const std::size_t most = *std::max_element(d.counts.begin(), d.counts.end());
  std::string path;
  for (std::size_t i = first; i < last; ++i) {
    if (d.counts[i] == 0) continue;
    const double h = std::max(1.0, tall * height(d.counts[i], most));
    path += fmt::format("M{:.1f} {:.1f}v-{:.1f}h{:.1f}v{:.1f}z", left + static_cast<double>(i) * width, bottom, h, width - 1, h);
  }
  return path.empty() ? "" : fmt::format("<path class=\"{}\" d=\"{}\"/>", name, path);
}

std::string all_bars(const Distribution& d, double left, double width, double bottom, double tall) {
  return bars_path(d, 0, bars - 1, left, width, bottom, tall, "bar") +
         bars_path(d, bars - 1, bars, left, width, bottom, tall, "bar beyond");
}

Distribution together(const std::map<std::string, Distribution>& modes) {
  Distribution all;
  for (const auto& [mode, d] : modes) {
    for (std::size_t i = 0; i < bars; ++i) all.counts[i] += d.counts[i];
    all.cases += d.cases;
  }
  return all;
}

}  // namespace

void Distribution::add(double ratio) {
  std::size_t bin = steps + 1;
  if (ratio == 0) bin = 0;
  else if (ratio <= 1) bin = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(ratio * static_cast<double>(steps))));
  ++counts[bin];
  ++cases;
}

Distributions distributions_of(const std::vector<Record>& records) {
  Distributions all;
  for (const Record& r : records) {
    const Verdict v = r.waived ? r.waived->verdict : r.outcome.verdict;
    const bool compared = v == Verdict::pass || v == Verdict::fail;
    if (compared && r.outcome.comparisons > r.outcome.undecided) all[r.operation][r.mode].add(r.outcome.worst_ratio);
  }
  return all;
}

std::string small_plot(const std::map<std::string, Distribution>& modes) {
  const Distribution all = together(modes);
  if (all.cases == 0) return "";
  return fmt::format("<svg class=\"small\" viewBox=\"0 0 {} 18\" aria-hidden=\"true\">{}</svg>", bars * 4,
                     all_bars(all, 0, 4, 18, 17));
}

std::string large_plot(const std::string& operation, const std::map<std::string, Distribution>& modes) {
  constexpr double left = 74, width = 11, tall = 40, row = 50;
  const double right = left + width * static_cast<double>(bars);
  const double bottom = row * static_cast<double>(modes.size());
  std::string text = fmt::format(
      "<svg class=\"large\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}: cases by worst error over bound\">",
      right + 4, bottom + 18, markup(operation));
  double y = 0;
  for (const auto& [mode, d] : modes) {
    y += row;
    text += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}</text><text class=\"dim\" x=\"0\" y=\"{:.0f}\">{} cases</text>", y - 22,
                        markup(mode), y - 8, d.cases);
    text += all_bars(d, left, width, y, tall);
    text += fmt::format("<path class=\"axis\" d=\"M{:.0f} {:.0f}H{:.0f}\"/>", left, y, right);
  }
  const double bound = right - width;
  text += fmt::format("<path class=\"bound\" d=\"M{0:.1f} 4V{1:.0f}\"/>", bound - 0.5, bottom);
  const double under = bottom + 13;
  text += fmt::format("<text class=\"dim\" x=\"{:.0f}\" y=\"{:.0f}\">0</text>", left, under);
  text += fmt::format("<text class=\"dim\" text-anchor=\"middle\" x=\"{:.0f}\" y=\"{:.0f}\">half the bound</text>",
                      left + width * (1 + Distribution::steps / 2.0), under);
  text += fmt::format("<text class=\"dim\" text-anchor=\"end\" x=\"{:.0f}\" y=\"{:.0f}\">bound</text>", right, under);
  return text + "</svg>";
}

}  // namespace etalon::conformance
