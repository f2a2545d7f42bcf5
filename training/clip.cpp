#include "training/clip.hpp"

#include <fmt/format.h>

#include <string>

#include "spec/error.hpp"

namespace etalon::training {

namespace {

constexpr const char* text =
    R"(-- By what gradients are multiplied, so that their norm is at most a percentile of the last norms, this one included.
clip_by_percentile(g#[..r#], norms[w], step : int) {percent} -> f, later[w]
  s = sum[t] sum[..i] g#t[..i]*g#t[..i]
  n = if s <= 0 then 0 else sqrt(s)
  later[i < w] = if i == (step - 1) % w then n else norms[i]
  known = minimum(step, w)
  rank[i < w] = sum[j where j < known] integer(later[j] <= later[i])
  limit = min[i where i < known and 100*rank[i] >= percent*known] later[i] else n
  f = if n <= limit then 1 else limit/n
)";

}  // namespace

GradientOperation clip_by_percentile(double percent, std::int64_t window) {
  if (!(percent >= 0 && percent <= 100))
    throw SpecViolation(fmt::format("clip: a percentile of {}, expected 0 to 100", percent));
  if (window < 1) throw SpecViolation(fmt::format("clip: a window of {} steps, expected 1 or more", window));
  return {"clip_by_percentile", {{"percent", percent}}, text, {{"clip.norms", DType::f32, {window}, 0}}};
}

}  // namespace etalon::training
