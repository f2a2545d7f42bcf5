#include "conformance/reports/formats.hpp"

#include <fstream>

#include "spec/error.hpp"

namespace etalon::conformance {
namespace {

void write_file(const std::string& path, void (*write)(std::ostream&, const Report&), const Report& report) {
  if (path.empty()) return;
  std::ofstream out(path, std::ios::binary);
  write(out, report);
  if (!out.flush()) throw IoError(path + ": the file cannot be written");
}

}  // namespace

void write_formats(const Formats& formats, const Report& report) {
  write_file(formats.html, write_html, report);
  write_file(formats.junit, write_junit, report);
  write_file(formats.markdown, write_markdown, report);
  write_file(formats.badge, write_badge, report);
}

}  // namespace etalon::conformance
