#include "training/loss_scale.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "spec/error.hpp"
#include "spec/library/defined.hpp"

namespace etalon::training {

namespace {

// Within these the reciprocal of the scale, divided by up to 2^32 leaves, is no subnormal number.
constexpr double least_scale = 0x1p-64;
constexpr double most_scale = 0x1p64;

/// x - x is 0 for every number and NaN for what is none.
constexpr std::string_view verdict_text = R"(gradients_verdict(g#[..r#]) -> y
  y = sum[t] sum[..i] (g#t[..i] - g#t[..i])
)";
constexpr std::string_view next_text =
    R"(next_loss_scale(scale, good : int, verdict) {patience : int, least, most} -> y, n : int
  y = if verdict == 0 then (if good + 1 >= patience and scale < most then 2*scale else scale) else (if scale > least then scale/2 else scale)
  n = if verdict == 0 and good + 1 < patience then good + 1 else 0
)";

}  // namespace

void require_sound(const LossScaling& scaling) {
  int exponent = 0;
  const bool power = std::frexp(scaling.first, &exponent) == 0.5;
  if (!power || scaling.first < least_scale || scaling.first > most_scale) {
    throw SpecViolation(
        fmt::format("loss scaling: the first scale is {}, expected a power of two from 2^-64 to 2^64", scaling.first));
  }
  if (scaling.patience < 1) {
    throw SpecViolation(fmt::format("loss scaling: doubled after {} good steps, expected 1 or more", scaling.patience));
  }
}

LossScale::LossScale(spec::Tracer& tracer, const LossScaling& scaling)
    : scaling_(scaling), scale_(tracer.parameter(names::loss_scale, DType::f32, {})) {}

Traced LossScale::scaled(const Traced& loss) const { return loss * scale_; }

LossScale::Decision LossScale::decide(spec::Tracer& tracer, const std::vector<Traced>& scaled_gradients,
                                      double share) const {
  const auto label = tracer.section("loss scale");
  // A product with a power of two is exact: the sum of scaled gradients times (share / scale) is rounded once, where
  // the sum of gradients times share would be.
  const Traced factor = share / scale_;
  Decision decision{{}, define(verdict_text)(scaled_gradients)};
  for (const Traced& gradient : scaled_gradients) decision.gradients.push_back(gradient * factor);
  const Traced good = tracer.parameter(names::good_steps, DType::i64, {});
  const auto next =
      define<2>(next_text).set("patience", scaling_.patience).set("least", least_scale).set("most", most_scale);
  const auto [scale, count] = next(scale_, good, decision.verdict);
  tracer.assign(scale_, scale);
  tracer.assign(good, count);
  return decision;
}

}  // namespace etalon::training
