// Training on data of one's own: the model, when it ends, what a run says, and that a run that is ended comes to the same.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/sha256.hpp"
#include "training/data/random_streams.hpp"
#include "training/files/safetensors.hpp"
#include "training/files/starting_values.hpp"
#include "training/own_report.hpp"
#include "training/plot/class_table.hpp"
#include "training/report.hpp"
#include "training/run/declaration.hpp"
#include "training/run/export.hpp"
#include "training/run/patience.hpp"
#include "training/run/run.hpp"
#include "training/tasks/perceptron.hpp"
#include "training/trainer.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

namespace fs = std::filesystem;

/// A folder that goes in the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / "etalon-own-test";
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
};

/// Two rings of points and what they are called; every ninth is called wrongly, so that a model that learns them by heart
/// gets worse on others.
std::string rings(int rows) {
  std::string text = "x,y,ring\n";
  for (int row = 0; row < rows; ++row) {
    const auto n = static_cast<std::uint64_t>(row);
    const double turn = 6.283185307 * uniform_draw(3, 0, Stream::data, 2 * n), outside = row % 2 == 0 ? 1 : 2;
    const double radius = outside + 0.8 * (uniform_draw(3, 0, Stream::data, 2 * n + 1) - 0.5);
    const bool is_inner = (outside < 1.5) == (row % 9 != 0);
    text += std::to_string(radius * std::cos(turn)) + "," + std::to_string(radius * std::sin(turn)) + "," + (is_inner ? "inner" : "outer") +
            "\n";
  }
  return text;
}

TrainOptions options_in(const fs::path& folder, const std::string& run) {
  TrainOptions options;
  options.task = own_task;
  options.data = folder / "rings.csv";
  options.own.data.target = "ring";
  options.own.validation = 0.2;
  options.own.model.hidden = {8};
  options.own.model.rate = 0.05;
  options.epochs = 40;
  options.batch = 16;
  options.interval = 5;  // the last one is shorter
  options.patience = 6;
  options.best = true;
  options.plots = false;
  options.run = run.empty() ? fs::path() : folder / run;
  options.cache = folder / "cache";
  if (!run.empty()) options.metrics = folder / (run + ".jsonl");
  return options;
}

/// What must not depend on how often a run was ended.
std::map<std::string, std::string> left(const fs::path& folder, const std::string& run) {
  const RunContents contents = read_run(*file_system(), folder / run), best = read_run(*file_system(), folder / run, true);
  return {{"run.json", read_file(folder / run / "run.json")},
          {"journal", read_file(folder / run / "journal.jsonl")},
          {"state", contents.newest.checkpoint.digest},
          {"step", std::to_string(contents.newest.checkpoint.position.step)},
          {"best", best.newest.checkpoint.digest},
          {"best step", std::to_string(best.newest.checkpoint.position.step)},
          {"metrics", read_file(folder / (run + ".jsonl"))}};
}

Examples numbers_of(const std::vector<float>& inputs, const std::vector<float>& numbers) {
  Examples examples;
  examples.data = {static_cast<std::int64_t>(inputs.size() / numbers.size()), 0, inputs, {}, numbers};
  return examples;
}

}  // namespace

TEST_CASE("the best epoch is the first of the lowest, and patience counts from it", "[own]") {
  CHECK(best_epoch(std::vector<double>{}) == 0);
  CHECK(best_epoch(std::vector<double>{3, 1, 2, 1}) == 2);
  CHECK_FALSE(is_out_of_patience(std::vector<double>{}, 1));
  CHECK_FALSE(is_out_of_patience(std::vector<double>{3, 2, 1}, 1));
  CHECK_FALSE(is_out_of_patience(std::vector<double>{3, 1, 2}, 2));
  CHECK(is_out_of_patience(std::vector<double>{3, 1, 2, 1}, 2));  // as low is not lower
  CHECK_FALSE(is_out_of_patience(std::vector<double>{1, 2, 3, 4}, 0));
}

TEST_CASE("scaling is that of the rows that are trained on", "[own]") {
  Examples examples = numbers_of({1, 5, 3, 5, 100, 7}, {10, 30, 1000});
  const Named scaling = scaling_of(examples, {0, 1});
  const auto values = [&](const char* name) {
    const auto view = scaling.at(name).view<float>();
    return std::vector<float>(view.begin(), view.end());
  };
  CHECK(values("input.mean") == std::vector<float>{2, 5});
  CHECK(values("input.scale") == std::vector<float>{1, 1});  // deviations 1 and nothing
  CHECK(values("output.mean") == std::vector<float>{20});
  CHECK(std::abs(values("output.scale")[0] - 10) <= 10 * 0x1p-22F);
  examples.one_unit = true;
  const Named together = scaling_of(examples, {0, 1});
  CHECK(together.at("input.mean").view<float>()[1] == 3.5F);
  CHECK(together.at("input.scale").view<float>()[0] == together.at("input.scale").view<float>()[1]);
}

TEST_CASE("a line through numbers of any size is found, and is the model that is read back", "[own]") {
  std::vector<float> inputs, numbers;
  for (int row = 0; row < 64; ++row) {
    inputs.push_back(1e6F + 1000.0F * static_cast<float>(row));
    numbers.push_back(static_cast<float>(3 * row) - 500);
  }
  const Examples examples = numbers_of(inputs, numbers);
  const Split split = split_of(examples, 0.25, 1);
  Perceptron sizes;
  sizes.hidden = {};
  sizes.rate = 0.05;
  const Task task = perceptron(perceptron_for(examples, sizes));
  const Dataset held = select_rows(examples.data, split.validation);
  Trainer trainer(task, select_rows(examples.data, split.train), {1, 400, 16, true}, held);
  trainer.state().upload(scaling_of(examples, split.train), Upload::partial);
  std::vector<double> losses;
  trainer.run([&](const StepRecord& record) {
    CHECK_FALSE(record.validation_accuracy.has_value());
    if (record.validation_loss) losses.push_back(*record.validation_loss);
  });
  REQUIRE(losses.size() == 400);
  const std::vector<float> answers = trainer.answers(held.inputs);
  double sum = 0, largest = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    sum += std::pow(static_cast<double>(answers[i]) - static_cast<double>(held.numbers[i]), 2);
    largest = std::max(largest, static_cast<double>(std::abs(answers[i])));
  }
  const auto rows = static_cast<double>(answers.size());
  const double error = sum / rows, mean = std::abs(static_cast<double>(scaling_of(examples, split.train).at("output.mean").view<float>()[0]));
  // In f32 an answer is rounded six times, to numbers below the largest answer and the mean of all; the sum and the mean of squares are as
  // long as there are rows. Two evaluations are apart by no more than twice that.
  const double apart = 2 * 6 * 0x1p-24 * (largest + mean);
  CHECK(!(std::abs(losses.back() - error) > 2 * apart * std::sqrt(error) + apart * apart + (rows + 5) * 0x1p-24 * error));
  CHECK(losses.front() > 100);
  CHECK(error < 1);  // of numbers that are 55 apart on average

  const fs::path file = fs::temp_directory_path() / "etalon-own-model.safetensors";
  write_file(file, safetensors_of(trainer.state().download(Part::parameters)));
  Trainer other(task, select_rows(examples.data, split.train), {2, 1, 16, true});
  CHECK(other.answers(held.inputs) != answers);
  other.state().upload(read_starting_values(file, {}, other.state().parameters()));
  fs::remove(file);
  CHECK(other.answers(held.inputs) == answers);
}

TEST_CASE("models that cannot be are refused", "[own][sound]") {
  CHECK_THROWS_WITH(perceptron({1, 2, 0, {0}}), "model: a hidden layer of 0 units, expected 1 to 65536");
  CHECK_THROWS_AS(perceptron({1, 2, 0, std::vector<std::int64_t>(65, 1)}), SpecViolation);
  CHECK_THROWS_AS(perceptron({0, 2}), SpecViolation);
  CHECK_THROWS_AS(perceptron({1, 2, 257}), SpecViolation);
  for (const double rate : {0.0, -1.0, std::nan(""), HUGE_VAL}) CHECK_THROWS_AS(perceptron({1, 2, 0, {4}, rate}), SpecViolation);
}

TEST_CASE("a table of classes counts precision and recall", "[own]") {
  const ConfusionMatrix matrix = confusion_of("m", 3, {0, 0, 0, 1, 1}, {0, 0, 1, 1, 0});
  CHECK(matrix.counts == std::vector<std::int64_t>{2, 1, 0, 1, 1, 0, 0, 0, 0});
  CHECK(accuracy_of(matrix) == 0.6);
  std::istringstream table(class_table(matrix, {"a", "b", "none"}));
  std::string line;
  std::vector<std::vector<std::string>> words;
  while (std::getline(table, line)) {
    std::istringstream of_line(line);
    words.emplace_back(std::istream_iterator<std::string>(of_line), std::istream_iterator<std::string>());
  }
  REQUIRE(words.size() == 4);
  CHECK(words[1] == std::vector<std::string>{"a", "3", "0.6667", "0.6667", "0.6667"});
  CHECK(words[2] == std::vector<std::string>{"b", "2", "0.5000", "0.5000", "0.5000"});
  CHECK(words[3] == std::vector<std::string>{"none", "0", "-", "-", "-"});
}

TEST_CASE("a run out of patience, ended at any step, comes to the same bits", "[own]") {
  const Folder folder;
  write_file(folder.path / "rings.csv", rings(120));
  std::ostringstream console;
  const TrainResult whole = train(options_in(folder.path, "whole"), console);
  REQUIRE(whole.ending.status == Ending::Status::finished);
  REQUIRE(whole.steps < 40 * 6);  // 96 rows in batches of 16
  CHECK(whole.steps % 6 == 0);
  REQUIRE(whole.steps % 5 != 0);
  const auto expected = left(folder.path, "whole");
  CHECK(std::stoll(expected.at("best step")) == whole.steps - 6 * 6);  // patience epochs before
  // Every ninth step ends a process: within intervals and epochs, and at their ends.
  TrainOptions stopped = options_in(folder.path, "stopped");
  int steps = 0, processes = 0;
  stopped.should_stop = [&] { return ++steps % 9 == 0; };
  Ending ending = train(stopped, console).ending;
  for (; ending.status == Ending::Status::stopped && processes < 100; ++processes) ending = resume(stopped, console).ending;
  CHECK(ending.status == Ending::Status::finished);
  CHECK(processes > 2);
  const auto found = left(folder.path, "stopped");
  for (const auto& [what, value] : expected) {
    INFO(what);
    CHECK(found.at(what) == value);
  }
  // It is over: nothing is trained any more, and the result is the same.
  const TrainResult again = resume(options_in(folder.path, "whole"), console);
  CHECK(again.steps == whole.steps);
  CHECK(again.test_accuracy == whole.test_accuracy);
  CHECK(left(folder.path, "whole") == expected);
  // Without a folder it ends there, too.
  TrainOptions options = options_in(folder.path, "");
  options.best = false;
  options.interval = 0;
  CHECK(train(options, console).steps == whole.steps);
  // The best parameters are those of their checkpoint.
  const Exported best = export_run(folder.path / "whole", "safetensors", true, true);
  CHECK(sha256_of(best.bytes) == expected.at("best"));
  CHECK(best.step == std::stoll(expected.at("best step")));
  CHECK(export_run(folder.path / "whole", "safetensors", false, true).tensors == 6);
  // Another file is refused in one line, whatever it is called.
  write_file(folder.path / "rings.csv", rings(120) + "0,0,inner\n");
  CHECK_THROWS_AS(resume(options_in(folder.path, "whole"), console), SpecViolation);
}

TEST_CASE("what a run of one's own data says is read back, and cut short refused", "[own][sound]") {
  Declaration d;
  d.task = own_task;
  d.model = "mlp";
  d.start = std::string(64, 'a');
  d.patience = 3;
  d.best = true;
  d.steps = 1;
  d.own = OwnTask{{"csv", "y", "", {"id"}, ";", false, true, 0, 4},
                  {{"my.csv", 7, std::string(64, 'b'), std::string(64, 'c')}},
                  {"r", "s"},
                  0.25,
                  {3, 2, 0, {5, 4}, 0.1}};
  const std::string text = to_text(d);
  const Declaration read = declaration_of(text, "run.json");
  CHECK(to_text(read) == text);
  REQUIRE(read.own);
  CHECK(*read.own == *d.own);
  CHECK(read.patience == 3);
  CHECK(read.best);
  for (std::size_t length = 0; length + 2 < text.size(); length += 7)
    CHECK_THROWS_AS(declaration_of(text.substr(0, length), "run.json"), IoError);
  Declaration without = d;
  without.own.reset();
  without.data = std::string(64, 'd');
  CHECK_THROWS_AS(declaration_of(to_text(without), "run.json"), IoError);
  Declaration bytes = d;
  bytes.own->classes[0] = "\xFF";
  CHECK_THROWS_AS(to_text(bytes), SpecViolation);
  Declaration other = d;
  other.own->files[0].sha256 = std::string(64, 'e');
  CHECK_THROWS_AS(require_same(d, other, "run.json"), SpecViolation);
  other = d;
  other.own->files[0].name = "moved.csv";
  CHECK_NOTHROW(require_same(d, other, "run.json"));
}
