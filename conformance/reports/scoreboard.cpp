#include <fmt/format.h>

#include <map>
#include <ostream>
#include <set>
#include <vector>

#include "conformance/reports/formats.hpp"
#include "conformance/reports/matrix.hpp"
#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

struct Score {
  Cell cases;
  std::set<std::string> operations, failing, answered;

  void add(const Record& r) {
    cases.add(r);
    operations.insert(r.operation);
    if (is_bad(r.outcome.verdict) || r.waived) failing.insert(r.operation);
    if (r.outcome.comparisons > 0 && r.check != name_of(Check::rejection)) answered.insert(r.operation);
  }
};

using Scores = std::map<std::string, Score>;

constexpr const char* head =
    "operations | pass | fail | waived | unsupported | undecided | worst error / bound | operations with failures |\n";
constexpr const char* rule = "--:|--:|--:|--:|--:|--:|--:|---|\n";

std::string names(const std::set<std::string>& all) {
  std::string text;
  for (const std::string& name : all) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "" : code_span(text);
}

std::string row(const Score& s) {
  const Cell& c = s.cases;
  return fmt::format("{} of {} | {} | {} | {} | {} | {} | {} | {} |\n", s.answered.size(), s.operations.size(), c.of(Verdict::pass),
                     c.bad(), c.of(Verdict::waived), c.of(Verdict::unsupported), c.of(Verdict::undecided),
                     c.of(Verdict::pass) > 0 ? ratio_text(c.worst) : "-", names(s.failing));
}

Scores scores_of(const Report& report) {
  std::map<std::string, std::string> classes;
  Scores scores;
  for (const Record& r : report.records) {
    const auto [at, is_new] = classes.try_emplace(r.operation);
    if (is_new) at->second = class_of(r.operation);
    scores[at->second].add(r);
  }
  return scores;
}

std::string title(const Header& h) { return code_span(h.backend + " " + h.version); }

}  // namespace

void write_scoreboard(std::ostream& out, const std::vector<Report>& reports) {
  out << "# Scoreboard\n\nWritten by `etalon report scoreboard` from the JSON lines of the runs; not edited by hand. *Operations*: of how "
         "many of those asked something was compared. *Fail* counts crashes and timeouts too. *Worst error / bound* is that of the "
         "cases that pass. [Findings](findings.md) says what the failures are.\n\n| backend | conclusion | tier | "
      << head << "|---|---|---|" << rule;
  for (const Report& report : reports) {
    Score all;
    for (const Record& r : report.records) all.add(r);
    out << fmt::format("| {} | {} | {} | {}", title(report.header), conclusion(report).text, code_span(report.header.tier), row(all));
  }
  for (const Report& report : reports) {
    const Header& h = report.header;
    out << fmt::format("\n## {}\n\nContract {}; seed {}, specification {}.\n\n| class | {}|---|{}", title(h), code_span(h.contract_text),
                       h.seed, code_span(h.specification.substr(0, 8)), head, rule);
    for (const auto& [name, score] : scores_of(report)) out << fmt::format("| {} | {}", name, row(score));
  }
}

}  // namespace etalon::conformance
