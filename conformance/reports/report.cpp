#include "conformance/reports/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "conformance/number_text.hpp"
#include "conformance/reports/gaps.hpp"
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

// How far the answer is off: from the exact value, and from the middle of the interval.
std::string distance(const Offender& o) {
  std::string text;
  if (o.exact) text += fmt::format("; exact {}", told_apart(*o.exact, o.got).first);
  // Zero has no last place that would mean something to its reader.
  if (const auto off = o.exact && *o.exact != 0 ? ulps(o.got, *o.exact, o.dtype) : std::nullopt) text += fmt::format(", {} ulp away", distance_text(*off));
  const double half = o.upper / 2 - o.lower / 2;
  if (half > 0 && std::isfinite(half) && std::isfinite(o.got))
    text += fmt::format("{}{} half-widths from the middle", text.empty() ? "; " : ", ", distance_text(std::abs(o.got - (o.lower / 2 + o.upper / 2)) / half));
  return text;
}

std::string listed(const std::vector<NeverCompared>& gaps) {
  constexpr std::size_t most = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(most, gaps.size()); ++i) names += (i > 0 ? ", " : "") + gaps[i].what;
  return gaps.size() <= most ? names : names + fmt::format(" and {} more", gaps.size() - most);
}

// Of the profile that was asked for; a share alone need not have them all.
std::vector<std::string> missing_modes(const Selection& selection, const Covered& all) {
  std::vector<std::string> missing;
  const auto asked = std::find(profile_names.begin(), profile_names.end(), selection.profile);
  if (asked == profile_names.end() || !selection.shard.empty()) return missing;
  for (const spec::Mode mode : modes_of(static_cast<Profile>(asked - profile_names.begin()))) {
    const std::string name(spec::name_of(mode));
    if (std::find(all.modes.begin(), all.modes.end(), name) == all.modes.end()) missing.push_back(name);
  }
  return missing;
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
  return fmt::format("{}[{}]: expected {}, got {}{}", o.tensor, o.element, expected, shown.got, distance(o));
}

std::string replay_line(const std::string& written, const std::string& command, const std::string& id) {
  constexpr std::string_view place = "ID";
  const std::size_t at = written.find(place);
  if (at == std::string::npos) return fmt::format("etalon conform --backend {} --replay {}", command, id);
  return std::string(written).replace(at, place.size(), id);
}

std::string finding(const Outcome& outcome) {
  std::string text = outcome.why;
  if (outcome.offender) text += (text.empty() ? "" : "; ") + difference(*outcome.offender);
  if (!outcome.cause.empty()) text += (text.empty() ? "" : "; ") + outcome.cause;
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

Covered covered(const std::vector<Record>& records) {
  std::set<std::string> operations, modes;
  for (const Record& r : records) {
    if (r.outcome.comparisons == 0 || r.check == name_of(Check::rejection)) continue;
    operations.insert(r.operation);
    modes.insert(r.mode);
  }
  Covered all{operations.size(), {}, {}};
  std::vector<spec::Mode> known;
  for (std::size_t m = 0; m < spec::mode_names.size(); ++m) {
    if (!modes.contains(std::string(spec::mode_names[m]))) continue;
    all.modes.emplace_back(spec::mode_names[m]);
    known.push_back(static_cast<spec::Mode>(m));
  }
  all.profile = profile_of(known);
  return all;
}

std::string Covered::text() const {
  return fmt::format("{}, {} operation{}", profile ? std::string(name_of(*profile)) : fmt::format("{}", fmt::join(modes, " and ")),
                     operations, operations == 1 ? "" : "s");
}

Conclusion conclusion(const Report& report) {
  const Totals totals = totals_of(report.records);
  const Selection& selection = report.header.selection;
  if (!report.whole) return {false, "the run was interrupted: nothing is concluded"};
  if (totals.bad() > 0) return {false, "does not conform"};
  if (!report.waiver_errors.empty()) return {false, "does not conform: waivers are out of date"};
  if (!totals.answered && !selection.shard.empty()) return {true, "nothing was compared in this share: nothing is concluded"};
  if (!totals.answered) return {false, "nothing was compared: does not conform"};
  if (const auto gaps = never_compared(report); !gaps.empty())
    return {false, fmt::format("does not conform: offered and never compared: {}", listed(gaps))};
  const Covered all = covered(report.records);
  if (const auto missing = missing_modes(selection, all); !missing.empty())
    return {false, fmt::format("does not conform to {}: nothing compared in {}", selection.profile, fmt::join(missing, ", "))};
  return {true, "conforms: " + all.text()};
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
  if (shares.size() > 1) all.header.selection = {{}, {}, {}, "", {}, all.header.selection.profile};
  std::sort(all.records.begin(), all.records.end(), [](const Record& a, const Record& b) { return a.id < b.id; });
  const auto twice = std::adjacent_find(all.records.begin(), all.records.end(),
                                        [](const Record& a, const Record& b) { return a.id == b.id; });
  if (twice != all.records.end()) throw SpecViolation(fmt::format("merge: the case {} stands in two reports", twice->id));
  return all;
}

}  // namespace etalon::conformance
