#include "conformance/reports/formats.hpp"

#include <iostream>
#include <memory>
#include <string>
#include <vector>


#include "conformance/reports/console.hpp"
#include "conformance/reports/diff.hpp"
#include "conformance/reports/json_lines.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "tools/command/command.hpp"
#include "tools/command/terminal.hpp"

namespace etalon::command {
namespace {

using conformance::Report;

constexpr const char* report_examples = R"(
Examples
  etalon report render run.jsonl --html run.html --junit run.xml
  etalon report render share1.jsonl share2.jsonl --json run.jsonl     the shares of one run as one
  etalon report diff before.jsonl after.jsonl
  etalon report scoreboard torch.jsonl onnx.jsonl --markdown docs/scoreboard.md
Files are the JSON lines of `etalon conform --json`.
Exit status: render 0 the run conforms, 1 it does not; diff 0 nothing got worse, 1 something did; 2 a file cannot be read.)";

[[nodiscard]] std::vector<Report> reports_in(const std::vector<std::string>& paths) {
  std::vector<Report> reports;
  for (const std::string& path : paths) reports.push_back(conformance::read_report(path));
  return reports;
}

struct ReportWords {
  std::vector<std::string> files;
  std::string before, after, json, scoreboard;
  conformance::Formats formats;
};

[[nodiscard]] int render(const ReportWords& words) {
  const Report report = conformance::merged(reports_in(words.files));
  if (!words.json.empty()) write_file(words.json, [&](std::ostream& out) { conformance::write_json_lines(out, report); });
  conformance::write_formats(words.formats, report);
  conformance::write_heading(std::cout, report.header);
  conformance::write_table(std::cout, report, output_columns());
  return conformance::conclusion(report).conforms ? 0 : 1;
}

[[nodiscard]] int diff(const ReportWords& words) {
  const conformance::Difference found =
      conformance::difference(conformance::read_report(words.before), conformance::read_report(words.after));
  conformance::write_difference(std::cout, found);
  return found.worse.empty() ? 0 : 1;
}

[[nodiscard]] int scoreboard(const ReportWords& words) {
  const std::vector<Report> reports = reports_in(words.files);
  if (words.scoreboard.empty()) conformance::write_scoreboard(std::cout, reports);
  else write_file(words.scoreboard, [&](std::ostream& out) { conformance::write_scoreboard(out, reports); });
  return 0;
}

}  // namespace

void add_report(Command app, Outcome& outcome) {
  Command command = app.command("report", "Write a run in other formats, compare two runs, or sum up many");
  command.footer(report_examples);
  auto words = std::make_shared<ReportWords>();
  Command rendering = command.command("render", "Write a run, or the shares of one, in other formats");
  rendering.footer(report_examples);
  rendering.option("files", words->files, "JSON lines of a run; several are its shares").required();
  rendering.option("--json", words->json, "Write JSON lines, of all shares together");
  add_formats(rendering, words->formats);
  rendering.callback([words, &outcome] { outcome.status = render(*words); });
  Command comparing = command.command("diff", "What got worse, better or is new from one run to another");
  comparing.footer(report_examples);
  comparing.option("before", words->before, "JSON lines of the first run").required();
  comparing.option("after", words->after, "JSON lines of the second run").required();
  comparing.callback([words, &outcome] { outcome.status = diff(*words); });
  Command scoring = command.command("scoreboard", "Several backends by class of operations, as Markdown");
  scoring.footer(report_examples);
  scoring.option("files", words->files, "JSON lines, one file per backend").required();
  scoring.option("--markdown", words->scoreboard, "The file to write; else it is printed");
  scoring.callback([words, &outcome] { outcome.status = scoreboard(*words); });
  command.alone([] { throw SpecViolation("report: a command is missing; etalon report --help lists them"); });
}

void add_formats(Command command, conformance::Formats& formats) {
  command.option("--html", formats.html, "Write one page that needs nothing else");
  command.option("--junit", formats.junit, "Write JUnit XML");
  command.option("--markdown", formats.markdown, "Write a summary for pull requests and job pages");
  command.option("--badge", formats.badge, "Write a badge, SVG");
}

}  // namespace etalon::command
