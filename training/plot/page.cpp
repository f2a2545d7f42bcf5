#include "training/plot/page.hpp"

#include <fmt/format.h>

#include <string_view>

#include "spec/markup.hpp"
#include "spec/quoted.hpp"

namespace etalon::training {

namespace {

/// The pictures bring colours for white paper, which rules of a page outweigh.
constexpr std::string_view style = R"(:root{color-scheme:light dark;--ink:#1f2328;--paper:#fff;--line:#d1d9e0;--bar:#0969da}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--line:#30363d;--bar:#4493f8}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1rem;font:15px/1.5 system-ui,sans-serif}
body{color:var(--ink);background:var(--paper);overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.2;margin:.2rem 0}
ul{display:flex;flex-wrap:wrap;gap:.5rem;padding:0;margin:1rem 0;list-style:none}
li{border:1px solid var(--line);border-radius:6px;padding:.3rem .8rem}
b{display:block;font-size:1.2rem;font-variant-numeric:tabular-nums}
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,30rem),1fr));gap:1rem}
svg{display:block;width:100%;height:auto;overflow:visible}
svg>rect:first-of-type{fill:none}
svg text{fill:currentColor}
svg polyline{stroke:var(--bar)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:1rem 0}
th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid var(--line)}
th,td{white-space:nowrap}
th:first-child{text-align:left;white-space:normal}
@media(max-width:40rem){svg text{font-size:17px}th,td{padding:.25rem .3rem}.pictures{padding-left:1.2rem}}
)";

std::string table_of(const std::vector<ClassRow>& classes) {
  if (classes.empty()) return "";
  std::string text = "<div class=\"wide\"><table><thead><tr><th>class</th>";
  for (const char* column : {"rows", "precision", "recall", "F1"}) text += fmt::format("<th>{}</th>", column);
  text += "</tr></thead>\n";
  for (const ClassRow& row : classes) {
    text += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", markup(row.name), row.rows,
                        row.precision, row.recall, row.f1);
  }
  return text + "</table></div>\n";
}

}  // namespace

std::string as_html(const Page& page) {
  const std::string title = markup(as_quoted(page.title));
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>Etalon: {0}</title>\n<style>\n{1}</style></head>\n<body>\n<h1>{0}</h1>\n<ul>",
      title, style);
  for (const auto& [what, much] : page.facts) text += fmt::format("<li><b>{}</b>{}</li>\n", markup(as_quoted(much)), markup(what));
  text += "</ul>\n" + table_of(page.classes) + "<div class=\"pictures\">\n";
  for (const std::string& picture : page.pictures) text += picture;
  return text + "</div>\n</body></html>\n";
}

}  // namespace etalon::training
