#include "tools/log/html.hpp"

#include <string_view>
#include <vector>

#include "spec/markup.hpp"
#include "tools/log/outline.hpp"

namespace etalon::logging {

namespace {

constexpr std::string_view style =
    "body{font:14px/1.5 ui-monospace,monospace;margin:1em;color:#222;background:#fff}"
    "details{margin-left:1.5em}summary{margin-left:-1.2em;cursor:pointer}"
    "p{margin:0 0 0 1.5em;overflow-wrap:anywhere}pre{overflow-x:auto}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#111}}";

/// Steps are seen at once; what they hold opens.
void write(const std::vector<Entry>& entries, std::string& page) {
  for (const Entry& e : entries) {
    if (e.inside.empty()) {
      page += "<p>" + markup(e.line) + "</p>\n";
      continue;
    }
    const bool is_section = e.line.starts_with("section ");
    page += std::string("<details") + (is_section ? " open" : "") + "><summary>" + markup(e.line) + "</summary>\n";
    write(e.inside, page);
    page += "</details>\n";
  }
}

}  // namespace

std::string to_html(const Log& log) {
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>" + markup(log.file) + " on " + markup(log.backend) +
                     "</title>\n<style>" + std::string(style) + "</style></head>\n<body>\n";
  page += "<h1>" + markup(log.file) + " on " + markup(log.backend) + "</h1>\n";
  std::vector<Entry> head;
  for (const std::string& line : heading(log)) head.push_back({line});
  std::vector<Entry> program;
  for (const std::string& line : program_lines(log)) program.push_back({line});
  write({{"about this log", head}, {"the program", program}, {"given", given(log)}}, page);
  write(outline(log), page);
  return page + "</body></html>\n";
}

}  // namespace etalon::logging
