#include "conformance/pack/choice.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "conformance/cases.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::conformance {
namespace {

/// Numbers that a test's tensors hold at most: more make a pack long, and show what fewer show too.
constexpr std::size_t most_elements = 128;

/// Cases of one operation and element type in the quick tier; none of the checks that ask twice, for layouts or for many calls.
struct Share {
  Check check;
  std::size_t cases;
};
constexpr std::array shares{Share{Check::value, 14}, Share{Check::jvp, 8},  Share{Check::vjp, 10},      Share{Check::step, 2},
                            Share{Check::special, 4}, Share{Check::second, 2}, Share{Check::rejection, 2}};

[[nodiscard]] std::size_t share_of(Check check) {
  const auto* const found = std::find_if(shares.begin(), shares.end(), [&](const Share& s) { return s.check == check; });
  return found == shares.end() ? 0 : found->cases;
}

/// What a case may be the first to meet.
[[nodiscard]] std::set<std::string> facets_of(const Case& c) {
  std::set<std::string> facets(c.classes.begin(), c.classes.end());
  for (const auto& [name, value] : c.call.attributes) facets.insert(name + "=" + spec::attribute_to_json(value).dump());
  for (std::size_t i = 0; i < c.call.operands.size(); ++i) {
    const std::string place = std::to_string(i);
    const auto& type = c.call.operands[i];
    if (!type) {
      facets.insert("absent " + place);
      continue;
    }
    facets.insert("rank " + place + " " + std::to_string(type->dims.rank));
    facets.insert("type " + place + " " + std::string(name_of(type->dtype)));
    for (const std::int64_t extent : type->dims) facets.insert("extent " + place + (extent > 2 ? " many" : " " + std::to_string(extent)));
  }
  return facets;
}

struct Candidate {
  Case drawn;
  std::set<std::string> facets;
  bool taken = false;
};

[[nodiscard]] std::vector<Candidate> candidates(const Unit& unit, const ConformOptions& options) {
  std::vector<Candidate> all;
  Cases cases(unit, options);
  while (auto next = cases.next()) {
    if (next->made && elements_of(*next->made) <= most_elements) all.push_back({std::move(*next->made), {}});
  }
  for (Candidate& c : all) c.facets = facets_of(c.drawn);
  return all;
}

[[nodiscard]] std::size_t news(const Candidate& c, const std::set<std::string>& met) {
  return static_cast<std::size_t>(std::count_if(c.facets.begin(), c.facets.end(), [&](const std::string& f) { return !met.contains(f); }));
}

}  // namespace

std::vector<Unit> packed_units(const ConformOptions& options) {
  std::vector<Unit> units = plan(options);
  std::erase_if(units, [](const Unit& unit) { return share_of(unit.check) == 0; });
  return units;
}

std::vector<Case> chosen_cases(const Unit& unit, const ConformOptions& options) {
  std::vector<Candidate> all = candidates(unit, options);
  const std::size_t times = static_cast<std::size_t>(1) << (3 * static_cast<unsigned>(options.tier));
  std::set<std::string> met;
  for (std::size_t n = share_of(unit.check) * times; n > 0; --n) {
    Candidate* best = nullptr;
    for (Candidate& c : all) {
      if (!c.taken && (best == nullptr || news(c, met) > news(*best, met))) best = &c;
    }
    if (best == nullptr) break;
    best->taken = true;
    met.insert(best->facets.begin(), best->facets.end());
  }
  std::vector<Case> chosen;
  for (Candidate& c : all) {
    if (c.taken) chosen.push_back(std::move(c.drawn));
  }
  return chosen;
}

}  // namespace etalon::conformance
