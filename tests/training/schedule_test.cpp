// Rates that rise and fall, and clipping by past norms: numbers that can be worked out by hand.
#include <boost/hana/define_struct.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "spec/error.hpp"
#include "spec/library/operations.hpp"
#include "training/clip.hpp"
#include "training/schedules.hpp"
#include "training/tasks/tasks.hpp"
#include "training/trainer.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

template <template <class> class V>
struct Slope {
  BOOST_HANA_DEFINE_STRUCT(Slope, (V<Shape<1, 1>>, slope));
};

/// loss = slope·x, whose gradient is x; plain gradient descent at rate 1.
Task descent() {
  Task task;
  task.name = "descent";
  use_model(task, Slope<Declared>{Initialiser{"zeros"}},
            [](const Slope<Untyped>& m, const Traced& x, const Noise<Untyped>*) {
              return ops::linear(x, m.slope, spec::absent);
            });
  task.loss = [](const Traced& answers, const Traced&) { return ops::mean(answers); };
  task.rate = [](const Traced& step_n, std::int64_t) { return spec::real(step_n) * 0 + 1.0; };
  task.groups = {{"*", {"sgd", {{"momentum", 0.0}}, 0}}};
  return task;
}

std::vector<double> rates_of(const Task& task, std::int64_t steps) {
  const auto rows = static_cast<std::size_t>(steps);
  Trainer trainer(task, {1, 0, std::vector<float>(rows, 1), {}, std::vector<float>(rows, 0)},
                  TrainerOptions{1, 1, 1, false});
  std::vector<double> rates;
  trainer.run([&](const StepRecord& record) { rates.push_back(record.rate); });
  return rates;
}

}  // namespace

TEST_CASE("a_cyclic_rate_goes_up_and_down_again", "[schedules]") {
  Task task = descent();
  task.rate = [](const Traced& step_n, std::int64_t) { return rate_of(step_n, CyclicRate{0.25, 1.25, 4}); };
  CHECK(rates_of(task, 10) == std::vector<double>{0.25, 0.5, 0.75, 1, 1.25, 1, 0.75, 0.5, 0.25, 0.5});
}

TEST_CASE("one_cycle_rises_to_its_peak_and_falls_to_its_end", "[schedules]") {
  Task task = descent();
  task.rate = [](const Traced& step_n, std::int64_t) { return rate_of(step_n, OneCycleRate{0.25, 1, 0.125, 2, 6}); };
  const std::vector<double> rates = rates_of(task, 9);
  const double pi = std::acos(-1.0);
  REQUIRE(rates.size() == 9);
  for (std::size_t n = 0; n < 9; ++n) {
    const auto at = static_cast<double>(n);
    const double up = 1 - 0.75 * (1 + std::cos(pi * at / 2)) / 2,
                 down = 0.125 + 0.875 * (1 + std::cos(pi * (at - 2) / 4)) / 2;
    const double exact = n < 2 ? up : n < 6 ? down : 0.125;
    // Of numbers up to 2: the argument, the cosine and five operations round in binary32.
    CHECK(std::abs(rates[n] - exact) <= 2 * 8 * 0x1p-24);
  }
  CHECK(rates[2] == 1);
  CHECK(rates[6] == 0.125);
  task.rate = [](const Traced& step_n, std::int64_t) { return rate_of(step_n, OneCycleRate{0.25, 1, 0.125, 6, 6}); };
  CHECK_THROWS_AS(rates_of(task, 2), SpecViolation);
}

TEST_CASE("gradients_are_clipped_to_a_percentile_of_past_norms", "[schedules][clip]") {
  Task task = descent();
  task.before = {clip_by_percentile(50, 4)};
  const std::vector<float> x{1, -2, 8, 4, 16};
  Trainer trainer(task, {1, 0, x, {}, std::vector<float>(5, 0)}, TrainerOptions{1, 1, 1, false});
  std::vector<float> slopes;
  trainer.run([&](const StepRecord&) { slopes.push_back(trainer.state().value("slope").view<float>()[0]); });
  // The least of the last four norms that half of them do not exceed: 1, 1, 2, 2, and 4 of {2, 8, 4, 16}.
  CHECK(slopes == std::vector<float>{-1, 0, -2, -4, -8});
  CHECK(trainer.state().download().at("clip.norms") == HostTensor::of<float>({4}, {16, 2, 8, 4}));
  CHECK_THROWS_WITH(clip_by_percentile(101, 4), "clip: a percentile of 101, expected 0 to 100");
  CHECK_THROWS_WITH(clip_by_percentile(std::nan(""), 4), "clip: a percentile of nan, expected 0 to 100");
  CHECK_THROWS_WITH(clip_by_percentile(10, 0), "clip: a window of 0 steps, expected 1 or more");
}

TEST_CASE("clipping_in_leaves_sees_the_joined_gradient", "[leaves][clip]") {
  Task task = descent();
  task.before = {clip_by_percentile(0, 4)};
  TrainerOptions options{1, 1, 2, false};
  options.grain = 1;
  // Means of two rows: 2, 4, 1.
  Trainer trainer(task, {1, 0, {1, 3, 3, 5, 2, 0}, {}, std::vector<float>(6, 0)}, options);
  std::vector<float> slopes;
  trainer.run([&](const StepRecord&) { slopes.push_back(trainer.state().value("slope").view<float>()[0]); });
  CHECK(slopes == std::vector<float>{-2, -4, -5});
}
