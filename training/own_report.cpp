#include "training/own_report.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "training/plot/class_table.hpp"
#include "training/run/patience.hpp"
#include "training/subject.hpp"

namespace etalon::training {

namespace {

constexpr std::int64_t usual_epochs = 100, usual_batch = 32;
constexpr std::size_t most_drawn = 20;  // classes of a confusion matrix

[[nodiscard]] Examples read(const TrainOptions& options) {
  if (options.data.empty()) throw SpecViolation("training: --data names the file of one's own data");
  if (!options.model.empty() && options.model != "mlp")
    throw SpecViolation(fmt::format("training: the model of one's own data is mlp, found '{}'", as_quoted(options.model)));
  std::vector<std::filesystem::path> files{options.data};
  if (!options.labels.empty()) files.push_back(options.labels);
  return read_examples(files, options.own.data);
}

/// What `run.json` says: the choice, and what the data made of it.
[[nodiscard]] OwnTask declared(const TrainOptions& options, const Examples& examples) {
  OwnTask own = options.own;
  own.files = examples.files;
  own.classes = examples.classes;
  own.model = perceptron_for(examples, own.model);
  return own;
}

void tell_data(const OwnTask& own, const Split& split, std::int64_t epochs, std::uint64_t seed, std::ostream& console) {
  for (const DataFile& file : own.files) fmt::print(console, "{}: {} bytes, SHA-256 {}\n", on_one_line(file.name), file.bytes, file.sha256);
  const std::string answer = own.classes.empty() ? "one number" : fmt::format("{} classes", own.classes.size());
  fmt::print(console, "{} features, {}: {} rows to train on, {} to validate, {} epochs, seed {}\n", own.model.features, answer,
             split.train.size(), split.validation.size(), epochs, seed);
}

/// How well the rows are answered with the parameters as they are.
void judge(Trainer& trainer, const Dataset& rows, const OwnTask& own, const TrainOptions& options, TrainResult& result,
           std::ostream& console) {
  if (own.classes.empty()) {
    const std::vector<float> answers = trainer.answers(rows.inputs);
    double sum = 0;
    for (std::size_t i = 0; i < answers.size(); ++i)
      sum += std::pow(static_cast<double>(answers[i]) - static_cast<double>(rows.numbers[i]), 2);
    result.mean_squared_error = sum / static_cast<double>(answers.size());
    return;
  }
  const ConfusionMatrix matrix = confusion_of("confusion matrix", rows.classes, rows.labels, trainer.classes(rows.inputs));
  result.test_accuracy = accuracy_of(matrix);
  console << '\n' << class_table(matrix, own.classes);
  result.page.classes = class_rows(matrix, own.classes);
  if (own.classes.size() > most_drawn) return;
  if (options.plots) console << '\n' << as_text(matrix);
  keep(matrix, "confusion", options, result.page);
}

void tell_end(const TrainResult& result, const TrainOptions& options, const std::vector<double>& validation, bool is_early,
              std::string_view judged, std::ostream& console) {
  if (!validation.empty()) {
    const std::int64_t best = best_epoch(validation);
    fmt::print(console, "\nlowest validation loss {:.6g} after epoch {}, {:.6g} after the last\n",
               validation[static_cast<std::size_t>(best - 1)], best, validation.back());
    if (is_early) fmt::print(console, "ended after epoch {}: none was lower for {} epochs\n", validation.size(), options.patience);
    if (options.best)
      fmt::print(console, "etalon export npz {} --best -o model.npz writes the parameters after epoch {}\n", options.run.string(), best);
  }
  const std::string reached = result.mean_squared_error
                                  ? fmt::format("root mean squared error {:.6g}", std::sqrt(*result.mean_squared_error))
                                  : fmt::format("accuracy {:.2f} %", 100 * result.test_accuracy);
  fmt::print(console, "{} steps in {:.1f} s, {} of the {} rows, loss sum of the last epoch {:.4g}\n", result.steps, result.seconds, reached,
             judged, result.last_epoch_loss);
}

}  // namespace

void take_own(const OwnTask& declared, TrainOptions& options) {
  options.own = declared;
  if (options.data.empty()) options.data = declared.files.front().name;
  if (declared.files.size() == 1 && !options.labels.empty()) throw SpecViolation("--labels names a second file, the run has one");
  if (declared.files.size() == 2 && options.labels.empty()) options.labels = declared.files.back().name;
}

TrainResult train_own(const TrainOptions& options, std::optional<Run>& run, std::ostream& console) {
  const auto start = std::chrono::steady_clock::now();
  Examples examples = read(options);
  const OwnTask own = declared(options, examples);
  const Split split = split_of(examples, own.validation, options.seed);
  Dataset rows = select_rows(examples.data, split.train);
  const Dataset held = select_rows(examples.data, split.validation), judged = held.rows() > 0 ? held : rows;
  const std::int64_t epochs = options.epochs > 0 ? options.epochs : usual_epochs, count = rows.rows();
  const TrainerOptions how = trainer_options(options, epochs, std::clamp<std::int64_t>(count, 1, usual_batch), true);
  const Task task = perceptron(own.model);
  if (options.plan) {
    console << to_text(plan_of(task, rows, how, options.ranks));
    return {};
  }
  const Named scaling = scaling_of(examples, split.train);
  examples.data = {};  // its rows are in the trainer from here on
  Trainer trainer(task, std::move(rows), how, held);
  trainer.state().upload(scaling, Upload::partial);
  const bool is_validated = held.rows() > 0;
  prepare({std::string(own_task), "mlp", trainer, count, how, {}, own, is_validated}, options, run, console);
  tell_data(own, split, epochs, options.seed, console);
  ProgressOptions shown = progress_options(options);
  shown.perplexity = examples.vocabulary > 0;
  Progress progress(console, trainer.steps(), trainer.steps_of_epoch(), shown);
  const Ending ending = trained(trainer, options, run, progress, console);
  if (ending.status == Ending::Status::followed) return {0, 0, 0, 0, {}, ending, {}};
  const std::int64_t steps = steps_done(progress, run);
  TrainResult result{steps, last_epoch_loss(progress, run), 0, 0, progress.accuracies(), ending, {}};
  if (ending.status != Ending::Status::finished) return result;

  show_curves(progress, run, options, result.page, console);
  judge(trainer, judged, own, options, result, console);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::vector<double> validation = run ? run->position().validation : progress.validation_losses();
  const bool is_early = steps < trainer.steps();
  tell_end(result, options, validation, is_early, is_validated ? "validation" : "training", console);
  return result;
}

}  // namespace etalon::training
