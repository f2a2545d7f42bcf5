#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
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

Dataset moons_examples(std::uint64_t seed) {
  const Dataset data = half_moons(40, 0.1, seed);
  Dataset rows{2, 0, data.inputs};
  for (const std::int64_t label : data.labels) rows.numbers.push_back(label == 0 ? 1.0F : -1.0F);
  return rows;
}

/// `count` rows of the digits from `first` on.
Dataset digit_examples(std::int64_t first, std::size_t count) {
  static const Dataset all = read_digits(ETALON_SOURCE_DIR "/training/data/digits.csv.gz");
  std::vector<std::int64_t> rows(count);
  std::iota(rows.begin(), rows.end(), first);
  return select_rows(all, rows);
}

struct Run {
  std::vector<double> losses;
  std::vector<double> rates;
  std::vector<std::optional<double>> validation;
  std::vector<HostTensor> store;
};

Run run(const Task& task, const Dataset& rows, const TrainerOptions& options, const Dataset& validation = {}) {
  Trainer trainer(task, rows, options, validation);
  Run result;
  trainer.run([&](const StepRecord& record) {
    result.losses.push_back(record.loss);
    result.rates.push_back(record.rate);
    result.validation.push_back(record.validation_accuracy);
  });
  for (const auto& [name, parameter] : task.parameters.entries()) result.store.push_back(trainer.state().value(name));
  return result;
}

}  // namespace

TEST_CASE("the_same_seed_gives_the_same_bits_for_any_number_of_threads", "[trainer]") {
  const Dataset rows = digit_examples(0, 96), validation = digit_examples(96, 20);
  using Case = std::pair<Task, std::vector<unsigned>>;
  for (const auto& [task, thread_counts] : {Case{digits_mlp(), {1, 3}}, Case{digits_cnn(), {2}}}) {
    const Run once = run(task, rows, {5, 2, 32, true, 1}, validation);
    REQUIRE(once.losses.size() == 6);
    for (const unsigned threads : thread_counts) {
      const Run again = run(task, rows, {5, 2, 32, true, threads}, validation);
      CHECK(once.losses == again.losses);
      CHECK(once.validation == again.validation);
      CHECK(once.store == again.store);
    }
    const Run other = run(task, rows, {6, 2, 32, true, 1});
    CHECK(once.losses != other.losses);
    CHECK(once.store != other.store);
  }
}

TEST_CASE("after_each_epoch_the_accuracy_on_rows_that_nothing_is_learned_from_is_known", "[trainer]") {
  const Dataset rows = digit_examples(0, 96), validation = digit_examples(96, 50);
  Trainer trainer(digits_mlp(), rows, {5, 4, 32, true, 1}, validation);
  std::vector<std::int64_t> epochs;
  double last = -1;
  trainer.run([&](const StepRecord& record) {
    CHECK(record.validation_accuracy.has_value() == (record.batch == 2));
    if (!record.validation_accuracy) return;
    epochs.push_back(record.epoch);
    last = *record.validation_accuracy;
  });
  CHECK(epochs == std::vector<std::int64_t>{1, 2, 3, 4});
  const std::vector<float> answers = trainer.answers(validation.inputs);
  REQUIRE(answers.size() == 500);
  int right = 0;
  for (std::size_t row = 0; row < 50; ++row) {
    bool best = true;
    const auto label = static_cast<std::size_t>(validation.labels[row]);
    for (std::size_t c = 0; c < 10; ++c) best = best && answers[row * 10 + label] >= answers[row * 10 + c];
    right += best ? 1 : 0;
  }
  CHECK(last == right / 50.0);
  CHECK(right > 5);
  CHECK(right < 50);
  CHECK(trainer.accuracy(validation) == last);
  // They could be any others: what is learned is the same.
  const Run with = run(digits_mlp(), rows, {5, 4, 32, true, 1}, validation);
  const Run without = run(digits_mlp(), rows, {5, 4, 32, true, 1});
  CHECK(with.losses == without.losses);
  CHECK(with.store == without.store);
  CHECK(std::none_of(without.validation.begin(), without.validation.end(), [](const auto& v) { return v.has_value(); }));
}

TEST_CASE("neither_training_nor_validation_sees_a_test_row", "[trainer]") {
  // The same file but for its test rows: nothing before the test changes.
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "etalon-other-test-rows.csv";
  Dataset digits = read_digits(ETALON_SOURCE_DIR "/training/data/digits.csv.gz");
  for (const std::int64_t row : split_of_digits().test) {
    const auto at = static_cast<std::size_t>(row);
    for (std::size_t i = 0; i < 64; ++i) digits.inputs[at * 64 + i] = 1 - digits.inputs[at * 64 + i];
    digits.labels[at] = 9 - digits.labels[at];
  }
  std::ofstream file(path);
  for (std::size_t row = 0; row < digits.labels.size(); ++row) {
    for (std::size_t i = 0; i < 64; ++i) file << 16 * digits.inputs[row * 64 + i] << ',';
    file << digits.labels[row] << '\n';
  }
  REQUIRE(file.flush());
  std::ostringstream console;
  TrainOptions options;
  options.epochs = 2;
  options.plots = false;
  const TrainResult shipped = train(options, console);
  options.data = path;
  const TrainResult other = train(options, console);
  std::filesystem::remove(path);
  CHECK(shipped.validation_accuracy.size() == 2);
  CHECK(shipped.validation_accuracy == other.validation_accuracy);
  CHECK(shipped.last_epoch_loss == other.last_epoch_loss);
  CHECK(shipped.test_accuracy != other.test_accuracy);
  CHECK(shipped.test_accuracy > 0.5);
}

TEST_CASE("data that a model cannot be trained or judged with is refused before the first step", "[trainer][sound]") {
  const TrainerOptions options{1, 1, 32, true, 1};
  const Dataset good = digit_examples(0, 96);
  const auto changed = [&](const auto& change) {
    Dataset data = good;
    change(data);
    return data;
  };
  const Dataset negative = changed([](Dataset& d) { d.labels[37] = -1; });
  const Dataset large = changed([](Dataset& d) { d.labels[37] = 10; });
  const Dataset more = changed([](Dataset& d) { d.labels[37] = 10, d.classes = 11; });
  const Dataset nan = changed([](Dataset& d) { d.inputs[37 * 64 + 5] = std::nanf(""); });
  const Dataset narrow = changed([](Dataset& d) { d.features = 32, d.inputs.resize(96 * 32); });
  CHECK_THROWS_WITH(Trainer(digits_mlp(), negative, options), "training data: row 37 has the label -1, expected a class from 0 to 9");
  CHECK_THROWS_WITH(Trainer(digits_mlp(), large, options), "training data: row 37 has the label 10, expected a class from 0 to 9");
  CHECK_THROWS_WITH(Trainer(digits_mlp(), more, options), "training data: 11 classes, expected at most 10, for which the model has answers");
  CHECK_THROWS_WITH(Trainer(digits_cnn(), nan, options), "training data: row 37, column 5 is nan, expected a finite number");
  CHECK_THROWS_AS(Trainer(digits_mlp(), narrow, options), SpecViolation);
  CHECK_THROWS_WITH(Trainer(digits_mlp(), good, options, large), "validation data: row 37 has the label 10, expected a class from 0 to 9");
  CHECK_THROWS_WITH(Trainer(digits_mlp(), good, options, nan), "validation data: row 37, column 5 is nan, expected a finite number");
  const Dataset numbers{64, 0, good.inputs, {}, std::vector<float>(96)};
  CHECK_THROWS_WITH(Trainer(digits_mlp(), good, options, numbers), "validation data: no labels, expected one per row");

  Trainer trainer(digits_mlp(), good, options);
  CHECK_THROWS_WITH(trainer.accuracy(negative), "evaluation data: row 37 has the label -1, expected a class from 0 to 9");
  CHECK_THROWS_WITH(trainer.answers(std::vector<float>(100)), "training: 100 numbers are no rows, expected 64 for each");
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
  Dataset examples{2, 0, quarters(32)};
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
  CHECK_THROWS_WITH(train(options, console), "/no/such.csv.gz: the file cannot be read: No such file or directory");
  options = {};
  options.epochs = -3;
  CHECK_THROWS_WITH(train(options, console), "training: -3 epochs, expected 1 to 1000000, or 0 for the task's own number");
  options = {};
  options.svg = "/dev/null/plots";
  CHECK_THROWS_WITH(train(options, console), "/dev/null/plots: the folder cannot be made: Not a directory");
  CHECK(console.str().empty());
  CHECK_THROWS_AS(Trainer(moons(), moons_examples(1), {1, 1, 1000, false, 1}), SpecViolation);
}
