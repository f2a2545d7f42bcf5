#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "conformance/reports/formats.hpp"
#include "conformance/reports/gaps.hpp"
#include "conformance/reports/html_failures.hpp"
#include "conformance/reports/matrix.hpp"
#include "conformance/reports/page.hpp"
#include "conformance/reports/plot.hpp"
#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

void write_head(std::ostream& out, const Header& header) {
  out << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
         // The page asks for nothing, whatever stands in it.
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
         "script-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n"
      << fmt::format("<title>Etalon: {} {}</title>\n", markup(header.backend), markup(header.version))
      << fmt::format("<style>\n{}</style></head>\n", page_style());
}

void write_selection(std::ostream& out, const Selection& s) {
  const auto part = [&](const char* name, const std::vector<std::string>& words) {
    if (!words.empty()) out << fmt::format("; only {}: {}", name, markup(fmt::format("{}", fmt::join(words, ", "))));
  };
  part("operations", s.operations);
  part("modes", s.modes);
  part("types", s.dtypes);
  if (!s.shard.empty()) out << "; share " << markup(s.shard);
}

void write_summary(std::ostream& out, const Report& report, const Matrix& matrix) {
  const Header& h = report.header;
  const Conclusion end = conclusion(report);
  const Totals t = totals_of(report.records);
  out << fmt::format("<h1>{} {}</h1>\n<p><span class=\"end {}\">{}</span></p>\n", markup(h.backend), markup(h.version),
                     end.conforms ? "yes" : "no", markup(end.text));
  out << fmt::format("<p>Contract: {}<br><span class=\"dim\">tier {}, seed {}, specification {}", markup(h.contract_text),
                     markup(h.tier), h.seed, markup(h.specification.substr(0, 8)));
  write_selection(out, h.selection);
  out << fmt::format("; {:.1f} s</span></p>\n<ul class=\"tiles\">", report.seconds);
  const auto tile = [&](const std::string& count, std::string_view name) {
    out << fmt::format("<li><b>{}</b>{}</li>", count, name);
  };
  tile(fmt::format("{} / {}", matrix.size(), h.operations_known), "operations");
  for (const Verdict v : {Verdict::pass, Verdict::fail, Verdict::crashed, Verdict::timeout, Verdict::waived,
                          Verdict::unsupported, Verdict::undecided})
    tile(std::to_string(t.of(v)), name_of(v));
  tile(std::to_string(t.comparisons), "comparisons");
  out << "</ul>\n";
}

void write_remarks(std::ostream& out, const Report& report) {
  const auto unclear = undecided_operations(report.records);
  if (!unclear.empty())
    out << fmt::format("<p>Undecided, more than 1 % of the elements: {}</p>\n", markup(fmt::format("{}", fmt::join(unclear, ", "))));
  for (const Warning& w : statistical_warnings(report.records)) {
    out << fmt::format("<p>Warning, statistical, fails nobody: {} {} {}: errors of {} elements are {:.2f} times what "
                       "independent roundings make them</p>\n",
                       markup(w.operation), markup(w.mode), markup(w.dtype), w.statistic.elements, w.statistic.rms());
  }
  for (const NeverCompared& gap : never_compared(report)) out << fmt::format("<p class=\"verdict\" data-find>{}</p>\n", markup(words_of(gap)));
  if (report.waivers.empty()) return;
  out << "<h2>Waivers</h2>\n";
  for (const std::string& error : report.waiver_errors) out << fmt::format("<p class=\"verdict\">{}</p>\n", markup(error));
  out << "<ul>";
  for (const WaiverUse& w : report.waivers) {
    out << fmt::format("<li data-find><b>{}</b>: {} failures until {}: {}</li>\n", markup(words_of(w)), w.matched,
                       markup(w.expires), markup(w.reason));
  }
  out << "</ul>\n";
}

// What is worst comes first when a column is sorted downwards.
double order_of(const Cell& cell) {
  if (cell.bad() > 0) return 2e15 + static_cast<double>(cell.bad());
  if (cell.of(Verdict::waived) > 0) return 1e15 + static_cast<double>(cell.of(Verdict::waived));
  if (cell.cases == 0) return -2;
  return cell.state() == "pass" ? static_cast<double>(cell.comparisons) : -1;
}

struct Row {
  std::string name;
  const std::array<Cell, columns.size()>* cells;
  Cell all;
};

// What fails comes first, then what is waived; of equals by name.
std::vector<Row> worst_first(const Matrix& matrix) {
  std::vector<Row> rows;
  for (const auto& [name, cells] : matrix) rows.push_back({name, &cells, whole(cells)});
  const auto badness = [](const Row& r) { return std::pair(r.all.bad(), r.all.of(Verdict::waived)); };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return badness(a) > badness(b); });
  return rows;
}

// In words that fit a phone beside the operation.
std::string verdict_text(const Cell& all) {
  const std::string_view is = all.state();
  return is == "pass" || is == "none" ? std::string(is) : all.text();
}

void write_row(std::ostream& out, const Row& row, const Distributions& distributions) {
  const char* target = row.all.bad() + row.all.of(Verdict::waived) > 0 ? "fail" : "op";
  out << fmt::format("<tr data-find><td><a href=\"#{1}-{0}\">{0}</a></td>", markup(row.name), target);
  out << fmt::format("<td class=\"{}\" data-v=\"{:.17g}\">{}</td>", row.all.state(), order_of(row.all), verdict_text(row.all));
  for (const Cell& cell : *row.cells)
    out << fmt::format("<td class=\"{}\" data-v=\"{:.17g}\">{}</td>", cell.state(), order_of(cell), cell.text());
  const bool passed = row.all.of(Verdict::pass) > 0;
  out << fmt::format("<td data-v=\"{:.17g}\">{}</td>", passed ? row.all.worst : -1, passed ? ratio_text(row.all.worst) : "-");
  const auto modes = distributions.find(row.name);
  out << fmt::format("<td>{}</td></tr>\n", modes == distributions.end() ? "" : small_plot(modes->second));
}

void write_matrix(std::ostream& out, const Matrix& matrix, const Distributions& distributions) {
  out << "<div class=\"wide\"><table id=\"matrix\"><thead><tr><th aria-sort=\"none\"><button>operation</button></th>"
         "<th aria-sort=\"descending\"><button>verdict</button></th>";
  for (const std::string_view c : columns) out << fmt::format("<th aria-sort=\"none\"><button>{}</button></th>", c);
  out << "<th aria-sort=\"none\"><button>worst</button></th><th>error / bound</th></tr></thead><tbody>\n";
  for (const Row& row : worst_first(matrix)) write_row(out, row, distributions);
  out << "</tbody></table></div>\n<p class=\"dim\">Comparisons (worst error over bound of the cases that pass).</p>\n";
}

void write_distributions(std::ostream& out, const Distributions& distributions) {
  out << "<h2>Error over bound</h2>\n<p class=\"dim\">Cases by their worst error over bound, by mode: the first bar is no error at "
         "all, the last one, behind the dashed line, is beyond the bound. Heights are logarithmic.</p>\n";
  for (const auto& [name, modes] : distributions) {
    out << fmt::format("<details id=\"op-{0}\" data-find><summary>{0}</summary>{1}</details>\n", markup(name),
                       large_plot(name, modes));
  }
}

void write_reasons(std::ostream& out, const Report& report) {
  const std::vector<Reason> reasons = reasons_of(report.records);
  if (reasons.empty()) return;
  out << "<h2>Unsupported</h2>\n<details data-find><summary>" << reasons.size() << " reasons</summary><ul>\n";
  for (const Reason& r : reasons)
    out << fmt::format("<li><b>{}</b>, {}×: {}</li>\n", markup(r.why), r.times, markup(fmt::format("{}", fmt::join(r.operations, ", "))));
  out << "</ul></details>\n";
}

}  // namespace

void write_html(std::ostream& out, const Report& report) {
  const Matrix matrix = matrix_of(report.records);
  const Distributions distributions = distributions_of(report.records);
  write_head(out, report.header);
  out << "<body>\n";
  write_summary(out, report, matrix);
  write_remarks(out, report);
  out << "<div class=\"tools\"><input id=\"search\" type=\"search\" placeholder=\"search operations, checks, messages\" "
         "aria-label=\"search\"><button id=\"theme\" aria-label=\"light or dark\">&#9680;</button></div>\n";
  write_matrix(out, matrix, distributions);
  write_failures(out, report);
  write_reasons(out, report);
  write_distributions(out, distributions);
  out << fmt::format("<script>\n{}</script>\n</body></html>\n", page_script());
}

}  // namespace etalon::conformance
