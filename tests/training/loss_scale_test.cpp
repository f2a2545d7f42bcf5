// A scaled loss: the same bits as without, and a step whose gradients overflow keeps everything and halves the scale.
#include <boost/hana/define_struct.hpp>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "reference/backend.hpp"
#include "spec/error.hpp"
#include "spec/library/operations.hpp"
#include "training/session/session.hpp"
#include "training/tasks/tasks.hpp"
#include "training/trainer.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

Dataset some_digits() {
  static const Dataset all = read_digits(ETALON_SOURCE_DIR "/training/data/digits.csv.gz");
  std::vector<std::int64_t> rows(96);
  std::iota(rows.begin(), rows.end(), 0);
  return select_rows(all, rows);
}

TrainerOptions two_epochs(std::int64_t grain) {
  TrainerOptions options{3, 2, 48};
  options.grain = grain;
  return options;
}

Named trained(Task task, const std::optional<LossScaling>& scaling, std::int64_t grain) {
  task.loss_scaling = scaling;
  Trainer trainer(task, some_digits(), two_epochs(grain));
  trainer.run([](const StepRecord& record) { CHECK_FALSE(record.kept); });
  Named state = trainer.state().download();
  CHECK(state.count(names::loss_scale) == (scaling ? 1 : 0));
  if (scaling) CHECK(state.at(names::loss_scale) == HostTensor::of<float>({}, {static_cast<float>(scaling->first)}));
  state.erase(names::loss_scale);
  state.erase(names::good_steps);
  return state;
}

template <template <class> class V>
struct Line {
  BOOST_HANA_DEFINE_STRUCT(Line, (V<Shape<1, 1>>, slope));
};

/// loss = mean(slope·x·y), whose gradient is mean(x·y).
Task line(double first_scale, std::int64_t patience) {
  Task task;
  task.name = "line";
  use_model(task, Line<Declared>{Initialiser{"zeros"}},
            [](const Line<Untyped>& m, const Traced& x, const Noise<Untyped>*) {
              return ops::linear(x, m.slope, spec::absent);
            });
  task.loss = [](const Traced& answers, const Traced& targets) { return ops::mean(answers * targets); };
  task.rate = [](const Traced& step_n, std::int64_t) { return spec::real(step_n) * 0 + 0.5; };
  task.groups = {{"*", {"adam"}}};
  task.loss_scaling = LossScaling{first_scale, patience};
  return task;
}

Dataset products(std::vector<float> x) {
  const std::size_t rows = x.size();
  return {1, 0, std::move(x), {}, std::vector<float>(rows, 1.0F)};
}

float scale_of(Trainer& trainer) { return trainer.state().store().read(names::loss_scale).view<float>()[0]; }
std::int64_t good_of(Trainer& trainer) {
  return trainer.state().store().read(names::good_steps).view<std::int64_t>()[0];
}

}  // namespace

TEST_CASE("a_scale_changes_no_bit_of_a_run_without_overflow", "[loss_scale]") {
  struct Case {
    Task task;
    std::int64_t grain;
    double first;
  };
  for (const Case& one : {Case{digits_mlp(), 48, 1024.0}, Case{digits_mlp(), 8, 0x1p-10}, Case{digits_cnn(), 8, 1024.0}}) {
    const bool same = trained(one.task, LossScaling{one.first}, one.grain) == trained(one.task, {}, one.grain);
    CHECK(same);
  }
}

TEST_CASE("a_step_whose_gradient_overflows_keeps_the_state_and_halves_the_scale", "[loss_scale]") {
  // The gradient of the second step of each epoch is 2^120: times 2^9 it is infinite. Three good steps later the scale
  // is what it was, and is halved again.
  const Dataset rows = products({1, 1, 0x1p120F, 0x1p120F, 1, 1, 1, 1});
  for (const std::int64_t grain : {2, 1}) {
    TrainerOptions options{1, 4, 2, false};
    options.grain = grain;
    Trainer trainer(line(0x1p10, 3), rows, options);
    std::vector<bool> kept;
    std::vector<float> scales;
    std::vector<std::int64_t> good;
    Named before = trainer.state().download();
    trainer.run([&](const StepRecord& record) {
      kept.push_back(record.kept);
      scales.push_back(scale_of(trainer));
      good.push_back(good_of(trainer));
      Named after = trainer.state().download();
      for (const char* name : {names::loss_scale, names::good_steps}) before.erase(name);
      Named rest = after;
      for (const char* name : {names::loss_scale, names::good_steps}) rest.erase(name);
      CHECK((rest == before) == record.kept);
      before = after;
    });
    const std::vector<bool> expected{false, true, false, false, false, true, false, false,
                                     false, true, false, false, false, true, false, false};
    CHECK(kept == expected);
    CHECK(std::vector<float>(scales.begin(), scales.begin() + 5) ==
          std::vector<float>{0x1p10F, 0x1p9F, 0x1p9F, 0x1p9F, 0x1p10F});
    CHECK(std::vector<std::int64_t>(good.begin(), good.begin() + 6) == std::vector<std::int64_t>{1, 0, 1, 2, 0, 0});
    CHECK(trainer.state().store().read(names::count) == HostTensor::of<std::int64_t>({}, {12}));
  }
}

TEST_CASE("a_scale_stays_within_its_bounds", "[loss_scale]") {
  Trainer large(line(0x1p64, 1), products({1, 1}), TrainerOptions{1, 3, 2, false});
  large.run([](const StepRecord& record) { CHECK_FALSE(record.kept); });
  CHECK(scale_of(large) == 0x1p64F);
  // A gradient that is infinite by itself, of a finite loss.
  Task endless = line(0x1p-63, 2000);
  endless.loss = [](const Traced& answers, const Traced& targets) { return ops::mean(ops::sqrt(answers * targets)); };
  Trainer small(endless, products({1, 1}), TrainerOptions{1, 3, 2, false});
  small.run([](const StepRecord& record) {
    CHECK(record.kept);
    CHECK(record.loss == 0);
  });
  CHECK(scale_of(small) == 0x1p-64F);
  CHECK(small.state().value("slope") == HostTensor::of<float>({1, 1}, {0}));
}

TEST_CASE("scales_that_are_none_are_refused", "[loss_scale]") {
  const auto made = [](double first, std::int64_t patience) {
    return Trainer(line(first, patience), products({1, 1}), TrainerOptions{1, 1, 2});
  };
  CHECK_THROWS_WITH(made(3, 2000), "loss scaling: the first scale is 3, expected a power of two from 2^-64 to 2^64");
  CHECK_THROWS_WITH(made(-2, 2000), "loss scaling: the first scale is -2, expected a power of two from 2^-64 to 2^64");
  CHECK_THROWS_WITH(made(0x1p65, 2000), Catch::Contains("expected a power of two from 2^-64 to 2^64"));
  CHECK_THROWS_WITH(made(std::numeric_limits<double>::infinity(), 2000), Catch::Contains("the first scale is inf"));
  CHECK_THROWS_WITH(made(1, 0), "loss scaling: doubled after 0 good steps, expected 1 or more");
  const auto reference = reference::make_reference_backend();
  const Task task = line(1, 1);
  Session session(*reference, State(task.parameters, task.optimization(), 1));
  CHECK_THROWS_WITH(session.step(0.5),
                    "step: the state was made with a scaled loss, expected one without in a session");
}
