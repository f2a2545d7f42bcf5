#include "training/schedules.hpp"

#include <string_view>

#include "spec/library/defined.hpp"

namespace etalon::training {

namespace {

constexpr std::string_view cyclic_text = R"(cyclic_rate(step : int) {low, high, half : int, dtype = f32} -> y : dtype
  requires half > 0
  at = step % (2*half)
  y = low + (high - low)*(if at < half then at/half else (2*half - at)/half)
)";
constexpr std::string_view one_cycle_text =
    R"(one_cycle_rate(step : int) {first, peak, last, rise : int, steps : int, dtype = f32} -> y : dtype
  requires rise > 0
  requires steps > rise
  up = peak + (first - peak)*((1 + cos(pi*(step/rise)))/2)
  down = last + (peak - last)*((1 + cos(pi*((step - rise)/(steps - rise))))/2)
  y = if step < rise then up else if step < steps then down else last
)";

}  // namespace

Traced rate_of(const Traced& step_n, const CyclicRate& cycle) {
  return define(cyclic_text).set("low", cycle.low).set("high", cycle.high).set("half", cycle.half)(step_n);
}

Traced rate_of(const Traced& step_n, const OneCycleRate& cycle) {
  const auto shaped = define(one_cycle_text).set("rise", cycle.rise).set("steps", cycle.steps);
  return shaped.set("first", cycle.first).set("peak", cycle.peak).set("last", cycle.last)(step_n);
}

}  // namespace etalon::training
