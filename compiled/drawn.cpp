#include "compiled/drawn.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "compiled/schedule/neighbours.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

/// What is decided with these decisions given; nothing where one of them cannot be.
std::optional<std::vector<DecisionLine>> taken_with(const std::vector<DecisionLine>& decisions, const spec::System& system, CompileOptions options,
                                                    const Machine& machine) {
  options.decisions = decisions;
  try {
    return lower_to_loops(system, {}, options, machine).deciding.taken();
  } catch (const SpecViolation&) {
    return std::nullopt;
  }
}

/// Of a kind that is drawn first: most lines are of few kinds.
DecisionLine one_of(const std::vector<DecisionLine>& taken, std::mt19937_64& engine) {
  std::set<std::string> kinds;
  for (const DecisionLine& line : taken) kinds.insert(line.kind);
  const std::string& kind = *std::next(kinds.begin(), static_cast<std::ptrdiff_t>(engine() % kinds.size()));
  std::vector<DecisionLine> of_kind;
  std::copy_if(taken.begin(), taken.end(), std::back_inserter(of_kind), [&](const DecisionLine& line) { return line.kind == kind; });
  return of_kind[engine() % of_kind.size()];
}

}  // namespace

std::vector<DecisionLine> drawn_decisions(const spec::System& system, const CompileOptions& options, const Machine& machine, const Drawing& drawing) {
  std::mt19937_64 engine(drawing.seed);
  std::vector<DecisionLine> drawn = options.decisions;
  std::vector<DecisionLine> taken = lower_to_loops(system, {}, options, machine).deciding.taken();
  for (std::size_t n = 0; n < drawing.changes && !taken.empty(); ++n) {
    const DecisionLine line = one_of(taken, engine);
    const std::vector<DecisionLine> others = neighbours(line, machine, taken, drawing.reorder_sums);
    if (others.empty()) continue;
    std::vector<DecisionLine> changed = with_decision(drawn, others[engine() % others.size()]);
    if (auto now = taken_with(changed, system, options, machine)) {
      drawn = std::move(changed);
      taken = std::move(*now);
    }
  }
  return drawn;
}

}  // namespace etalon::compiled
