#include "conformance/reports/html_failures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

#include "conformance/reports/inputs.hpp"
#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

// More of one kind make a page that a phone cannot show, and say nothing new.
constexpr std::size_t most_shown = 20;

using Kind = std::string;
using Kinds = std::map<Kind, std::vector<const Record*>>;

struct Failures {
  Kinds kinds;
  std::size_t bad = 0, waived = 0;
};

const Equations* equations_of(const Report& report, const std::string& operation) {
  for (const Equations& e : report.equations) {
    if (e.operation == operation) return &e;
  }
  return nullptr;
}

std::string pre(const std::string& text) { return text.empty() ? "" : fmt::format("<pre>{}</pre>", markup(text)); }

// What the definition means; the other ways to compute it are folded.
std::string equations_text(const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::istringstream words(text.substr(at, end - at));
    std::string first;
    words >> first;
    if (first == "also" || first == "jvp" || first == "vjp") break;
    at = end + 1;
  }
  if (at >= text.size()) return pre(text);
  return pre(text.substr(0, at)) + "<details><summary>other ways to compute it</summary>" + pre(text.substr(at)) + "</details>";
}

void write_failure(std::ostream& out, const Record& r, const Header& header, const Equations* equations) {
  const Outcome& o = r.outcome;
  out << fmt::format("<article><p><code>{}</code> <span class=\"verdict {}\">{}</span></p>", markup(r.id), name_of(o.verdict),
                     name_of(o.verdict));
  if (r.waived) out << fmt::format("<p>waived until {}: {}</p>", markup(r.waived->expires), markup(r.waived->reason));
  if (!o.why.empty()) out << fmt::format("<p>{}</p>", markup(o.why));
  if (o.offender) out << fmt::format("<p><code>{}</code></p>", markup(difference(*o.offender)));
  if (!o.cause.empty()) out << fmt::format("<p><b>{}</b></p>", markup(o.cause));
  out << pre(inputs_text(r.case_json, equations == nullptr ? std::vector<std::string>{} : equations->operands));
  if (!r.reproduction.empty()) out << "<p class=\"dim\">without Etalon</p>" << pre(r.reproduction);
  out << pre(replay_line(header.replay, header.command, r.id)) << "</article>\n";
}

void write_kind(std::ostream& out, const Kind& kind, std::vector<const Record*> records, const Header& header,
                const Equations* equations) {
  std::stable_sort(records.begin(), records.end(),
                   [](const Record* a, const Record* b) { return a->case_json.size() < b->case_json.size(); });
  out << fmt::format("<h3>{}: {}</h3>\n", markup(kind), records.size());
  for (std::size_t i = 0; i < std::min(records.size(), most_shown); ++i) write_failure(out, *records[i], header, equations);
  if (records.size() <= most_shown) return;
  out << fmt::format("<details><summary>and {} more of this kind</summary>", records.size() - most_shown);
  for (std::size_t i = most_shown; i < records.size(); ++i)
    out << fmt::format("<p><code>{}</code> {}</p>", markup(records[i]->id), markup(finding(records[i]->outcome)));
  out << "</details>\n";
}

}  // namespace

void write_failures(std::ostream& out, const Report& report) {
  constexpr std::size_t few = 3;
  std::map<std::string, Failures> found;
  std::size_t all = 0;
  for (const Record& r : report.records) {
    if (!is_bad(r.outcome.verdict) && !r.waived) continue;
    Failures& f = found[r.operation];
    f.kinds[fmt::format("{} {} {}", r.check, r.mode, r.dtype)].push_back(&r);
    ++(r.waived ? f.waived : f.bad);
    ++all;
  }
  if (found.empty()) return;
  std::vector<std::pair<std::string, Failures>> operations(found.begin(), found.end());
  std::stable_sort(operations.begin(), operations.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.bad, a.second.waived) > std::pair(b.second.bad, b.second.waived);
  });
  out << "<h2 id=\"failures\">Failures</h2>\n";
  for (const auto& [name, f] : operations) {
    const Equations* equations = equations_of(report, name);
    out << fmt::format("<details id=\"fail-{0}\" data-find{2}><summary><b>{0}</b> <span class=\"dim\">{1}</span></summary>\n",
                       markup(name), f.bad + f.waived, all <= few ? " open" : "");
    if (equations != nullptr) out << equations_text(equations->text);
    for (const auto& [kind, records] : f.kinds) write_kind(out, kind, records, report.header, equations);
    out << "</details>\n";
  }
}

}  // namespace etalon::conformance
