#include "training/subject.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <ostream>
#include <utility>
#include <vector>

#include "compiled/runtime/processor.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/quoted.hpp"
#include "spec/sha256.hpp"
#include "training/files/safetensors.hpp"
#include "training/files/starting_values.hpp"
#include "training/run/environment.hpp"
#include "training/run/patience.hpp"
#include "training/shadow/checks.hpp"

namespace etalon::training {

namespace {

Declaration declaration_of(const Subject& subject, const TrainOptions& options) {
  Declaration d;
  d.task = subject.task;
  d.model = subject.model;
  d.program = subject.trainer.step_text();
  d.own = subject.own;
  if (!subject.own) d.data = subject.data_digest;
  d.seed = options.seed;
  d.rows = subject.rows;
  d.batch = subject.how.batch;
  d.grain = subject.how.grain > 0 ? subject.how.grain : subject.how.batch;
  d.dropped = subject.trainer.dropped();
  d.epochs = subject.how.epochs;
  d.steps = subject.trainer.steps();
  d.interval = options.interval > 0 ? options.interval : default_interval(d.steps);
  d.patience = options.patience;
  d.best = options.best;
  d.shadow = options.shadow;
  if (!options.from.empty()) d.imported = Imported{sha256_of(read_file(options.from)), options.maps};
  d.order = order_of_sums;
  d.contract = options.device == nullptr ? "cpu" : options.device->name();
  d.build = this_build();
  return d;
}

/// What may differ between the process that began a run and this one.
void tell_differences(const Declaration& run, const Declaration& now, std::ostream& console) {
  if (run.build != now.build)
    fmt::print(console, "begun by another build, {}; where the journal has an interval, its digests decide\n", on_one_line(run.build));
  if (run.contract != now.contract) {
    fmt::print(console, "begun under the contract {}, now {}; where the journal has an interval, its digests decide\n",
               on_one_line(run.contract), now.contract);
  }
}

Onlookers onlookers_of(const TrainOptions& options, std::ostream& console, std::function<void(const StepRecord&)> after_step = {}) {
  return {std::move(after_step), [&](const std::string& line) { console << line << std::endl; }, options.should_stop};
}

/// Where it cannot be written the run is none the worse: no bit follows from it.
void note_environment(const Trainer& trainer, const TrainOptions& options, const Run& run, const Onlookers& onlookers) {
  if (run.is_over()) return;
  const bool host = options.device == nullptr;
  const std::string vectors(host ? compiled::Processor().machine().name : options.device->machine().name);
  try {
    add_environment(*file_system(), options.run,
                    this_environment(run.position().step, host ? "cpu" : options.device->name(), vectors, options.threads, trainer.options().devices));
  } catch (const IoError& error) {
    onlookers.say(fmt::format("on what the run is computed is not noted: {}", error.what()));
  }
}

/// A folder is what keeps a state; without one a run out of patience just ends.
void run_without_folder(Trainer& trainer, std::int64_t patience, const std::function<void(const StepRecord&)>& after_step) {
  std::vector<double> losses;
  trainer.run_from(0, 0, [&](const StepRecord& record) {
    after_step(record);
    if (record.validation_loss) losses.push_back(*record.validation_loss);
    return !is_out_of_patience(losses, patience);
  });
}

/// Whether all ranks would train the same run from the same state, and who has nothing to do.
void meet(Declaration now, const Subject& subject, const TrainOptions& options, std::ostream& console) {
  if (options.meeting == nullptr) return;
  now.start = sha256_of(safetensors_of(subject.trainer.state().download()));
  options.meeting->agree(to_text(now));
  const std::int64_t leaves = now.batch / now.grain, ranks = options.meeting->ranks()->count();
  fmt::print(console, "{} ranks compute the {} {} of a step", ranks, leaves, leaves == 1 ? "leaf" : "leaves");
  if (leaves < ranks) fmt::print(console, "; {} of them {} nothing to compute", ranks - leaves, ranks - leaves == 1 ? "has" : "have");
  fmt::print(console, "\n");
}

Ending trained_here(Trainer& trainer, const TrainOptions& options, std::optional<Run>& run, Progress& progress, std::ostream& console) {
  MetricsFile metrics(options.metrics, options.tensorboard, run ? run->position().step : 0);
  const auto after_step = [&](const StepRecord& record) {
    progress(record);
    if (record.batch + 1 == trainer.steps_of_epoch()) metrics.add(record);
  };
  if (const std::int64_t dropped = trainer.dropped(); dropped > 0) {
    fmt::print(console, "{} rows of each epoch fill no batch and are left out\n", dropped);
  }
  if (!run) {
    run_without_folder(trainer, options.patience, after_step);
    return {};
  }
  fmt::print(console, "run {} in {}: step {} of {}, a checkpoint every {}\n", run->id().substr(0, 16), options.run.string(),
             run->position().step, trainer.steps(), run->declaration().interval);
  Onlookers onlookers = onlookers_of(options, console, after_step);
  note_environment(trainer, options, *run, onlookers);
  const ShadowPolicy policy = options.checks ? run->declaration().shadow : ShadowPolicy{};
  if (!policy.checks()) return run->train(trainer, onlookers);
  Checks checks(trainer, policy, run->id(), options.judges, onlookers.say);
  console << checks.text();
  onlookers.shadow = [&] { return checks.take(); };
  return run->train(trainer, onlookers);
}

}  // namespace

void prepare(const Subject& subject, const TrainOptions& options, std::optional<Run>& run, std::ostream& console) {
  State& state = subject.trainer.state();
  if (!subject.is_validated && (options.patience > 0 || options.best)) {
    throw SpecViolation(fmt::format("training: {} has no rows to validate with, which --patience and --best need", subject.task));
  }
  if (!options.from.empty()) state.upload(read_starting_values(options.from, options.maps, state.parameters()));
  const Declaration now = declaration_of(subject, options);
  meet(now, subject, options, console);
  if (options.run.empty()) return;
  if (options.checks && options.shadow.judge > 0 && !options.judges) {
    throw SpecViolation(fmt::format("shadow {}: nobody judges these steps, expected replay alone", to_text(options.shadow)));
  }
  if (options.meeting != nullptr && !options.meeting->is_first()) return;
  if (run) {
    require_same(run->declaration(), now, (options.run / "run.json").string());
    tell_differences(run->declaration(), now, console);
  } else {
    run = Run::begin(file_system(), options.run, now, state.download());
  }
  run->restore(subject.trainer, onlookers_of(options, console));
}

Ending trained(Trainer& trainer, const TrainOptions& options, std::optional<Run>& run, Progress& progress, std::ostream& console) {
  if (options.meeting != nullptr && !options.meeting->is_first()) {
    trainer.follow();
    return {Ending::Status::followed};
  }
  Ending ending = trained_here(trainer, options, run, progress, console);
  if (options.meeting != nullptr) options.meeting->end();
  return ending;
}

TrainerOptions trainer_options(const TrainOptions& options, std::int64_t epochs, std::int64_t batch, bool shuffle) {
  TrainerOptions made{options.seed, epochs,        options.batch > 0 ? options.batch : batch, shuffle, options.threads, options.cache,
                      {},           options.device};
  made.grain = options.grain;
  made.devices = options.devices;
  if (options.meeting) made.ranks = options.meeting->ranks();
  return made;
}

ProgressOptions progress_options(const TrainOptions& options) { return {options.every, options.progress, options.columns}; }

std::int64_t steps_done(const Progress& progress, const std::optional<Run>& run) {
  return run ? run->position().step : progress.last().step + 1;
}

double last_epoch_loss(const Progress& progress, const std::optional<Run>& run) {
  return run ? run->position().epoch_loss : progress.last().epoch_loss;
}

void show_curves(const Progress& progress, const std::optional<Run>& run, const TrainOptions& options, Page& page, std::ostream& console) {
  std::vector<std::pair<std::string, Curve>> curves = progress.curves();
  if (curves.empty() && run && !run->position().validation.empty()) curves.push_back(validation_curve(run->position().validation));
  for (const auto& [name, curve] : curves) show(curve, name, options, page, console);
}

}  // namespace etalon::training
