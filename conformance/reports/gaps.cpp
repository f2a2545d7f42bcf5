#include "conformance/reports/gaps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace etalon::conformance {
namespace {

struct Tally {
  std::size_t compared = 0, unsupported = 0, bad = 0;
  std::vector<const Record*> refused;

  void add(const Record& r) {
    // To refuse what is ill-typed compares no number.
    if (r.check == name_of(Check::rejection)) return;
    compared += r.outcome.comparisons;
    bad += is_bad(r.outcome.verdict) || r.waived ? 1 : 0;
    if (r.outcome.verdict != Verdict::unsupported) return;
    ++unsupported;
    refused.push_back(&r);
  }
  [[nodiscard]] bool is_gap() const { return compared == 0 && bad == 0 && unsupported > 0; }
};

std::vector<Reason> reasons_among(const std::vector<const Record*>& records) {
  std::map<std::string, std::pair<std::size_t, std::set<std::string>>> counts;
  for (const Record* r : records) {
    auto& [times, operations] = counts[r->outcome.why.empty() ? "no reason given" : r->outcome.why];
    ++times;
    operations.insert(r->operation);
  }
  std::vector<Reason> reasons;
  for (const auto& [why, found] : counts)
    reasons.push_back({why, found.first, {found.second.begin(), found.second.end()}});
  std::stable_sort(reasons.begin(), reasons.end(), [](const Reason& a, const Reason& b) { return a.times > b.times; });
  return reasons;
}

void add_gaps(std::vector<NeverCompared>& gaps, const std::map<std::string, Tally>& tallies) {
  for (const auto& [what, tally] : tallies) {
    if (tally.is_gap()) gaps.push_back({what, reasons_among(tally.refused)});
  }
}

}  // namespace

std::vector<Reason> reasons_of(const std::vector<Record>& records) {
  std::vector<const Record*> refused;
  for (const Record& r : records) {
    if (r.outcome.verdict == Verdict::unsupported) refused.push_back(&r);
  }
  return reasons_among(refused);
}

std::vector<NeverCompared> never_compared(const Report& report) {
  std::vector<NeverCompared> gaps;
  if (!report.whole) return gaps;
  std::map<std::string, Tally> operations, modes, dtypes;
  for (const Record& r : report.records) {
    operations[r.operation].add(r);
    modes[r.mode].add(r);
    dtypes[r.dtype].add(r);
  }
  add_gaps(gaps, operations);
  const Selection& selection = report.header.selection;
  if (!selection.operations.empty() || !selection.shard.empty()) return gaps;
  add_gaps(gaps, modes);
  add_gaps(gaps, dtypes);
  return gaps;
}

std::string words_of(const Reason& reason) {
  constexpr std::size_t most = 6;
  const auto named = reason.operations.begin() + static_cast<std::ptrdiff_t>(std::min(most, reason.operations.size()));
  std::string names = fmt::format("{}", fmt::join(reason.operations.begin(), named, ", "));
  if (reason.operations.size() > most) names += fmt::format(" and {} more", reason.operations.size() - most);
  return fmt::format("{}, {}× ({})", reason.why, reason.times, names);
}

std::string words_of(const NeverCompared& gap) {
  constexpr std::size_t most = 3;
  std::string text = gap.what + ": offered, nothing compared: ";
  for (std::size_t i = 0; i < std::min(most, gap.reasons.size()); ++i)
    text += fmt::format("{}{}, {}×", i > 0 ? "; " : "", gap.reasons[i].why, gap.reasons[i].times);
  return gap.reasons.size() <= most ? text : text + fmt::format("; and {} more reasons", gap.reasons.size() - most);
}

}  // namespace etalon::conformance
