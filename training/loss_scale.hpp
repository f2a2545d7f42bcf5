/// \file
/// Scaling of the loss, so that small gradients do not vanish below the smallest number: a power of two and a count of
/// good steps in the store, both updated by equations. It knows no model.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/program/trace.hpp"

namespace etalon::training {

/// Gradients are taken of the loss times a scale and divided by it again. A step with a gradient that is not finite
/// keeps everything and halves the scale; a number of steps in a row without one doubles it.
struct LossScaling {
  double first = 65536;          ///< a power of two from 2^-64 to 2^64, which the scale never leaves
  std::int64_t patience = 2000;  ///< good steps until it is doubled
};

/// \throws SpecViolation for a first scale that is no power of two or too large or small, or no patience.
void require_sound(const LossScaling& scaling);

namespace names {
inline constexpr const char* loss_scale = "loss_scale";  ///< f32 scalar
inline constexpr const char* good_steps = "good_steps";  ///< i64 scalar, since the scale last changed
inline constexpr const char* verdict = "verdict";        ///< output: 0 where all gradients are finite, else NaN
}  // namespace names

/// The scale in one program.
class LossScale {
 public:
  /// Declares the scale as a parameter of the program.
  LossScale(spec::Tracer& tracer, const LossScaling& scaling);

  /// What to take gradients of.
  [[nodiscard]] Traced scaled(const Traced& loss) const;

  struct Decision {
    std::vector<Traced> gradients;  ///< `share` times those of the loss itself, f32
    Traced verdict;                 ///< a scalar, 0 where all of them are finite, else NaN
  };
  /// Writes the updates of scale and count, and says what is to be done with the gradients of the scaled loss. In f32
  /// every bit is as without a scale, as long as nothing over- or underflows.
  [[nodiscard]] Decision decide(spec::Tracer& tracer, const std::vector<Traced>& scaled_gradients, double share) const;

 private:
  LossScaling scaling_;
  Traced scale_;
};

}  // namespace etalon::training
