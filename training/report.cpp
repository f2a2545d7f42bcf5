#include "training/report.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "training/data/sequences.hpp"
#include "training/own_report.hpp"
#include "training/plot/class_table.hpp"
#include "training/subject.hpp"
#include "training/tasks/shipped.hpp"
#include "training/tasks/tasks.hpp"

namespace etalon::training {

namespace {

TrainResult show_plan(const LeafPlan& plan, std::ostream& console) {
  console << to_text(plan);
  return {};
}

/// What the model came to on the rows that nobody looked at.
void judge(Trainer& trainer, const Shipped& of, const TrainOptions& options, TrainResult& result, std::ostream& console) {
  if (of.predicts) {
    result.test_accuracy = trainer.accuracy(of.test);
    result.test_perplexity = std::exp(trainer.loss(of.test));
    result.bigram_perplexity = bigram_perplexity(of.train, of.test);
    return;
  }
  const ConfusionMatrix matrix =
      confusion_of("confusion matrix of the test " + options.task, of.test.classes, of.test.labels, trainer.classes(of.test.inputs));
  result.test_accuracy = accuracy_of(matrix);
  if (options.plots) console << '\n' << as_text(matrix);
  std::vector<std::string> names;
  for (std::int64_t c = 0; c < of.test.classes; ++c) names.push_back(fmt::format("{}", c));
  result.page.classes = class_rows(matrix, names);
  keep(matrix, "confusion", options, result.page);
}

TrainResult train_shipped(const TrainOptions& options, std::optional<Run>& run, std::ostream& console) {
  const Shipped of = shipped(options.task, options.model, options.data, options.seed);
  const std::int64_t epochs = options.epochs > 0 ? options.epochs : of.epochs;
  const TrainerOptions how = trainer_options(options, epochs, of.batch, of.shuffles);
  if (options.plan) return show_plan(plan_of(of.task, of.train, how, options.ranks), console);
  Trainer trainer(of.task, of.train, how, of.validation);
  const Subject subject{options.task, options.model, trainer, of.train.rows(), how, of.digest};
  prepare(subject, options, run, console);
  fmt::print(console, "{}, {}: {} rows to train on, {} to validate, {} to test, {} epochs, seed {}\n", options.task, options.model,
             of.train.rows(), of.validation.rows(), of.test.rows(), epochs, options.seed);
  ProgressOptions shown = progress_options(options);
  shown.perplexity = of.predicts;
  Progress progress(console, trainer.steps(), trainer.steps_of_epoch(), shown);
  const Ending ending = trained(trainer, options, run, progress, console);
  TrainResult result{trainer.steps(), 0, 0, 0, progress.accuracies(), ending};
  if (ending.status != Ending::Status::finished) return result;
  result.steps = steps_done(progress, run);
  result.last_epoch_loss = last_epoch_loss(progress, run);
  show_curves(progress, run, options, result.page, console);
  judge(trainer, of, options, result, console);
  return result;
}

DecisionMap decision_map(Trainer& trainer, const Dataset& data) {
  DecisionMap map{"half moons", {-1.25, 2.25}, {-0.75, 1.25}, 60, 24, {}, {}, {}};
  for (const float number : data.numbers) map.labels.push_back(number > 0 ? 0 : 1);
  std::vector<float> grid;
  for (std::int64_t r = 0; r < map.rows; ++r) {
    for (std::int64_t c = 0; c < map.columns; ++c) {
      const auto centre = [](const std::array<double, 2>& range, double at, std::int64_t cells) {
        return static_cast<float>(range[0] + (range[1] - range[0]) * (at + 0.5) / static_cast<double>(cells));
      };
      grid.push_back(centre(map.x_range, static_cast<double>(c), map.columns));
      grid.push_back(centre(map.y_range, static_cast<double>(map.rows - 1 - r), map.rows));
    }
  }
  for (const float value : trainer.answers(grid)) map.values.push_back(static_cast<double>(value));
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    const auto at = static_cast<std::size_t>(2 * i);
    map.points.push_back({static_cast<double>(data.inputs[at]), static_cast<double>(data.inputs[at + 1])});
  }
  return map;
}

TrainResult train_moons(const TrainOptions& options, std::optional<Run>& run, std::ostream& console) {
  const Shipped of = shipped(options.task, options.model, options.data, options.seed);
  const Dataset& rows = of.train;
  const std::int64_t epochs = options.epochs > 0 ? options.epochs : of.epochs;
  const TrainerOptions how = trainer_options(options, epochs, of.batch, of.shuffles);
  if (options.plan) return show_plan(plan_of(of.task, rows, how, options.ranks), console);
  Trainer trainer(of.task, rows, how);
  const Subject subject{options.task, options.model, trainer, rows.rows(), how, of.digest, {}, false};
  prepare(subject, options, run, console);
  fmt::print(console, "moons: {} points in batches of {}, {} epochs, seed {}\n", rows.rows(), how.batch, epochs, options.seed);
  Progress progress(console, trainer.steps(), trainer.steps_of_epoch(), progress_options(options));
  const Ending ending = trained(trainer, options, run, progress, console);
  if (ending.status != Ending::Status::finished) return {trainer.steps(), 0, 0, 0, {}, ending};

  const std::vector<float> answers = trainer.answers(rows.inputs);
  std::int64_t right = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) right += answers[i] * rows.numbers[i] > 0 ? 1 : 0;
  const double share = static_cast<double>(right) / static_cast<double>(rows.rows());
  TrainResult result{trainer.steps(), last_epoch_loss(progress, run), share, 0, {}, ending};
  show_curves(progress, run, options, result.page, console);
  show(decision_map(trainer, rows), "decision", options, result.page, console);
  return result;
}

/// Everything that can be refused is refused before the first step.
void check(const TrainOptions& options) {
  constexpr std::int64_t most_epochs = 1'000'000, most_interval = 1'000'000'000;
  if (options.epochs < 0 || options.epochs > most_epochs) {
    throw SpecViolation(fmt::format("training: {} epochs, expected 1 to {}, or 0 for the task's own number", options.epochs, most_epochs));
  }
  if (options.every < 0) throw SpecViolation(fmt::format("training: a line every {} steps, expected 0 or more", options.every));
  if (options.batch < 0) throw SpecViolation(fmt::format("training: a batch of {} rows, expected 1 or more, or 0 for the task's own number", options.batch));
  if (options.threads < 1) throw SpecViolation("training: 0 threads, expected at least 1");
  if (options.interval < 0 || options.interval > most_interval)
    throw SpecViolation(fmt::format("training: a checkpoint every {} steps, expected 0 to {}", options.interval, most_interval));
  if (options.run.empty() && options.shadow.checks()) throw SpecViolation("training: --shadow is of a run in a folder; --run names one");
  if (options.run.empty() && options.interval > 0) throw SpecViolation("training: --interval is of a run in a folder; --run names one");
  if (options.from.empty() && !options.maps.empty()) throw SpecViolation("training: --map is of the names in a file; --from names one");
  if (options.patience < 0) throw SpecViolation(fmt::format("training: a patience of {} epochs, expected 0 or more", options.patience));
  if (options.run.empty() && options.best) throw SpecViolation("training: --best keeps a checkpoint of a run in a folder; --run names one");
  if (options.task != own_task && (!(options.own == OwnTask{}) || !options.labels.empty())) {
    throw SpecViolation("training: how data is read, and layers, are of one's own data: etalon train --data FILE --target COLUMN");
  }
  if (!options.svg.empty()) make_folder(options.svg);
  if (!options.html.empty()) check_writable(options.html);
  if (!options.metrics.empty()) check_writable(options.metrics);
  if (!options.tensorboard.empty()) make_folder(options.tensorboard);
}

/// The page of a run that is at its end, the same for the same run.
void write_page(TrainResult& result, const TrainOptions& options, const std::optional<Run>& run) {
  if (options.html.empty()) return;
  Page& page = result.page;
  page.title = fmt::format("{}, {}", options.task, options.model.empty() ? "mlp" : options.model);
  page.facts = {{"steps", fmt::format("{}", result.steps)}, {"loss sum of the last epoch", fmt::format("{:.4g}", result.last_epoch_loss)}};
  if (const auto& error = result.mean_squared_error) {
    page.facts.emplace_back("root mean squared error", fmt::format("{:.6g}", std::sqrt(*error)));
  } else {
    const char* what = options.task == "moons" ? "points on their side" : "accuracy";
    page.facts.emplace_back(what, fmt::format("{:.2f} %", 100 * result.test_accuracy));
  }
  if (result.test_perplexity) page.facts.emplace_back("perplexity", fmt::format("{:.2f}", *result.test_perplexity));
  if (run) page.facts.emplace_back("run", run->id().substr(0, 16));
  write_file(options.html, as_html(page));
}

void tell_end(const TrainResult& result, const TrainOptions& options, std::ostream& console) {
  fmt::print(console, "\n{}: {} steps in {:.1f} s, {} {:.2f} %, ", options.task, result.steps, result.seconds,
             options.task == "moons" ? "points on their side" : "test accuracy", 100 * result.test_accuracy);
  if (result.test_perplexity) {
    fmt::print(console, "test perplexity {:.2f} ({:.2f} by counts of pairs), ", *result.test_perplexity, *result.bigram_perplexity);
  }
  fmt::print(console, "loss sum of the last epoch {:.4g}\n", result.last_epoch_loss);
}

TrainResult train(TrainOptions options, std::optional<Run> run, std::ostream& console) {
  const auto start = std::chrono::steady_clock::now();
  check(options);
  const bool is_own = options.task == own_task;
  if (!is_own && options.model.empty()) options.model = models_of(options.task).front();
  TrainResult result = is_own                    ? train_own(options, run, console)
                       : options.task == "moons" ? train_moons(options, run, console)
                                                 : train_shipped(options, run, console);
  if (options.plan || result.ending.status != Ending::Status::finished) return result;
  write_page(result, options, run);
  if (is_own) return result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  tell_end(result, options, console);
  return result;
}

TrainResult resume_here(const TrainOptions& options, std::ostream& console) {
  std::optional<Run> run;
  const auto opened = [&] { return to_text(run.emplace(Run::open(file_system(), options.run)).declaration()); };
  // Only rank 0 needs the folder.
  const std::string text = options.meeting ? options.meeting->text_of_first(opened) : opened();
  TrainOptions all = options_of(declaration_of(text, (options.run / "run.json").string()), options);
  all.from.clear();
  return train(all, std::move(run), console);
}

using Training = TrainResult (*)(const TrainOptions&, std::ostream&);

/// Ranks other than 0 write nothing. What goes wrong before they agreed is said by rank 0 alone.
TrainResult on_every_rank(TrainOptions options, std::ostream& console, Training training) {
  if (options.meeting == nullptr) return training(options, console);
  const bool is_first = options.meeting->is_first();
  std::ostream nowhere(nullptr);
  if (!is_first) {
    for (std::filesystem::path* file : {&options.svg, &options.html, &options.metrics, &options.tensorboard}) file->clear();
    options.plots = options.progress = false;
  }
  try {
    return training(options, is_first ? console : nowhere);
  } catch (const SaidByRankZero&) {
    throw;
  } catch (const DeviceError&) {  // the others may wait for what this one cannot give
    throw;
  } catch (const std::exception& error) {
    if (options.meeting->fail(error.what()) && !is_first) throw SaidByRankZero(error.what());
    throw;
  }
}

}  // namespace

TrainOptions options_of(const Declaration& declared, TrainOptions all) {
  all.task = declared.task;
  all.model = declared.model;
  all.seed = declared.seed;
  all.epochs = declared.epochs;
  all.batch = declared.batch;
  all.grain = declared.grain;
  all.interval = declared.interval;
  all.patience = declared.patience;
  all.best = declared.best;
  all.shadow = declared.shadow;
  if (declared.own) take_own(*declared.own, all);
  return all;
}

TrainResult train(const TrainOptions& options, std::ostream& console) {
  return on_every_rank(options, console, [](const TrainOptions& own, std::ostream& to) { return train(own, std::nullopt, to); });
}

TrainResult resume(const TrainOptions& options, std::ostream& console) {
  return on_every_rank(options, console, [](const TrainOptions& own, std::ostream& to) { return resume_here(own, to); });
}

}  // namespace etalon::training
