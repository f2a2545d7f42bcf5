/// \file
/// Checks of steps while a run trains: drawn steps are computed again in another way, or recorded and judged; what does not
/// hold is told apart into what repeats and what does not. It knows neither devices nor bounds.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "training/shadow/computation.hpp"
#include "training/shadow/policy.hpp"
#include "training/shadow/results.hpp"
#include "training/state.hpp"

namespace etalon::training {

/// A step that has no result: its computations do not agree, or one that is outside its bounds repeats. One line.
class NotRepeated : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ways in which a step is computed besides the run's own.
struct OtherWays {
  /// Of the step of that number from the state before it.
  std::function<Computation(std::int64_t step, const Named& before)> replay{};
  /// Null where nobody judges. \param claimed as StepJudge
  std::function<JudgedComputation(std::int64_t step, const Named& before, const Named* claimed)> judge{};
};

class Shadow {
 public:
  /// \param run the run's id \param state that steps work on \param say gets a line for each fault that did not repeat
  /// \throws SpecViolation for a policy that judges where nobody does
  Shadow(const ShadowPolicy& policy, std::string run, State state, OtherWays ways, std::function<void(const std::string&)> say);

  /// Computes a step, and checks it where it is drawn. Where a replay differs, the step is computed twice more, once in either
  /// way: what three of four agree on is its result. Where judging finds a fault, the step is judged twice more, and the fault
  /// must not come back. \param compute the step on the state as it is, once more each time that it is called
  /// \throws NotRepeated where no three agree, or a fault comes back
  [[nodiscard]] Outcome run(std::int64_t step, const std::function<Outcome()>& compute);

  /// What was found since it was asked last.
  [[nodiscard]] ShadowResults take();

 private:
  [[nodiscard]] Computation own(const std::function<Outcome()>& compute) const;
  [[nodiscard]] Computation replayed(std::int64_t step, const Named& before, Computation first, const std::function<Outcome()>& compute);
  [[nodiscard]] JudgedComputation judged(std::int64_t step, const Named& before);
  [[nodiscard]] std::string explained(std::int64_t step, const Named& before, const Computation& wrong, const Computation& right) const;
  void note_transient(std::string line);

  ShadowPolicy policy_;
  std::string run_;
  State state_;
  OtherWays ways_;
  std::function<void(const std::string&)> say_;
  ShadowResults results_;
};

}  // namespace etalon::training
