/// \file
/// Learning rates as functions of the number of steps made so far: step is 0 at the first, t - 1 for an optimizer's t.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct ConstantScheduleText {
  static constexpr std::string_view text = R"(-- The same value at every step.
constant_schedule(step : int) {value : real, dtype = f32} -> y : dtype
  requires dtype == f32 or dtype == f64
  y = value
)";
};
inline constexpr Operation<ConstantScheduleText> constant_schedule{};

struct LinearScheduleText {
  static constexpr std::string_view text = R"(-- From initial to final on a straight line within the given number of steps, then final.
linear_schedule(step : int) {initial : real, final = 0.0, steps : int, dtype = f32} -> y : dtype
  requires dtype == f32 or dtype == f64
  requires steps > 0
  y = if step >= steps then final else initial + (final - initial)*(maximum(step, 0)/steps)
)";
};
inline constexpr Operation<LinearScheduleText> linear_schedule{};

struct CosineScheduleText {
  static constexpr std::string_view text = R"(-- From initial to final along half a wave of the cosine within the given number of steps, then final.
cosine_schedule(step : int) {initial : real, final = 0.0, steps : int, dtype = f32} -> y : dtype
  requires dtype == f32 or dtype == f64
  requires steps > 0
  y = if step >= steps then final else final + (initial - final)*((1 + cos(pi*(maximum(step, 0)/steps)))/2)
)";
};
inline constexpr Operation<CosineScheduleText> cosine_schedule{};

struct WarmupScheduleText {
  static constexpr std::string_view text = R"(-- From initial to peak on a straight line within the given number of steps, then what the schedule after it says.
warmup_schedule(step : int, after) {initial = 0.0, peak : real, steps : int} -> y
  requires steps > 0
  y = if step >= steps then after else initial + (peak - initial)*(maximum(step, 0)/steps)
)";
};
inline constexpr Operation<WarmupScheduleText> warmup_schedule{};

struct StaircaseScheduleText {
  static constexpr std::string_view text = R"(-- Multiplied by gamma after every so many steps.
staircase_schedule(step : int) {initial : real, every : int, gamma = 0.1, dtype = f32} -> y : dtype
  requires dtype == f32 or dtype == f64
  requires every > 0
  y = initial*gamma^(maximum(step, 0) // every)
)";
};
inline constexpr Operation<StaircaseScheduleText> staircase_schedule{};

struct MultistepScheduleText {
  static constexpr std::string_view text = R"(-- Multiplied by gamma at every milestone that the step has reached.
multistep_schedule(step : int, milestones[m] : int) {initial : real, gamma = 0.1, dtype = f32} -> y : dtype
  requires dtype == f32 or dtype == f64
  y = initial*gamma^(sum[k] integer(milestones[k] <= step))
)";
};
inline constexpr Operation<MultistepScheduleText> multistep_schedule{};

struct ExponentialScheduleText {
  static constexpr std::string_view text = R"(-- Multiplied by gamma at every step.
exponential_schedule(step : int) {initial : real, gamma : real, dtype = f32} -> y : dtype
  requires dtype == f32 or dtype == f64
  y = initial*gamma^maximum(step, 0)
)";
};
inline constexpr Operation<ExponentialScheduleText> exponential_schedule{};

/// What the library registers of this family.
using SchedulesOperations = spec::OperationList<ConstantScheduleText, LinearScheduleText, CosineScheduleText,
                                                WarmupScheduleText, StaircaseScheduleText, MultistepScheduleText,
                                                ExponentialScheduleText>;

}  // namespace etalon::ops
