#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "conformance/reports/formats.hpp"
#include "conformance/reports/gaps.hpp"
#include "conformance/reports/matrix.hpp"
#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

constexpr std::size_t most_listed = 40;

void write_failure_list(std::ostream& out, const Report& report) {
  std::size_t listed = 0;
  for (const Record& r : report.records) {
    if (!is_bad(r.outcome.verdict)) continue;
    if (listed == 0) out << "\n## Failures\n\n| case | verdict | finding |\n|---|---|---|\n";
    if (listed++ < most_listed)
      out << fmt::format("| {} | {} | {} |\n", code_span(r.id), name_of(r.outcome.verdict), code_span(finding(r.outcome)));
  }
  if (listed > most_listed) out << fmt::format("\nand {} more. ", listed - most_listed);
  if (listed > 0)
    out << fmt::format("\nReplay one: {}\n", code_span(replay_line(report.header.replay, report.header.command, "ID")));
}

void write_waivers(std::ostream& out, const Report& report) {
  if (report.waivers.empty()) return;
  out << "\n## Waived\n\n| what | failures | until | reason |\n|---|--:|---|---|\n";
  for (const WaiverUse& w : report.waivers) {
    out << fmt::format("| {} | {} | {} | {} |\n", code_span(words_of(w)), w.matched, w.expires, code_span(w.reason));
  }
  for (const std::string& error : report.waiver_errors) out << fmt::format("\n**{}**\n", code_span(error));
}

void write_gaps(std::ostream& out, const Report& report) {
  for (const NeverCompared& gap : never_compared(report)) out << fmt::format("\n**{}**\n", code_span(words_of(gap)));
  const std::vector<Reason> reasons = reasons_of(report.records);
  if (reasons.empty()) return;
  out << "\n<details><summary>Unsupported, by reason</summary>\n\n| reason | cases | operations |\n|---|--:|---|\n";
  for (std::size_t i = 0; i < std::min(most_listed, reasons.size()); ++i) {
    const Reason& r = reasons[i];
    out << fmt::format("| {} | {} | {} |\n", code_span(r.why), r.times, code_span(fmt::format("{}", fmt::join(r.operations, ", "))));
  }
  if (reasons.size() > most_listed) out << fmt::format("\nand {} more reasons\n", reasons.size() - most_listed);
  out << "\n</details>\n";
}

void write_operations(std::ostream& out, const Matrix& matrix) {
  out << "\n<details><summary>All operations: comparisons (worst error over bound)</summary>\n\n| operation |";
  for (const std::string_view c : columns) out << fmt::format(" {} |", c);
  out << "\n|---|";
  for (std::size_t i = 0; i < columns.size(); ++i) out << "--:|";
  out << "\n";
  for (const auto& [name, cells] : matrix) {
    out << fmt::format("| {} |", code_span(name));
    for (const Cell& cell : cells) out << fmt::format(" {} |", cell.text());
    out << "\n";
  }
  out << "\n</details>\n";
}

}  // namespace

void write_markdown(std::ostream& out, const Report& report) {
  const Totals t = totals_of(report.records);
  const Header& h = report.header;
  const Matrix matrix = matrix_of(report.records);
  out << fmt::format("# {}: {}\n\nContract {}; tier {}, seed {}, specification {}{}.\n\n", code_span(h.backend + " " + h.version),
                     conclusion(report).text, code_span(h.contract_text), code_span(h.tier), h.seed,
                     code_span(h.specification.substr(0, 8)),
                     h.selection.shard.empty() ? "" : ", share " + code_span(h.selection.shard));
  out << "| operations | pass | fail | crashed | timeout | waived | unsupported | undecided | comparisons |\n"
         "|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  out << fmt::format("| {} of {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", matrix.size(), h.operations_known,
                     t.of(Verdict::pass), t.of(Verdict::fail), t.of(Verdict::crashed), t.of(Verdict::timeout),
                     t.of(Verdict::waived), t.of(Verdict::unsupported), t.of(Verdict::undecided), t.comparisons);
  const auto unclear = undecided_operations(report.records);
  if (!unclear.empty()) out << fmt::format("\nUndecided (more than 1 % of the elements): {}.\n", code_span(fmt::format("{}", fmt::join(unclear, ", "))));
  for (const Warning& w : statistical_warnings(report.records)) {
    out << fmt::format("\nWarning (statistical, fails nobody): {} errors are {:.2f} times what independent roundings make them.\n",
                       code_span(fmt::format("{} {} {}", w.operation, w.mode, w.dtype)), w.statistic.rms());
  }
  write_failure_list(out, report);
  write_waivers(out, report);
  write_gaps(out, report);
  write_operations(out, matrix);
}

}  // namespace etalon::conformance
