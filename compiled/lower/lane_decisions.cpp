#include "compiled/lower/lane_decisions.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include <fmt/format.h>

namespace etalon::compiled::loops {

namespace {

std::vector<spec::Binder> loops_over_elements(const std::vector<Candidate>& candidates) {
  std::vector<spec::Binder> loops;
  for (const Candidate& c : candidates) {
    if (c.reduction == nullptr) loops.push_back(c.binder);
  }
  return loops;
}

LaneChoice given_lanes(const DecisionLine& line, const std::vector<spec::Binder>& loops) {
  if (line.is("off")) return {};
  const std::int64_t loop = line.number("loop", 0, static_cast<std::int64_t>(loops.size()) - 1);
  const auto width = static_cast<unsigned>(line.number("width", 2, most_lanes));
  const spec::Binder& binder = loops[static_cast<std::size_t>(loop)];
  if (binder.extent < 2) line.refuse(fmt::format("loop {} has one turn", loop));
  if (!std::has_single_bit(width)) line.refuse(fmt::format("width is a power of two, found '{}'", width));
  return {binder.variable, width};
}

DecisionLine line_of(const std::string& value, const LaneChoice& choice, std::size_t loop) {
  if (choice.variable < 0) return switched("lanes", value, false);
  return {"lanes", value, {{"loop", std::to_string(loop)}, {"width", std::to_string(choice.width)}}};
}

}  // namespace

LaneDecisions::LaneDecisions(const spec::System& system, const Machine& machine, bool on, Deciding& deciding)
    : names_(addresses(system)), has_vectors_(machine.has_vectors()), on_(on), deciding_(deciding) {}

LaneChoice LaneDecisions::follow(std::size_t equation, LaneChoice by_cost, const std::vector<Candidate>& candidates) {
  const std::vector<spec::Binder> loops = loops_over_elements(candidates);
  const auto number_of = [&](spec::VariableId v) {
    const auto found = std::find_if(loops.begin(), loops.end(), [&](const spec::Binder& b) { return b.variable == v; });
    return static_cast<std::size_t>(found - loops.begin());
  };
  const bool adds_up = by_cost.variable >= 0 && number_of(by_cost.variable) == loops.size();
  const bool none = std::all_of(loops.begin(), loops.end(), [](const spec::Binder& b) { return b.extent < 2; });
  if (!has_vectors_ || adds_up || none) return by_cost;
  const std::string& value = names_.at(equation);
  const DecisionLine* given = deciding_.given("lanes", value);
  const LaneChoice choice = given != nullptr ? given_lanes(*given, loops) : on_ ? by_cost : LaneChoice{};
  deciding_.take(line_of(value, choice, number_of(choice.variable)));
  return choice;
}

}  // namespace etalon::compiled::loops
