/// \file
/// A trainer whose steps are checked: the shadow and the replica that it compares with, put around it for as long as they
/// are there. It knows no run's folder.
#pragma once

#include <functional>
#include <string>

#include "training/shadow/replica.hpp"
#include "training/shadow/shadow.hpp"

namespace etalon::training {

class Checks {
 public:
  /// \param run the run's id \param judges empty where nobody judges \param say as Shadow
  /// \throws SpecViolation where the policy judges what nobody does; as Trainer
  Checks(Trainer& trainer, const ShadowPolicy& policy, const std::string& run, const StepJudgeMaker& judges,
         std::function<void(const std::string&)> say);
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;
  ~Checks() { trainer_.surround({}); }

  /// Lines for people: what is checked in which way, and how likely faults are met that one step in a thousand has.
  [[nodiscard]] std::string text() const;
  /// What was found since it was asked last.
  [[nodiscard]] ShadowResults take() { return shadow_.take(); }

 private:
  Trainer& trainer_;
  ShadowPolicy policy_;
  Replica replica_;
  Shadow shadow_;
};

}  // namespace etalon::training
