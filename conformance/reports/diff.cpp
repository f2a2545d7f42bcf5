#include "conformance/reports/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <utility>

namespace etalon::conformance {
namespace {

struct Found {
  Verdict verdict = Verdict::pass;
  const Record* record = nullptr;
};

using Items = std::map<std::string, Found>;

// Better ones first.
int rank(Verdict v) {
  switch (v) {
    case Verdict::pass: return 0;
    case Verdict::waived: return 1;
    case Verdict::undecided: return 2;
    case Verdict::unsupported: return 3;
    default: return 4;
  }
}

// Of several cases of a kind a failure stands for all, and a case that says nothing for none.
int weight(Verdict v) {
  constexpr std::array<int, 5> weights{2, 3, 1, 0, 4};
  return weights[static_cast<std::size_t>(rank(v))];
}

std::string kind_of(const Record& r) { return fmt::format("{}.{}.{}.{}", r.operation, r.check, r.mode, r.dtype); }

Items items_of(const Report& report, bool by_id) {
  Items items;
  for (const Record& r : report.records) {
    const Verdict v = r.outcome.verdict;
    const auto [at, is_new] = items.try_emplace(by_id ? r.id : kind_of(r), Found{v, &r});
    if (!is_new && weight(v) > weight(at->second.verdict)) at->second = {v, &r};
  }
  return items;
}

Change change(const std::string& what, const Found* before, const Found* after) {
  const auto word = [](const Found* f) { return f == nullptr ? std::string() : std::string(name_of(f->verdict)); };
  const bool says = after != nullptr && after->verdict != Verdict::pass;
  return {what, word(before), word(after), says ? finding(after->record->outcome) : ""};
}

void write_list(std::ostream& out, const char* name, const std::vector<Change>& changes) {
  constexpr std::size_t most = 50;
  if (changes.empty()) return;
  out << fmt::format("{}: {}\n", name, changes.size());
  for (std::size_t i = 0; i < std::min(changes.size(), most); ++i) {
    const Change& c = changes[i];
    out << fmt::format("  {}: {} -> {}{}\n", c.what, c.before.empty() ? "not asked" : c.before,
                       c.after.empty() ? "not asked" : c.after, c.finding.empty() ? "" : ": " + c.finding);
  }
  if (changes.size() > most) out << fmt::format("  and {} more\n", changes.size() - most);
}

}  // namespace

Difference difference(const Report& before, const Report& after) {
  const Header &a = before.header, &b = after.header;
  Difference d;
  d.same_cases = a.specification == b.specification && a.tier == b.tier && a.seed == b.seed;
  const Items old_items = items_of(before, d.same_cases), new_items = items_of(after, d.same_cases);
  for (const auto& [what, now] : new_items) {
    const auto then = old_items.find(what);
    const Found* was = then == old_items.end() ? nullptr : &then->second;
    if (was == nullptr) {
      (is_bad(now.verdict) ? d.worse : d.fresh).push_back(change(what, was, &now));
    } else if (rank(now.verdict) == rank(was->verdict)) {
      ++d.unchanged;
    } else {
      (rank(now.verdict) > rank(was->verdict) ? d.worse : d.better).push_back(change(what, was, &now));
    }
  }
  for (const auto& [what, was] : old_items) {
    if (!new_items.contains(what)) d.gone.push_back(change(what, &was, nullptr));
  }
  return d;
}

void write_difference(std::ostream& out, const Difference& d) {
  if (!d.same_cases)
    out << "the runs differ in specification, tier or seed: compared by operation, check, mode and element type\n";
  write_list(out, "worse", d.worse);
  write_list(out, "better", d.better);
  write_list(out, "new", d.fresh);
  write_list(out, "not asked any more", d.gone);
  out << fmt::format("{} worse, {} better, {} new, {} not asked any more, {} unchanged\n", d.worse.size(), d.better.size(),
                     d.fresh.size(), d.gone.size(), d.unchanged);
}

}  // namespace etalon::conformance
