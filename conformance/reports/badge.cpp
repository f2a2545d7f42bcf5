#include <fmt/format.h>

#include <cstddef>
#include <ostream>

#include "conformance/reports/formats.hpp"
#include "conformance/reports/gaps.hpp"
#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

struct Label {
  std::string text;
  const char* colour;
};

Label label_of(const Report& report) {
  const Totals totals = totals_of(report.records);
  if (!report.whole) return {"interrupted", "#6e7781"};
  if (totals.bad() > 0) return {fmt::format("{} failed", totals.bad()), "#cf222e"};
  if (!report.waiver_errors.empty()) return {"waivers out of date", "#cf222e"};
  if (!totals.answered) return {"nothing compared", "#6e7781"};
  if (const std::size_t gaps = never_compared(report).size(); gaps > 0) return {fmt::format("{} offered, never compared", gaps), "#cf222e"};
  if (!conclusion(report).conforms) return {"does not conform to " + report.header.selection.profile, "#cf222e"};
  const Covered all = covered(report.records);
  const std::string text = all.text() + (all.operations == 1 ? " conforms" : " conform");
  if (const std::size_t waived = totals.of(Verdict::waived); waived > 0)
    return {fmt::format("{}, {} waived", text, waived), "#9a6700"};
  return {text, "#1a7f37"};
}

// The width of a word in a sans serif of 11 pixels, nearly.
std::size_t width(std::string_view text) { return 10 + text.size() * 13 / 2; }

}  // namespace

void write_badge(std::ostream& out, const Report& report) {
  const std::string name = "etalon";
  const Label label = label_of(report);
  const std::size_t left = width(name), right = width(label.text), all = left + right;
  out << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"20\" role=\"img\" aria-label=\"{1}: {2}\">\n"
      "<title>{1}: {2}</title>\n"
      "<clipPath id=\"r\"><rect width=\"{0}\" height=\"20\" rx=\"3\"/></clipPath>\n"
      "<g clip-path=\"url(#r)\"><rect width=\"{3}\" height=\"20\" fill=\"#444\"/>"
      "<rect x=\"{3}\" width=\"{4}\" height=\"20\" fill=\"{5}\"/></g>\n"
      "<g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,Geneva,sans-serif\" font-size=\"11\">"
      "<text x=\"{6}\" y=\"14\">{1}</text><text x=\"{7}\" y=\"14\">{2}</text></g>\n</svg>\n",
      all, name, markup(label.text), left, right, label.colour, left / 2, left + right / 2);
}

}  // namespace etalon::conformance
