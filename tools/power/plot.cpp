#include <fmt/format.h>

#include <algorithm>

#include "tools/power/compare.hpp"

namespace etalon::power {
namespace {

constexpr double width = 720, left = 150, bar = 14, row = 46, top = 64;

std::string text_at(double x, double y, std::string_view anchor, std::string_view style, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y, anchor, style,
                     text);
}

std::string bar_at(double y, double share, std::string_view style) {
  const double length = std::max(1.0, share * (width - left - 130));
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" class=\"{}\"/>\n",
                     left, y, length, bar, style);
}

}  // namespace

// Two bars per rule: the share of defects found validly, and the share of conforming cases flagged.
std::string plot_of(const Comparison& c) {
  const double height = top + row * static_cast<double>(judge_count) + 10;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n<title>Defects found and false alarms by "
      "rule</title>\n<style>.label{{fill:#1f2328}}.note{{fill:#59636e}}"
      ".found{{fill:#2f7ed8}}.alarm{{fill:#d1603d}}@media(prefers-color-scheme:dark){{.label{{fill:#e6edf3}}.note{{"
      "fill:#9198a1}}"
      ".found{{fill:#58a6ff}}.alarm{{fill:#f0883e}}}}</style>\n",
      width, height);
  svg += fmt::format("<rect x=\"{0}\" y=\"14\" width=\"12\" height=\"12\" rx=\"2\" class=\"found\"/>\n", left);
  svg += text_at(left + 18, 25, "start", "label", "defects found, on cases that the sound backend passes");
  svg += fmt::format("<rect x=\"{0}\" y=\"36\" width=\"12\" height=\"12\" rx=\"2\" class=\"alarm\"/>\n", left);
  svg += text_at(left + 18, 47, "start", "label", "conforming answers flagged");
  for (std::size_t j = 0; j < judge_count; ++j) {
    const double y = top + row * static_cast<double>(j);
    const auto found = static_cast<double>(
        std::count_if(c.mutants.begin(), c.mutants.end(), [&](const MutantTally& m) { return m.valid[j] > 0; }));
    const double share = found / std::max(1.0, static_cast<double>(c.mutants.size()));
    const double cases = std::max(1.0, static_cast<double>(c.backend.cases + c.simulator.cases));
    const double alarms = static_cast<double>(c.backend.flagged[j] + c.simulator.flagged[j]) / cases;
    svg += text_at(left - 10, y + bar + 4, "end", "label", std::string(judge_name(j)));
    svg += bar_at(y, share, "found") + bar_at(y + bar + 3, alarms, "alarm");
    svg += text_at(left + share * (width - left - 130) + 8, y + bar - 3, "start", "note",
                   fmt::format("{:.0f} of {}", found, c.mutants.size()));
    svg += text_at(left + alarms * (width - left - 130) + 8, y + 2 * bar, "start", "note",
                   fmt::format("{:.2f} %", 100 * alarms));
  }
  return svg + "</svg>\n";
}

}  // namespace etalon::power
