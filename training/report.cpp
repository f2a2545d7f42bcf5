#include "training/report.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/sha256.hpp"
#include "training/data/dataset.hpp"
#include "training/files/starting_values.hpp"
#include "training/plot/chart.hpp"
#include "training/run/run.hpp"
#include "training/tasks/tasks.hpp"
#include "training/trainer.hpp"

namespace etalon::training {

namespace {

/// The shipped file stands in the tree that this was built from, else beside the program, into whatever prefix it was installed, else
/// where programs of others find it.
std::filesystem::path digits_file(const TrainOptions& options) {
  if (!options.data.empty()) return options.data;
  constexpr const char* name = "digits.csv.gz";
  std::error_code ignored;
  const std::filesystem::path bin = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const std::filesystem::path& folder : {std::filesystem::path(ETALON_SOURCE_DATA), bin.parent_path() / "share/etalon"}) {
    if (std::filesystem::exists(folder / name, ignored)) return folder / name;
  }
  return std::filesystem::path(ETALON_INSTALLED_DATA) / name;
}

/// Remembers the curves of a run and prints its lines.
class Reporter {
 public:
  Reporter(std::ostream& console, std::int64_t steps, std::int64_t steps_per_epoch, const TrainOptions& options)
      : console_(console), steps_(steps), progress_(options.progress), columns_(options.columns) {
    const std::int64_t lines = 20;
    const std::int64_t epochs = steps / steps_per_epoch;
    every_ = options.every > 0 ? options.every : steps_per_epoch * std::max<std::int64_t>(1, epochs / lines);
  }

  void operator()(const StepRecord& record) {
    rates_.push_back(record.rate);
    losses_.push_back(record.loss);
    if (record.validation_accuracy) validation_.push_back(*record.validation_accuracy);
    last_ = record;
    if ((record.step + 1) % every_ == 0 || record.step + 1 == steps_) line(record);
    if (progress_) bar(record.step + 1);
  }

  [[nodiscard]] const StepRecord& last() const { return last_; }
  /// Whether no step ran before the first that it saw.
  [[nodiscard]] bool saw_all() const { return last_.step + 1 == static_cast<std::int64_t>(losses_.size()); }
  /// The accuracy after each epoch.
  [[nodiscard]] const std::vector<double>& validation() const { return validation_; }
  [[nodiscard]] std::vector<Curve> curves() const {
    const Curve loss{"loss", "step", "loss", losses_};
    std::vector<Curve> all{{"learning rate", "step", "rate", rates_}, loss, logarithm(loss)};
    if (!validation_.empty()) all.push_back({"validation accuracy", "epoch", "share", validation_});
    return all;
  }

 private:
  void line(const StepRecord& r) {
    if (progress_) fmt::print(console_, "\r\x1b[K");
    const std::string validated = r.validation_accuracy ? fmt::format("  validation {:>6.2f} %", 100 * *r.validation_accuracy) : "";
    std::array parts{fmt::format("epoch {:>3}", r.epoch), fmt::format("  step {:>6}", r.step), fmt::format("  batch {:>4}", r.batch),
                     fmt::format("  rate {:.6f}", r.rate), fmt::format("  loss {:<11.6g}", r.loss), validated,
                     fmt::format("  epoch loss {:.6g}", r.epoch_loss)};
    // A terminal leaves out what says least.
    const auto size = [&] { return std::accumulate(parts.begin(), parts.end(), std::size_t{0}, [](std::size_t n, const std::string& p) { return n + p.size(); }); };
    for (const std::size_t least : {2U, 3U, 4U, 1U, 6U}) {
      if (progress_ && size() > columns_) parts[least].clear();
    }
    fmt::print(console_, "{}\n", fmt::join(parts, ""));
  }

  void bar(std::int64_t done) {
    const std::size_t beside = fmt::format("[] {0}/{0} ", steps_).size();
    const auto width = static_cast<std::int64_t>(std::clamp<std::size_t>(columns_, beside + 1, beside + 40) - beside);
    const std::int64_t full = done * width / steps_;
    if (done != steps_ && full == drawn_) return;
    drawn_ = full;
    fmt::print(console_, "\r[{}{}] {}/{}", std::string(static_cast<std::size_t>(full), '='),
               std::string(static_cast<std::size_t>(width - full), ' '), done, steps_);
    if (done == steps_) fmt::print(console_, "\r\x1b[K");
    console_.flush();
  }

  std::ostream& console_;
  std::int64_t steps_;
  std::int64_t every_ = 1;
  bool progress_;
  std::size_t columns_;
  std::int64_t drawn_ = -1;
  StepRecord last_;
  std::vector<double> rates_;
  std::vector<double> losses_;
  std::vector<double> validation_;
};

template <class Picture>
void show_svg(const Picture& picture, const std::string& name, const TrainOptions& options) {
  if (!options.svg.empty()) write_file(options.svg / (name + ".svg"), as_svg(picture));
}

template <class Picture>
void show(const Picture& picture, const std::string& name, const TrainOptions& options, std::ostream& console) {
  if (options.plots) console << '\n' << as_text(picture, options.columns);
  show_svg(picture, name, options);
}

void show_curves(const Reporter& reporter, const TrainOptions& options, std::ostream& console) {
  if (!reporter.saw_all()) return;
  const std::vector<Curve> curves = reporter.curves();
  const char* names[] = {"rate", "loss", "log-loss", "validation"};
  for (std::size_t i = 0; i < curves.size(); ++i) show(curves[i], names[i], options, console);
}

ConfusionMatrix confusion(const std::vector<std::int64_t>& found, const Dataset& test) {
  ConfusionMatrix matrix{"confusion matrix of the test digits", test.classes, {}};
  matrix.counts.resize(static_cast<std::size_t>(test.classes * test.classes));
  for (std::size_t row = 0; row < found.size(); ++row) ++matrix.counts[static_cast<std::size_t>(test.labels[row] * test.classes + found[row])];
  return matrix;
}

double accuracy(const ConfusionMatrix& matrix, std::int64_t rows) {
  std::int64_t right = 0;
  for (std::int64_t c = 0; c < matrix.classes; ++c) right += matrix.counts[static_cast<std::size_t>(c * matrix.classes + c)];
  return static_cast<double>(right) / static_cast<double>(rows);
}

/// What is trained, and the rows of it.
struct Subject {
  std::string task, model;
  Trainer& trainer;
  std::int64_t rows = 0;
  const TrainerOptions& how;
  std::function<std::string()> data_digest;
};

Declaration declaration_of(const Subject& subject, const TrainOptions& options) {
  Declaration d;
  d.task = subject.task;
  d.model = subject.model;
  d.program = subject.trainer.step_text();
  d.data = subject.data_digest();
  d.seed = options.seed;
  d.rows = subject.rows;
  d.batch = subject.how.batch;
  d.grain = subject.how.grain > 0 ? subject.how.grain : subject.how.batch;
  d.dropped = subject.trainer.dropped();
  d.epochs = subject.how.epochs;
  d.steps = subject.trainer.steps();
  d.interval = options.interval > 0 ? options.interval : default_interval(d.steps);
  d.order = order_of_sums;
  d.contract = options.device == nullptr ? "cpu" : options.device->name();
  d.build = this_build();
  return d;
}

/// What may differ between the process that began a run and this one.
void tell_differences(const Declaration& run, const Declaration& now, std::ostream& console) {
  if (run.build != now.build) fmt::print(console, "begun by another build, {}; where the journal has an interval, its digests decide\n", run.build);
  if (run.contract != now.contract) {
    fmt::print(console, "begun under the contract {}, now {}; where the journal has an interval, its digests decide\n", run.contract, now.contract);
  }
}

Onlookers onlookers_of(const TrainOptions& options, std::ostream& console, std::function<void(const StepRecord&)> after_step = {}) {
  return {std::move(after_step), [&](const std::string& line) { console << line << std::endl; }, options.should_stop};
}

/// Puts the trainer where training begins: at values from a file, at the beginning of a run, which is made, or where the given run stands.
void prepare(const Subject& subject, const TrainOptions& options, std::optional<Run>& run, std::ostream& console) {
  State& state = subject.trainer.state();
  if (!options.from.empty()) state.upload(read_starting_values(options.from, options.maps, state.parameters()));
  if (options.run.empty()) return;
  const Declaration now = declaration_of(subject, options);
  if (run) {
    require_same(run->declaration(), now, (options.run / "run.json").string());
    tell_differences(run->declaration(), now, console);
  } else {
    run = Run::begin(file_system(), options.run, now, state.download());
  }
  run->restore(subject.trainer, onlookers_of(options, console));
}

Ending trained(const Subject& subject, const TrainOptions& options, std::optional<Run>& run, Reporter& reporter, std::ostream& console) {
  const auto after_step = [&](const StepRecord& record) { reporter(record); };
  if (const std::int64_t dropped = subject.trainer.dropped(); dropped > 0) {
    fmt::print(console, "{} rows of each epoch fill no batch and are left out\n", dropped);
  }
  if (!run) {
    subject.trainer.run(after_step);
    return {};
  }
  fmt::print(console, "run {} in {}: step {} of {}, a checkpoint every {}\n", run->id().substr(0, 16), options.run.string(), run->position().step,
             subject.trainer.steps(), run->declaration().interval);
  return run->train(subject.trainer, onlookers_of(options, console, after_step));
}

double last_epoch_loss(const Reporter& reporter, const std::optional<Run>& run) {
  return run ? run->position().epoch_loss : reporter.last().epoch_loss;
}

/// What is the same for all tasks.
TrainerOptions trainer_options(const TrainOptions& options, std::int64_t epochs, std::int64_t batch, bool shuffle) {
  TrainerOptions made{options.seed, epochs, options.batch > 0 ? options.batch : batch, shuffle, options.threads, options.cache, {}, options.device};
  made.grain = options.grain;
  made.devices = options.devices;
  return made;
}

TrainResult show_plan(const LeafPlan& plan, std::ostream& console) {
  console << to_text(plan);
  return {};
}

TrainResult train_digits(const TrainOptions& options, std::optional<Run>& run, std::ostream& console) {
  const std::string& model = options.model;
  const Task task = task_named("digits", model);
  const Dataset digits = read_digits(digits_file(options));
  const Split split = split_of_digits();
  const std::int64_t epochs = options.epochs > 0 ? options.epochs : model == "mlp" ? 500 : 100;
  const TrainerOptions how = trainer_options(options, epochs, 32, true);
  if (options.plan) return show_plan(plan_of(task, select_rows(digits, split.train), how), console);
  Trainer trainer(task, select_rows(digits, split.train), how, select_rows(digits, split.validation));
  const Subject subject{"digits", model, trainer, static_cast<std::int64_t>(split.train.size()), how,
                        [&] { return sha256_of(read_file(digits_file(options))); }};
  prepare(subject, options, run, console);
  fmt::print(console, "digits, {}: {} rows to train on, {} to validate, {} to test, {} epochs, seed {}\n", model,
             split.train.size(), split.validation.size(), split.test.size(), epochs, options.seed);
  Reporter reporter(console, trainer.steps(), trainer.steps() / epochs, options);
  const Ending ending = trained(subject, options, run, reporter, console);
  if (ending.status != Ending::Status::finished) return {trainer.steps(), 0, 0, 0, reporter.validation(), ending};

  const Dataset test = select_rows(digits, split.test);
  const ConfusionMatrix matrix = confusion(trainer.classes(test.inputs), test);
  show_curves(reporter, options, console);
  if (options.plots) console << '\n' << as_text(matrix);
  show_svg(matrix, "confusion", options);
  return {trainer.steps(), last_epoch_loss(reporter, run), accuracy(matrix, test.rows()), 0, reporter.validation()};
}

DecisionMap decision_map(Trainer& trainer, const Dataset& data) {
  DecisionMap map{"half moons", {-1.25, 2.25}, {-0.75, 1.25}, 60, 24, {}, {}, data.labels};
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
  const Dataset data = half_moons(400, 0.1, options.seed);
  Dataset rows{data.features, 0, data.inputs};
  for (const std::int64_t label : data.labels) rows.numbers.push_back(label == 0 ? 1.0F : -1.0F);
  const std::int64_t epochs = options.epochs > 0 ? options.epochs : 80;
  const TrainerOptions how = trainer_options(options, epochs, 10, false);
  if (options.plan) return show_plan(plan_of(moons(), rows, how), console);
  Trainer trainer(moons(), rows, how);
  const Subject subject{"moons", options.model, trainer, rows.rows(), how, [&] {
                          return Sha256().add(std::as_bytes(std::span(rows.inputs))).add(std::as_bytes(std::span(rows.numbers))).hexadecimal();
                        }};
  prepare(subject, options, run, console);
  fmt::print(console, "moons: {} points in batches of {}, {} epochs, seed {}\n", data.rows(), how.batch, epochs, options.seed);
  Reporter reporter(console, trainer.steps(), trainer.steps() / epochs, options);
  const Ending ending = trained(subject, options, run, reporter, console);
  if (ending.status != Ending::Status::finished) return {trainer.steps(), 0, 0, 0, {}, ending};

  const std::vector<float> answers = trainer.answers(data.inputs);
  std::int64_t right = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) right += answers[i] * rows.numbers[i] > 0 ? 1 : 0;
  show_curves(reporter, options, console);
  show(decision_map(trainer, data), "decision", options, console);
  return {trainer.steps(), last_epoch_loss(reporter, run), static_cast<double>(right) / static_cast<double>(data.rows()), 0, {}};
}

/// Everything that can be refused is refused before the first step.
void check(const TrainOptions& options) {
  constexpr std::int64_t most_epochs = 1'000'000;
  if (options.epochs < 0 || options.epochs > most_epochs) {
    throw SpecViolation(fmt::format("training: {} epochs, expected 1 to {}, or 0 for the task's own number", options.epochs, most_epochs));
  }
  if (options.every < 0) throw SpecViolation(fmt::format("training: a line every {} steps, expected 0 or more", options.every));
  if (options.batch < 0) throw SpecViolation(fmt::format("training: a batch of {} rows, expected 1 or more, or 0 for the task's own number", options.batch));
  if (options.threads < 1) throw SpecViolation("training: 0 threads, expected at least 1");
  if (options.interval < 0) throw SpecViolation(fmt::format("training: a checkpoint every {} steps, expected 0 or more", options.interval));
  if (options.run.empty() && options.interval > 0) throw SpecViolation("training: --interval is of a run in a folder; --run names one");
  if (options.from.empty() && !options.maps.empty()) throw SpecViolation("training: --map is of the names in a file; --from names one");
  if (options.task == "moons" && (!options.data.empty() || options.model != "mlp")) {
    throw SpecViolation("training: moons makes its own data and has one model; --data and --model belong to digits");
  }
  if (!options.svg.empty()) make_folder(options.svg);
}

TrainResult train(const TrainOptions& options, std::optional<Run> run, std::ostream& console) {
  const auto start = std::chrono::steady_clock::now();
  check(options);
  (void)task_named(options.task, options.model);
  TrainResult result = options.task == "digits" ? train_digits(options, run, console) : train_moons(options, run, console);
  if (options.plan) return result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (result.ending.status != Ending::Status::finished) return result;
  fmt::print(console, "\n{}: {} steps in {:.1f} s, {} {:.2f} %, loss sum of the last epoch {:.4g}\n", options.task, result.steps, result.seconds,
             options.task == "digits" ? "test accuracy" : "points on their side", 100 * result.test_accuracy, result.last_epoch_loss);
  return result;
}

}  // namespace

TrainResult train(const TrainOptions& options, std::ostream& console) { return train(options, std::nullopt, console); }

TrainResult resume(const TrainOptions& options, std::ostream& console) {
  Run run = Run::open(file_system(), options.run);
  const Declaration& declared = run.declaration();
  TrainOptions all = options;
  all.task = declared.task;
  all.model = declared.model;
  all.seed = declared.seed;
  all.epochs = declared.epochs;
  all.batch = declared.batch;
  all.grain = declared.grain;
  all.interval = declared.interval;
  all.from.clear();
  return train(all, std::move(run), console);
}

}  // namespace etalon::training
