#include "conformance/reports/formats.hpp"

#include "spec/file.hpp"

namespace etalon::conformance {
namespace {

void write_if_wanted(const std::string& path, void (*write)(std::ostream&, const Report&), const Report& report) {
  if (!path.empty()) write_file(path, [&](std::ostream& out) { write(out, report); });
}

}  // namespace

void write_formats(const Formats& formats, const Report& report) {
  write_if_wanted(formats.html, write_html, report);
  write_if_wanted(formats.junit, write_junit, report);
  write_if_wanted(formats.markdown, write_markdown, report);
  write_if_wanted(formats.badge, write_badge, report);
}

}  // namespace etalon::conformance
