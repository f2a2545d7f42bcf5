#include <fmt/format.h>

#include <array>
#include <map>
#include <ostream>
#include <vector>

#include "conformance/reports/formats.hpp"
#include "conformance/reports/gaps.hpp"
#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

// Check, mode and element type.
using Test = std::array<std::string, 3>;
using Suite = std::map<Test, std::vector<const Record*>>;

constexpr std::size_t most_listed = 20;

std::string lines_of(const std::vector<const Record*>& records, bool bad) {
  std::string text;
  std::size_t listed = 0;
  for (const Record* r : records) {
    if (is_bad(r->outcome.verdict) != bad) continue;
    if (listed++ < most_listed) text += fmt::format("{}: {}\n", r->id, finding(r->outcome));
  }
  if (listed > most_listed) text += fmt::format("and {} more\n", listed - most_listed);
  return text;
}

struct State {
  std::size_t bad = 0, crashed = 0, passed = 0, waived = 0;
  const Record* first = nullptr;  ///< bad, or else the first that says why it is no pass
};

State state_of(const std::vector<const Record*>& records) {
  State s;
  for (const Record* r : records) {
    const Verdict v = r->outcome.verdict;
    s.passed += v == Verdict::pass ? 1 : 0;
    s.waived += v == Verdict::waived ? 1 : 0;
    s.crashed += v == Verdict::crashed || v == Verdict::timeout ? 1 : 0;
    if (is_bad(v) && s.bad++ == 0) s.first = r;
    if (s.first == nullptr && v != Verdict::pass) s.first = r;
  }
  return s;
}

std::string body_of(const std::vector<const Record*>& records, const State& s, const Header& header) {
  if (s.bad > 0) {
    const char* element = s.crashed == s.bad ? "error" : "failure";
    return fmt::format("<{0} message=\"{1}\" type=\"{2}\">{3}{4}</{0}>", element, markup(finding(s.first->outcome)),
                       name_of(s.first->outcome.verdict), markup(lines_of(records, true)),
                       markup(fmt::format("replay: {}\n", replay_line(header.replay, header.command, s.first->id))));
  }
  if (s.waived > 0) {
    for (const Record* r : records) {
      if (r->waived)
        return fmt::format("<skipped message=\"{}\"/>", markup(fmt::format("{} waived until {}: {}", s.waived, r->waived->expires, r->waived->reason)));
    }
  }
  if (s.passed > 0) return "";
  return fmt::format("<skipped message=\"{}\"/>",
                     markup(fmt::format("{}: {}", name_of(s.first->outcome.verdict), finding(s.first->outcome))));
}

struct Sums {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  void add(const Sums& other) {
    tests += other.tests;
    failures += other.failures;
    errors += other.errors;
    skipped += other.skipped;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests, failures, errors, skipped);
  }
};

std::string suite_text(const std::string& name, const Suite& suite, const Header& header, Sums& all) {
  std::string tests;
  Sums sums;
  for (const auto& [test, records] : suite) {
    const State s = state_of(records);
    const std::string body = body_of(records, s, header);
    ++sums.tests;
    if (s.bad > 0) ++(s.crashed == s.bad ? sums.errors : sums.failures);
    else if (!body.empty()) ++sums.skipped;
    tests += fmt::format("    <testcase classname=\"{}\" name=\"{}\">{}</testcase>\n", markup("etalon." + name),
                         markup(fmt::format("{} {} {} ({} cases)", test[0], test[1], test[2], records.size())), body);
  }
  all.add(sums);
  return fmt::format("  <testsuite name=\"{}\" {}>\n{}  </testsuite>\n", markup(name), sums.text(), tests);
}

// What fails a run beside its cases.
std::string run_suite(const Report& report, Sums& all) {
  const Conclusion end = conclusion(report);
  const bool own = !end.conforms && totals_of(report.records).bad() == 0;
  std::string lines = end.text + "\n";
  for (const std::string& error : report.waiver_errors) lines += error + "\n";
  for (const NeverCompared& gap : never_compared(report)) lines += words_of(gap) + "\n";
  Sums sums{1, own || !report.waiver_errors.empty() ? std::size_t{1} : 0, 0, 0};
  all.add(sums);
  const std::string body =
      sums.failures > 0 ? fmt::format("<failure message=\"{}\">{}</failure>", markup(end.text), markup(lines)) : "";
  return fmt::format("  <testsuite name=\"run\" {}>\n    <testcase classname=\"etalon\" name=\"run\">{}</testcase>\n  </testsuite>\n",
                     sums.text(), body);
}

}  // namespace

void write_junit(std::ostream& out, const Report& report) {
  std::map<std::string, Suite> suites;
  for (const Record& r : report.records) suites[r.operation][{r.check, r.mode, r.dtype}].push_back(&r);
  Sums all;
  std::string text;
  for (const auto& [name, suite] : suites) text += suite_text(name, suite, report.header, all);
  text += run_suite(report, all);
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      << fmt::format("<testsuites name=\"{}\" {} time=\"{:.3f}\">\n",
                     markup(fmt::format("etalon: {} {}", report.header.backend, report.header.version)), all.text(),
                     report.seconds)
      << text << "</testsuites>\n";
}

}  // namespace etalon::conformance
