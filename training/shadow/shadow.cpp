#include "training/shadow/shadow.hpp"

#include <fmt/format.h>

#include <utility>

#include "spec/error.hpp"
#include "training/shadow/other_core.hpp"

namespace etalon::training {
namespace {

bool agree(const Computation& a, const Computation& b) { return a.state == b.state && a.outcome.outputs == b.outcome.outputs; }

std::int64_t elements_in(const Computation& computed) {
  std::int64_t count = 0;
  for (const auto& [name, value] : computed.state) count += value.dims.count();
  for (const auto& [name, value] : computed.outcome.outputs) count += value.dims.count();
  return count;
}

/// The first element in which a computation is not the right one.
std::string difference_of(const Computation& wrong, const Computation& right) {
  const std::string in_state = first_difference(wrong.state, right.state);
  if (!in_state.empty()) return in_state;
  const auto named = [](const Computation& c) { return Named(c.outcome.outputs.begin(), c.outcome.outputs.end()); };
  return first_difference(named(wrong), named(right));
}

}  // namespace

Shadow::Shadow(const ShadowPolicy& policy, std::string run, State state, OtherWays ways, std::function<void(const std::string&)> say)
    : policy_(policy), run_(std::move(run)), state_(std::move(state)), ways_(std::move(ways)), say_(std::move(say)) {
  if (policy_.judge > 0 && !ways_.judge) {
    throw SpecViolation(fmt::format("shadow {}: nobody judges these steps, expected replay alone", to_text(policy_)));
  }
}

Computation Shadow::own(const std::function<Outcome()>& compute) const {
  Outcome outcome = compute();
  return {std::move(outcome), state_.download(), fmt::format("core {}", this_core())};
}

Outcome Shadow::run(std::int64_t step, const std::function<Outcome()>& compute) {
  bool replays = policy_.replays(run_, step);
  const bool judges = policy_.judges(run_, step);
  if (!replays && !judges) return compute();
  const Named before = state_.download();
  Computation result = own(compute);
  if (judges) {
    ++results_.judged;
    // What is stored on the way may be rounded otherwise: then other bits are no fault, and a replay decides.
    replays = !agree(result, judged(step, before).computation) || replays;
  }
  if (replays) result = replayed(step, before, std::move(result), compute);
  if (policy_.replays(run_, step)) ++results_.replayed;
  return std::move(result.outcome);
}

/// The step's result, which was computed once already.
Computation Shadow::replayed(std::int64_t step, const Named& before, Computation first, const std::function<Outcome()>& compute) {
  const Computation other = ways_.replay(step, before);
  results_.compared += elements_in(first);
  if (agree(first, other)) return first;
  state_.upload(before, Upload::strict, Part::all);
  Computation second = own(compute);
  // The first two differ: three that agree are the second two and one of them. Then the state is the second's, which is right.
  const bool as_first = agree(second, first);
  if (!agree(second, ways_.replay(step, before)) || !(as_first || agree(second, other))) {
    throw NotRepeated(explained(step, before, first, other) +
                      "; of four computations no three agree: this machine, or this build, does not compute what it should");
  }
  note_transient(explained(step, before, as_first ? other : first, second) +
                 "; it did not repeat, and training goes on with what three of four computations agree on");
  return second;
}

/// The step computed with all values kept, within its bounds.
JudgedComputation Shadow::judged(std::int64_t step, const Named& before) {
  const auto judge = [&] {
    JudgedComputation found = ways_.judge(step, before, nullptr);
    results_.elements += static_cast<std::int64_t>(found.judgement.elements);
    results_.undecided += static_cast<std::int64_t>(found.judgement.undecided);
    return found;
  };
  JudgedComputation found = judge();
  if (found.judgement.faults.empty()) return found;
  const std::string fault = fmt::format("step {} on {}: {}", step + 1, found.computation.where, found.judgement.faults.front());
  for (int again = 0; again < 2; ++again) {
    found = judge();
    if (found.judgement.faults.empty()) continue;
    throw NotRepeated(fault + "; outside its bounds again: this machine, or this build, does not compute what it should");
  }
  note_transient(fault + "; it did not repeat, and was in what was recorded alone");
  return found;
}

/// What is wrong, and the assignment that gave it, where the wrong number is outside its bounds and the right one inside.
std::string Shadow::explained(std::int64_t step, const Named& before, const Computation& wrong, const Computation& right) const {
  std::string line = fmt::format("step {} on {}, compared with {}: {}", step + 1, wrong.where, right.where, difference_of(wrong, right));
  if (!ways_.judge || wrong.state == right.state) return line;
  if (!ways_.judge(step, before, &right.state).judgement.faults.empty()) return line;
  const std::vector<std::string> faults = ways_.judge(step, before, &wrong.state).judgement.faults;
  return faults.empty() ? line + ", within its bounds" : fmt::format("{}: {}", line, faults.front());
}

void Shadow::note_transient(std::string line) {
  if (say_) say_(line);
  results_.transient.push_back(std::move(line));
}

ShadowResults Shadow::take() { return std::exchange(results_, {}); }

}  // namespace etalon::training
