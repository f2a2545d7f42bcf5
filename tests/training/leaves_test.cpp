// Steps in leaves: accumulation, larger batches and any number of devices come to the same bits; what leaves cannot do
// is refused by name.
#include <boost/hana/define_struct.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "cuda/emulator/emulator.hpp"
#include "spec/error.hpp"
#include "spec/library/operations.hpp"
#include "spec/program/trace_state.hpp"
#include "training/leaves/leaf_step.hpp"
#include "training/leaves/programs.hpp"
#include "training/report.hpp"
#include "training/tasks/tasks.hpp"
#include "training/trainer.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

Dataset first_digits(std::size_t count) {
  static const Dataset all = read_digits(ETALON_SOURCE_DIR "/training/data/digits.csv.gz");
  std::vector<std::int64_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return select_rows(all, rows);
}

struct Trained {
  Named state;
  std::vector<double> losses;
  [[nodiscard]] bool operator==(const Trained&) const = default;
};

TrainerOptions in_leaves(std::int64_t batch, std::int64_t grain, unsigned devices) {
  TrainerOptions options{3, 2, batch};
  options.grain = grain;
  options.devices = devices;
  return options;
}

Trained train_with(const Task& task, const Dataset& rows, const TrainerOptions& options) {
  Trainer trainer(task, rows, options);
  Trained result;
  trainer.run([&](const StepRecord& record) { result.losses.push_back(record.loss); });
  result.state = trainer.state().download();
  return result;
}

/// A model with a mean of what it saw, kept beside what is learned.
template <template <class> class V>
struct Kept {
  BOOST_HANA_DEFINE_STRUCT(Kept, (V<Shape<1, 2>>, weight), (V<Shape<2>>, seen));
};

Task with_running_statistics() {
  Kept<Declared> model{Initialiser{"ones"}, Initialiser{"zeros"}};
  model.seen.frozen = true;
  Task task = moons();
  use_model(task, model, [](const Kept<Untyped>& m, const Traced& x, const Noise<Untyped>* noise) {
    if (noise != nullptr) {
      const Traced now = m.seen * 0.5 + ops::mean.set("axes", std::vector<std::int64_t>{0})(x);
      x.state()->program().updates.push_back({m.seen.name(), now.name()});
    }
    return ops::linear(x, m.weight, spec::absent);
  });
  return task;
}

}  // namespace

TEST_CASE("who_computes_a_leaf_changes_no_bit_of_a_run", "[leaves][trainer]") {
  const Dataset rows = first_digits(96);
  struct Case {
    Task task;
    std::int64_t grain;
    std::vector<unsigned> devices;
  };
  std::vector<Trained> runs;
  for (const Case& one : {Case{digits_mlp(), 48, {2}}, Case{digits_mlp(), 8, {2, 3}}, Case{digits_mlp(), 6, {3}}, Case{digits_cnn(), 8, {3}}}) {
    const Trained once = train_with(one.task, rows, in_leaves(48, one.grain, 1));
    REQUIRE(once.losses.size() == 4);
    for (const double loss : once.losses) CHECK(std::isfinite(loss));
    for (const unsigned devices : one.devices) {
      const bool same = train_with(one.task, rows, in_leaves(48, one.grain, devices)) == once;
      CHECK(same);
    }
    runs.push_back(once);
  }
  // Other leaves are another run: their noise is drawn for other rows.
  CHECK_FALSE(runs[0].losses == runs[1].losses);
  CHECK_FALSE(runs[1].losses == runs[2].losses);
}

TEST_CASE("more_threads_in_every_device_change_nothing_either", "[leaves][trainer]") {
  const Dataset rows = first_digits(96);
  const Trained once = train_with(digits_mlp(), rows, in_leaves(48, 8, 1));
  TrainerOptions threaded = in_leaves(48, 8, 2);
  threaded.threads = 2;
  const bool same = train_with(digits_mlp(), rows, threaded) == once;
  CHECK(same);
}

TEST_CASE("the_joined_gradient_is_the_mean_of_what_leaves_give_one_by_one", "[leaves]") {
  // By hand: every leaf as a run of its program, added as the tree says, multiplied once, given to plain gradient
  // descent.
  Dataset rows{2, 0, {}, {}, {}};
  for (int i = 0; i < 12; ++i) {
    rows.inputs.insert(rows.inputs.end(), {0.37F * static_cast<float>(i) - 1, 0.91F - 0.23F * static_cast<float>(i)});
    rows.numbers.push_back(i % 3 == 0 ? 1.0F : -1.0F);
  }
  Task task = moons();
  task.groups = {{"*", {"sgd", {{"momentum", 0.0}}, 0}}};
  const BatchShape shape{1, 12, 2, 6};
  TrainerOptions options{9, 1, 12, false};
  options.grain = 2;
  Trainer trainer(task, rows, options);
  compiled::Store store;
  for (const auto& [name, value] : trainer.state().download()) store.put(name, value);
  store.put(names::inputs, HostTensor::of<float>({6, 2, 2}, rows.inputs));
  store.put(names::targets, HostTensor::of<float>({6, 2, 1}, rows.numbers));
  Routine leaf(leaf_program(task, shape, DType::f32, 1), Target::cpu(), store);
  leaf.bind(names::epoch, 0);
  leaf.bind(names::batch, 0);
  std::vector<std::vector<float>> gradients;  // of w3
  std::vector<float> losses;
  for (std::int64_t j = 0; j < 6; ++j) {
    leaf.bind(names::leaf, j);
    const Outcome outcome = leaf.run();
    losses.push_back(outcome.outputs.front().second.view<float>()[0]);
    const auto last = outcome.outputs.back().second.view<float>();
    gradients.emplace_back(last.begin(), last.end());
  }
  const auto joined = [](const auto& of) { return ((of(0) + of(1)) + (of(2) + of(3))) + (of(4) + of(5)); };
  const float share = 1.0F / 6;
  const HostTensor before = trainer.state().value("w3");
  trainer.run([&](const StepRecord& record) {
    CHECK(record.loss == static_cast<double>(joined([&](std::size_t j) { return losses[j]; }) * share));
  });
  const HostTensor after = trainer.state().value("w3");
  const float rate = static_cast<float>(0.1) * 2;
  int moved = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    const float g = joined([&](std::size_t j) { return gradients[j][i]; }) * share;
    const double exact =
        static_cast<double>(before.view<float>()[i]) - static_cast<double>(rate) * static_cast<double>(g);
    const double size = std::abs(static_cast<double>(before.view<float>()[i])) +
                        std::abs(static_cast<double>(rate) * static_cast<double>(g));
    // The rate, the product and the difference round.
    CHECK(std::abs(static_cast<double>(after.view<float>()[i]) - exact) <= 4 * 0x1p-24 * (1 + 0x1p-20) * size);
    moved += g != 0 ? 1 : 0;
  }
  CHECK(moved > 0);
}

TEST_CASE("a_leaf_that_is_not_finite_ends_the_run_and_changes_nothing", "[leaves][guard]") {
  Dataset rows{2, 0, std::vector<float>(24, 1.0F), {}, std::vector<float>(12, -1.0F)};
  rows.inputs[9] = 3e38F;
  rows.inputs[8] = 3e38F;
  Task task = moons();
  task.loss = [](const Traced& answers, const Traced& targets) {
    return ops::mse(named("seen", answers * answers * 1e30), targets);
  };
  for (const unsigned devices : {1U, 3U}) {
    TrainerOptions options{1, 1, 12, false};
    options.grain = 2;
    options.devices = devices;
    options.guard.values = {"seen"};
    Trainer trainer(task, rows, options);
    for (const char* name : {"w1", "w2", "w3"}) {
      HostTensor ones = trainer.state().value(name);
      for (float& x : ones.view<float>()) x = 0.0625F;
      trainer.state().replace(name, ones);
    }
    const Named before = trainer.state().download();
    CHECK_THROWS_WITH(trainer.run([](const StepRecord&) {}),
                      "training: step 0 did not complete: leaf 2: `seen` is inf at [0, 0]");
    CHECK(trainer.state().download() == before);
  }
}

TEST_CASE("leaves_refuse_what_they_cannot_do_by_name", "[leaves]") {
  const Dataset rows = first_digits(96);
  CHECK_THROWS_WITH(Trainer(digits_mlp(), rows, in_leaves(48, 7, 1)),
                    "training: a batch of 48 rows in leaves of 7, expected a grain that divides it");
  CHECK_THROWS_WITH(Trainer(digits_mlp(), rows, in_leaves(48, -1, 1)),
                    "training: a batch of 48 rows in leaves of -1, expected a grain that divides it");
  CHECK_THROWS_WITH(Trainer(digits_mlp(), rows, in_leaves(48, 8, 0)), "training: 0 devices, expected at least 1");
  TrainerOptions elsewhere = in_leaves(48, 8, 2);
  elsewhere.device = std::make_shared<cuda::emulator::Emulator>();
  CHECK_THROWS_WITH(Trainer(digits_mlp(), rows, elsewhere),
                    "training: 2 devices on cuda-emulated, expected 1, or the processor");
  TrainerOptions long_run = in_leaves(48, 1, 1);
  long_run.epochs = std::int64_t{1} << 26;
  CHECK_THROWS_WITH(Trainer(digits_mlp(), rows, long_run),
                    "leaves: 67108864 epochs of 96 leaves, expected fewer than 2^32 together");

  const Dataset points{2, 0, {1, 2, 3, 4, 5, 6, 7, 8}, {}, {1, -1, 1, -1}};
  TrainerOptions whole{1, 1, 4, false};
  Trainer keeping(with_running_statistics(), points, whole);
  keeping.run([](const StepRecord&) {});
  CHECK(keeping.state().value("seen") == HostTensor::of<float>({2}, {4, 5}));
  CHECK_NOTHROW(plan_of(with_running_statistics(), points, whole));
  TrainerOptions split = whole;
  split.grain = 2;
  CHECK_THROWS_WITH(Trainer(with_running_statistics(), points, split),
                    "leaves: the forward pass updates `seen`, which 2 leaves of a step would each do, expected a grain "
                    "of the batch, 4 rows");
}

TEST_CASE("a_plan_says_who_computes_and_sends_what", "[leaves]") {
  const Dataset rows = first_digits(96);
  const LeafPlan plan = plan_of(digits_mlp(), rows, in_leaves(48, 8, 3));
  // 64·64 + 64 + 32·64 + 32 + 10·32 + 10 parameters and a loss, of four bytes each.
  CHECK(plan.node_bytes == 4 * (64 * 64 + 64 + 32 * 64 + 32 + 10 * 32 + 10 + 1));
  REQUIRE(plan.devices.size() == 3);
  CHECK(plan.devices[0].leaves == LeafRange{0, 2});
  CHECK(plan.devices[1].leaves == LeafRange{2, 4});
  CHECK(plan.devices[2].leaves == LeafRange{4, 6});
  CHECK(plan.devices[0].sent.empty());
  CHECK(plan.devices[1].sent == std::vector<LeafRange>{{2, 4}});
  CHECK(plan.devices[2].sent == std::vector<LeafRange>{{4, 6}});
  CHECK(plan.bytes_sent() == 2 * plan.node_bytes);
  const LeafPlan uneven = plan_of(digits_mlp(), rows, in_leaves(48, 16, 5));
  CHECK(uneven.devices[2].leaves == LeafRange{2, 3});
  CHECK(uneven.devices[3].leaves.count() == 0);
  CHECK(uneven.nodes_sent() == 2);
  const LeafPlan crossing = plan_of(digits_mlp(), rows, in_leaves(48, 8, 4));  // 2, 2, 1, 1
  CHECK(crossing.devices[1].sent == std::vector<LeafRange>{{2, 4}});
  CHECK(crossing.devices[3].sent == std::vector<LeafRange>{{5, 6}});
}
