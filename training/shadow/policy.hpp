/// \file
/// Which steps of a run are checked while it trains, and how likely a fault is met. It runs nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace etalon::training {

/// How often steps are checked. Which ones follows from the run and their number, so that a run that is gone on with checks
/// the same ones.
struct ShadowPolicy {
  std::int64_t replay = 0;  ///< one step of so many is computed again, on average; 0: none
  std::int64_t judge = 0;   ///< one step of so many is recorded and held to its bounds; 0: none

  [[nodiscard]] bool checks() const { return replay > 0 || judge > 0; }
  /// \param run the run's id \param step from 0
  [[nodiscard]] bool replays(std::string_view run, std::int64_t step) const;
  [[nodiscard]] bool judges(std::string_view run, std::int64_t step) const;
  friend bool operator==(const ShadowPolicy&, const ShadowPolicy&) = default;
};

/// `replay=1/20,judge=1/5000`, without what is not checked; empty for a policy that checks nothing.
[[nodiscard]] std::string to_text(const ShadowPolicy& policy);
/// \throws SpecViolation `WHERE: what is wrong` for anything else than `to_text` gives, in any order
[[nodiscard]] ShadowPolicy shadow_policy_of(std::string_view text, std::string_view where);

/// A kind of fault, by what finds it in a step where it is.
struct FaultKind {
  double replayed = 0;  ///< the chance that a replay differs: 1 where the fault does not repeat, 0 where it does
  double judged = 0;    ///< the chance that judging finds it
};

/// The chance that a run of so many steps meets one fault at least, where each step has one with that chance, independently:
/// 1 - (1 - f(ρa + (1 - ρa)pb))^n, with the rates ρ and p of the policy and the chances a and b of the fault's kind.
[[nodiscard]] double chance_of_alarm(const ShadowPolicy& policy, std::int64_t steps, double faulty, const FaultKind& kind);

}  // namespace etalon::training
