#include "training/shadow/shadow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "spec/error.hpp"
#include "training/shadow/other_core.hpp"

namespace etalon::training {
namespace {

bool agree(const JudgedComputation& a, const JudgedComputation& b) {
  return a.computation.state == b.computation.state && a.computation.outcome.outputs == b.computation.outcome.outputs;
}

bool holds(const JudgedComputation& one) { return one.judgement.faults.empty(); }

std::int64_t elements_in(const Named& state) {
  std::int64_t count = 0;
  for (const auto& [name, value] : state) count += value.dims.count();
  return count;
}

}  // namespace

Shadow::Shadow(const ShadowPolicy& policy, std::string run, State state, OtherWays ways, std::function<void(const std::string&)> say)
    : policy_(policy), run_(std::move(run)), state_(std::move(state)), ways_(std::move(ways)), say_(std::move(say)) {
  if (policy_.judge > 0 && !ways_.judge) throw SpecViolation(fmt::format("shadow {}: nobody judges these steps, expected replay alone", to_text(policy_)));
}

JudgedComputation Shadow::own(const std::function<Outcome()>& compute) const {
  Outcome outcome = compute();
  return {{std::move(outcome), state_.download(), fmt::format("core {}", this_core())}};
}

Outcome Shadow::run(std::int64_t step, const std::function<Outcome()>& compute) {
  const bool replays = policy_.replays(run_, step), judges = policy_.judges(run_, step);
  if (!replays && !judges) return compute();
  const Named before = state_.download();
  JudgedComputation result = own(compute);
  const Way again = [&] {
    state_.upload(before, Upload::strict, Part::all);
    return own(compute);
  };
  if (replays) {
    ++results_.replayed;
    result = settled(step, before, std::move(result), again, [&] { return JudgedComputation{ways_.replay(step, before)}; });
  }
  if (judges) {
    ++results_.judged;
    result = settled(step, before, std::move(result), again, [&] {
      JudgedComputation judged = ways_.judge(step, before, nullptr);
      results_.elements += static_cast<std::int64_t>(judged.judgement.elements);
      results_.undecided += static_cast<std::int64_t>(judged.judgement.undecided);
      return judged;
    });
  }
  return std::move(result.computation.outcome);
}

/// The result of a step that was computed once already: that of three computations among four, unless two agree at once.
JudgedComputation Shadow::settled(std::int64_t step, const Named& before, JudgedComputation first, const Way& own, const Way& other) {
  std::vector<JudgedComputation> all{std::move(first)};
  all.push_back(other());
  results_.compared += elements_in(all[0].computation.state);
  if (agree(all[0], all[1]) && holds(all[1])) return std::move(all[0]);
  all.push_back(own());
  all.push_back(other());
  for (const JudgedComputation& candidate : all) {
    const auto agrees = [&](const JudgedComputation& a) { return agree(a, candidate) && holds(a); };
    if (std::count_if(all.begin(), all.end(), agrees) < 3) continue;
    const auto wrong = std::find_if_not(all.begin(), all.end(), agrees), right = std::find_if(all.begin(), all.end(), agrees);
    // Those of the run itself are the first and the third, of which one at least is among three.
    const std::string line = fmt::format("{}; it did not repeat, and training goes on with what three of four computations agree on",
                                         alarm(step, before, *wrong, *right));
    results_.transient.push_back(line);
    if (say_) say_(line);
    JudgedComputation result = std::move(agrees(all[0]) ? all[0] : all[2]);
    state_.upload(result.computation.state, Upload::strict, Part::all);
    return result;
  }
  const bool outside = !holds(all[1]) || !holds(all[3]);
  throw NotRepeated(fmt::format("{}; of four computations no three agree{}: this machine, or this build, does not compute what it should",
                                alarm(step, before, all[outside && holds(all[1]) ? 3 : outside ? 1 : 0], all[outside ? 0 : 1]),
                                outside ? " and are within their bounds" : ""));
}

std::string Shadow::alarm(std::int64_t step, const Named& before, const JudgedComputation& wrong, const JudgedComputation& right) const {
  std::vector<std::string> faults = wrong.judgement.faults;
  const std::string difference = first_difference(wrong.computation.state, right.computation.state);
  if (faults.empty() && ways_.judge && !difference.empty()) {
    faults = ways_.judge(step, before, &wrong.computation.state).judgement.faults;
  }
  std::string line = fmt::format("step {} on {}", step + 1, wrong.computation.where);
  if (!difference.empty()) line += fmt::format(", compared with {}: {}", right.computation.where, difference);
  else if (faults.empty()) line += ": the loss differs";
  if (!faults.empty()) line += ": " + faults.front();
  return line;
}

ShadowResults Shadow::take() { return std::exchange(results_, {}); }

}  // namespace etalon::training
