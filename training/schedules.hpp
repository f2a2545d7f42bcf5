/// \file
/// Learning rates that rise and fall again, as equations over the number of the step. Those that a step alone decides
/// and the library has are in spec/library/schedules.hpp.
#pragma once

#include <cstdint>

#include "spec/program/trace.hpp"

namespace etalon::training {

/// From `low` to `high` and back on straight lines, again and again (Smith, 2017).
struct CyclicRate {
  double low = 0;
  double high = 0;
  std::int64_t half = 1;  ///< steps from one to the other
};

/// From `first` to `peak` and down to `last`, each along half a wave of the cosine, then `last` (Smith and Topin,
/// 2018).
struct OneCycleRate {
  double first = 0;
  double peak = 0;
  double last = 0;
  std::int64_t rise = 1;   ///< steps from first to peak
  std::int64_t steps = 2;  ///< to last
};

/// The rate, f32, of the step, which counts from 0. \throws SpecViolation for a half of no step.
[[nodiscard]] Traced rate_of(const Traced& step_n, const CyclicRate& cycle);
/// \throws SpecViolation unless there is a step on either side of the peak.
[[nodiscard]] Traced rate_of(const Traced& step_n, const OneCycleRate& cycle);

}  // namespace etalon::training
