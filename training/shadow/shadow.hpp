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

  /// Computes a step, and checks it where it is drawn. Four computations are made where one does not hold: what three of
  /// them agree on is the step's result. \param compute the step, once more each time that it is called
  /// \throws NotRepeated where no three agree
  [[nodiscard]] Outcome run(std::int64_t step, const std::function<Outcome()>& compute);

  /// What was found since it was asked last.
  [[nodiscard]] ShadowResults take();

 private:
  using Way = std::function<JudgedComputation()>;

  [[nodiscard]] JudgedComputation own(const std::function<Outcome()>& compute) const;
  [[nodiscard]] JudgedComputation settled(std::int64_t step, const Named& before, JudgedComputation first, const Way& own, const Way& other);
  [[nodiscard]] std::string alarm(std::int64_t step, const Named& before, const JudgedComputation& wrong, const JudgedComputation& right) const;

  ShadowPolicy policy_;
  std::string run_;
  State state_;
  OtherWays ways_;
  std::function<void(const std::string&)> say_;
  ShadowResults results_;
};

}  // namespace etalon::training
