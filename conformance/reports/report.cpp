#include "conformance/reports/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "conformance/number_text.hpp"
#include "conformance/values.hpp"
#include "spec/error.hpp"

namespace etalon::conformance {
namespace {

// Whether all numbers come from a density: those of lattices, ties or nearly equal numbers have no independent roundings.
bool is_drawn_from_densities(const Record& r) {
  constexpr std::array densities{Family::normal, Family::unit, Family::positive};
  for (int f = 0; f <= static_cast<int>(Family::special); ++f) {
    const auto family = static_cast<Family>(f);
    const bool met = std::find(r.classes.begin(), r.classes.end(), name_of(family)) != r.classes.end();
    if (met && std::find(densities.begin(), densities.end(), family) == densities.end()) return false;
  }
  return true;
}

// What must be equal for two files to be shares of one run.
std::string run_of(const Header& h) {
  return fmt::format("backend {} {}, contract {}, tier {}, seed {}, specification {}", h.backend, h.version, h.contract_json,
                     h.tier, h.seed, h.specification);
}

void append_missing(std::vector<Equations>& to, const std::vector<Equations>& from) {
  for (const Equations& e : from) {
    const bool known = std::any_of(to.begin(), to.end(), [&](const Equations& k) { return k.operation == e.operation; });
    if (!known) to.push_back(e);
  }
}

// A waiver that one share has used is used.
void add_uses(std::vector<WaiverUse>& to, const std::vector<WaiverUse>& from) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i == to.size()) to.push_back(from[i]);
    else to[i].matched += from[i].matched;
  }
}

}  // namespace

std::string words_of(const WaiverUse& use) {
  std::string text = use.operation;
  for (const std::string* word : {&use.mode, &use.check, &use.dtype}) {
    if (!word->empty()) text += " " + *word;
  }
  return text;
}

bool is_bad(Verdict v) { return v == Verdict::fail || v == Verdict::crashed || v == Verdict::timeout; }

std::string difference(const Offender& o) {
  const bool interval = !std::isnan(o.lower);
  const Compared shown = told_apart(o.lower, o.upper, o.got, o.dtype);
  std::string expected = interval ? fmt::format("in [{}, {}]", shown.lower, shown.upper) : std::string();
  if (!o.expected.empty()) expected += (interval ? " or " : "") + o.expected;
  return fmt::format("{}[{}]: expected {}, got {}", o.tensor, o.element, expected, shown.got);
}

std::string finding(const Outcome& outcome) {
  std::string text = outcome.why;
  if (outcome.offender) text += (text.empty() ? "" : "; ") + difference(*outcome.offender);
  return text.empty() ? std::string(name_of(outcome.verdict)) : text;
}

void Totals::add(const Record& record) {
  ++verdicts[static_cast<std::size_t>(record.outcome.verdict)];
  comparisons += record.outcome.comparisons;
  undecided += record.outcome.undecided;
  answered = answered || (record.outcome.comparisons > 0 && record.check != name_of(Check::rejection));
}

Totals totals_of(const std::vector<Record>& records) {
  Totals totals;
  for (const Record& r : records) totals.add(r);
  return totals;
}

Conclusion conclusion(const Report& report) {
  const Totals totals = totals_of(report.records);
  if (!report.whole) return {false, "the run was interrupted: nothing is concluded"};
  if (totals.bad() > 0) return {false, "does not conform"};
  if (!report.waiver_errors.empty()) return {false, "does not conform: waivers are out of date"};
  if (totals.answered) return {true, "conforms"};
  if (!report.header.selection.shard.empty()) return {true, "nothing was compared in this share: nothing is concluded"};
  return {false, "nothing was compared: does not conform"};
}

std::vector<std::string> undecided_operations(const std::vector<Record>& records) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> counts;
  for (const Record& r : records) {
    // A program has many operations; that its whole is badly conditioned says nothing of the first.
    if (r.check == name_of(Check::program)) continue;
    counts[r.operation].first += r.outcome.undecided;
    counts[r.operation].second += r.outcome.comparisons;
  }
  std::vector<std::string> names;
  for (const auto& [name, count] : counts) {
    if (count.first * 100 > count.second) names.push_back(name);
  }
  return names;
}

std::vector<Warning> statistical_warnings(const std::vector<Record>& records) {
  // Fewer elements may all be unlucky.
  constexpr std::size_t enough = 32;
  std::map<std::array<std::string, 3>, reference::Statistic> pooled;
  for (const Record& r : records) {
    if (r.outcome.verdict != Verdict::pass || !is_drawn_from_densities(r)) continue;
    pooled[{r.operation, r.mode, r.dtype}].add(r.outcome.statistic);
  }
  std::vector<Warning> warnings;
  for (const auto& [key, statistic] : pooled) {
    if (statistic.elements >= enough && statistic.rms() > 1) warnings.push_back({key[0], key[1], key[2], statistic});
  }
  return warnings;
}

Report merged(std::vector<Report> shares) {
  if (shares.empty()) throw SpecViolation("merge: there is no report");
  Report all = std::move(shares.front());
  for (std::size_t i = 1; i < shares.size(); ++i) {
    Report& share = shares[i];
    if (run_of(share.header) != run_of(all.header)) {
      throw SpecViolation(fmt::format("merge: the reports are not of one run: expected {}; found {}", run_of(all.header),
                                      run_of(share.header)));
    }
    std::move(share.records.begin(), share.records.end(), std::back_inserter(all.records));
    append_missing(all.equations, share.equations);
    add_uses(all.waivers, share.waivers);
    all.waiver_errors.insert(all.waiver_errors.end(), share.waiver_errors.begin(), share.waiver_errors.end());
    all.seconds += share.seconds;
    all.whole = all.whole && share.whole;
  }
  if (shares.size() > 1) all.header.selection = {};
  std::sort(all.records.begin(), all.records.end(), [](const Record& a, const Record& b) { return a.id < b.id; });
  const auto twice = std::adjacent_find(all.records.begin(), all.records.end(),
                                        [](const Record& a, const Record& b) { return a.id == b.id; });
  if (twice != all.records.end()) throw SpecViolation(fmt::format("merge: the case {} stands in two reports", twice->id));
  return all;
}

}  // namespace etalon::conformance
