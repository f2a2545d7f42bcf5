#include "training/shadow/checks.hpp"

#include <fmt/format.h>

#include <utility>

namespace etalon::training {

Checks::Checks(Trainer& trainer, const ShadowPolicy& policy, const std::string& run, const StepJudgeMaker& judges,
               std::function<void(const std::string&)> say)
    : trainer_(trainer),
      policy_(policy),
      replica_(trainer, judges),
      shadow_(policy, run, trainer.state(), replica_.ways(), std::move(say)) {
  trainer_.surround([this](std::int64_t step, const std::function<Outcome()>& compute) { return shadow_.run(step, compute); });
}

std::string Checks::text() const {
  constexpr double faulty = 1e-3;
  const std::int64_t steps = trainer_.steps();
  std::string text = fmt::format("shadow {}: steps again on another core, {}; if one step in 1000 of {} is faulty, it is met\n",
                                 to_text(policy_), replica_.way(), steps);
  text += fmt::format("  with probability {:.3g} where the fault does not repeat\n", chance_of_alarm(policy_, steps, faulty, {1, 1}));
  text += fmt::format("  with probability {:.3g} where it repeats, and a value leaves its bounds\n",
                      chance_of_alarm(policy_, steps, faulty, {0, 1}));
  return text;
}

}  // namespace etalon::training
