#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "training/data/dataset.hpp"
#include "training/report.hpp"
#include "training/tasks/tasks.hpp"
#include "training/trainer.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

Examples moons_examples(std::uint64_t seed) {
  const Dataset data = half_moons(40, 0.1, seed);
  std::vector<float> targets;
  for (const std::int64_t label : data.labels) targets.push_back(label == 0 ? 1.0F : -1.0F);
  return {2, data.inputs, {}, targets};
}

Examples digit_examples() {
  const Dataset all = read_digits(ETALON_SOURCE_DIR "/training/data/digits.csv.gz");
  std::vector<std::int64_t> first(96);
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<std::int64_t>(i);
  const Dataset some = select_rows(all, first);
  return {some.features, some.inputs, some.labels, {}};
}

struct Run {
  std::vector<double> losses;
  std::vector<double> rates;
  std::vector<HostTensor> store;
};

Run run(const Task& task, const Examples& examples, const TrainerOptions& options) {
  Trainer trainer(task, examples, options);
  Run result;
  trainer.run([&](const StepRecord& record) {
    result.losses.push_back(record.loss);
    result.rates.push_back(record.rate);
  });
  for (const auto& [name, parameter] : task.parameters.entries()) result.store.push_back(trainer.state().value(name));
  return result;
}

}  // namespace

TEST_CASE("the_same_seed_gives_the_same_bits_for_any_number_of_threads", "[trainer]") {
  const Examples examples = digit_examples();
  const Run once = run(digits_mlp(), examples, {5, 2, 32, true, 1});
  REQUIRE(once.losses.size() == 6);
  for (const unsigned threads : {1U, 2U, 3U}) {
    const Run again = run(digits_mlp(), examples, {5, 2, 32, true, threads});
    CHECK(once.losses == again.losses);
    CHECK(once.store == again.store);
  }
  const Run other = run(digits_mlp(), examples, {6, 2, 32, true, 1});
  CHECK(once.losses != other.losses);
  CHECK(once.store != other.store);
}

TEST_CASE("the_rate_of_the_moons_is_an_expression_over_the_step", "[trainer]") {
  const Run moons_run = run(moons(), moons_examples(1), {1, 2, 10, false, 1});
  REQUIRE(moons_run.rates.size() == 16);
  for (std::size_t n = 0; n < 16; ++n) {
    // 0.1·(32 - n)/16 in binary32: three roundings at most
    const double exact = 0.1 * (32.0 - static_cast<double>(n)) / 16.0;
    CHECK(std::abs(moons_run.rates[n] - exact) <= exact * 3 * 0x1p-24);
  }
}

TEST_CASE("a_moons_step_is_the_one_worked_out_by_plain_loops", "[trainer]") {
  // One SGD step on one batch of eight: forward, hinge, backward. Inputs and parameters are small multiples of 1/4, so
  // that all numbers up to the gradient are exact in binary32; the decay and the update round.
  std::mt19937 random(2);
  const auto quarters = [&](std::size_t n) {
    std::vector<float> values(n);
    for (float& v : values) v = static_cast<float>(static_cast<int>(random() % 9) - 4) / 4;
    return values;
  };
  Examples examples{2, quarters(32), {}, {}};
  for (int row = 0; row < 16; ++row) examples.numbers.push_back(row % 3 == 0 ? 1.0F : -1.0F);
  Trainer trainer(moons(), examples, {2, 1, 8, false, 1});
  for (const auto& [name, dims] : std::vector<std::pair<std::string, Dims>>{{"w1", {16, 2}}, {"w2", {16, 16}}, {"w3", {1, 16}}}) {
    trainer.state().replace(name, HostTensor::of(dims, quarters(static_cast<std::size_t>(dims.count()))));
  }
  const auto values = [&](const char* name) {
    const HostTensor t = trainer.state().value(name);
    const auto v = t.view<float>();
    return std::vector<double>(v.begin(), v.end());
  };
  const auto w1 = values("w1"), w2 = values("w2"), w3 = values("w3");
  double loss = 0;
  std::vector<double> g3(16);
  for (std::size_t row = 0; row < 8; ++row) {
    std::vector<double> h1(16), h2(16);
    double f = 0;
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t j = 0; j < 2; ++j) h1[i] += w1[i * 2 + j] * static_cast<double>(examples.inputs[row * 2 + j]);
      h1[i] = std::max(h1[i], 0.0);
    }
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t j = 0; j < 16; ++j) h2[i] += w2[i * 16 + j] * h1[j];
      h2[i] = std::max(h2[i], 0.0);
      f += w3[i] * h2[i];
    }
    const double y = static_cast<double>(examples.numbers[row]);
    const double margin = 1 - y * f;
    if (margin <= 0) continue;
    loss += margin / 8;
    for (std::size_t i = 0; i < 16; ++i) g3[i] -= y * h2[i] / 8;
  }
  double first_loss = -1, rate = -1;
  std::vector<double> after;
  try {
    trainer.run([&](const StepRecord& record) {
      first_loss = record.loss;
      rate = record.rate;
      after = values("w3");
      throw 0;
    });
  } catch (int) {
  }
  CHECK(loss > 0);
  CHECK(first_loss == loss);
  REQUIRE(after.size() == 16);
  for (std::size_t i = 0; i < 16; ++i) {
    // g + c·w with c rounded, times the rate, which is binary32 already, subtracted: five roundings at most.
    const double decayed = g3[i] + 1e-4 * w3[i];
    const double size = std::abs(w3[i]) + rate * (std::abs(g3[i]) + 1e-4 * std::abs(w3[i]));
    CHECK(std::abs(after[i] - (w3[i] - rate * decayed)) <= 5 * 0x1p-24 * (1 + 0x1p-20) * size);
  }
  CHECK(g3 != std::vector<double>(16));
}

TEST_CASE("training_refuses_what_it_cannot_do_in_one_line", "[trainer]") {
  std::ostringstream console;
  TrainOptions options;
  options.task = "digit";
  CHECK_THROWS_WITH(train(options, console), "unknown task 'digit'; did you mean 'digits'?");
  options = {};
  options.data = "/no/such.csv.gz";
  CHECK_THROWS_WITH(train(options, console), "/no/such.csv.gz: no such file");
  options = {};
  options.epochs = -3;
  CHECK_THROWS_WITH(train(options, console), "training: -3 epochs, expected 1 to 1000000, or 0 for the task's own number");
  options = {};
  options.svg = "/dev/null/plots";
  CHECK_THROWS_WITH(train(options, console), "/dev/null/plots: the folder cannot be made: Not a directory");
  CHECK(console.str().empty());
  CHECK_THROWS_AS(Trainer(moons(), moons_examples(1), {1, 1, 1000, false, 1}), SpecViolation);
}
