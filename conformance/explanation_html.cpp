#include <fmt/format.h>

#include <string>
#include <vector>

#include "conformance/explanation.hpp"
#include "conformance/mathml.hpp"
#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

[[nodiscard]] std::string heading(std::string_view text) { return fmt::format("<p><b>{}</b></p>\n", text); }

/// Where a browser knows no MathML, the folded text below has the same equations.
[[nodiscard]] std::string equations(std::string_view title, const spec::System& system) {
  std::string html = heading(title) + "<div style=\"overflow-x:auto;line-height:2.2\">\n";
  for (const std::string& one : mathml(system)) html += "<div>" + one + "</div>\n";
  return html + "</div>\n";
}

[[nodiscard]] std::string list(std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string html = heading(title) + "<ul>\n";
  for (const std::string& line : lines) html += "<li>" + markup(line) + "</li>\n";
  return html + "</ul>\n";
}

}  // namespace

std::string to_html(const Explanation& explanation) {
  std::string html = "<pre>" + markup(explanation.definition) + "</pre>\n";
  const std::string text = to_text(explanation).substr(explanation.definition.size());
  if (const auto& derived = explanation.derived) {
    html += equations("At a sample call", derived->equations);
    if (derived->jvp) html += equations("Tangents of the results (x′)", *derived->jvp);
    if (derived->vjp) html += equations("Cotangents of the operands (x̃)", *derived->vjp);
    html += list("Domain", derived->domain) + list("Kinks and constants", derived->kinks);
  }
  return html + "<details><summary>types, derivative, numbers</summary><pre>" + markup(text) + "</pre></details>\n";
}

std::string to_page(const Explanation& explanation) {
  return fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n"
                     "<style>body{{max-width:60em;margin:2em auto;padding:0 1em;font-family:sans-serif}}</style>\n</head>\n<body>\n"
                     "<h1>{}</h1>\n{}</body>\n</html>\n",
                     markup(explanation.name), markup(explanation.name), to_html(explanation));
}

}  // namespace etalon::conformance
