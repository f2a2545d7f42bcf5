#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "spec/error.hpp"
#include "tools/command/command.hpp"
#include "tools/command/interruption.hpp"
#include "tools/command/terminal.hpp"

#ifdef ETALON_HAS_COMPILED
#include "compiled/cache_folder.hpp"
#include "tools/assurance/step_judge.hpp"
#include "tools/command/devices.hpp"
#include "training/report.hpp"
#include "training/tasks/tasks.hpp"
#endif

namespace etalon::command {
namespace {

constexpr const char* train_examples = R"(
Examples
  etalon train digits
  etalon train digits --model cnn --seed 3 --svg plots
  etalon train moons --every 100
  etalon train text                   a GPT; --model bigram
  etalon train register --model gru
  etalon train --data my.csv --target species --run r --patience 10 --best
  etalon train --data houses.csv --target price --regression --hidden 32 --html houses.html
  etalon train --data images.idx --labels labels.idx --classes 10 --metrics m.jsonl
  etalon train digits --run r         kept in the folder r; etalon resume r goes on with it
  etalon train digits --from torch.npz --map net.0.weight=hidden.weight --map net.0.bias=hidden.bias
  etalon train digits --grain 8 --devices 3
  etalon train digits --grain 8 --devices 3 --plan
  mpirun -n 3 etalon train digits --run r --grain 8 --devices 2
  etalon train digits --grain 8 --devices 2 --ranks 3 --plan
  etalon train digits --run r --shadow replay=1/20,judge=1/5000
The same seed gives the same numbers. Compiled code is kept for the next run in ETALON_CACHE, or in ~/.cache/etalon;
ETALON_CACHE=off keeps none.
With --run: exit status 3 where an interval or a checked step, computed again, comes to other bits, 4 where nothing can be saved, 130 when
interrupted, after a checkpoint.)";

constexpr const char* resume_examples = R"(
From the newest checkpoint that is whole the run comes to the bits that it would have come to uninterrupted, with any
number of threads. Intervals that were computed before are compared with the journal.

Examples
  etalon resume r
  etalon resume r --threads 4 --data digits.csv.gz
  mpirun -n 3 etalon resume r
Exit status: 0 trained to the end, 2 usage or set-up error, 3 an interval comes to other bits than before, 4 nothing can
be saved, 130 interrupted, after a checkpoint.)";

}  // namespace

#ifdef ETALON_HAS_COMPILED

namespace {

struct TrainWords {
  training::TrainOptions options;
  std::string data, labels, svg, html, run, from, metrics, tensorboard, shadow;
  std::string backend = "cpu";
  unsigned ranks = 0;
  bool no_plots = false, no_header = false;
};

/// How data of one's own is read, and the model.
void add_own(const Command& command, TrainWords& words) {
  training::OwnTask& own = words.options.own;
  command.option("--target", own.data.target, "Column or tensor that is to be answered").one_word();
  command.option("--format", own.data.format, "csv, npy, npz, safetensors, idx or text; without it the name's ending says").one_word();
  command.option("--inputs", own.data.inputs, "Tensor of the inputs in an npz or safetensors file of more than two");
  command.option("--ignore", own.data.ignored, "A column of a csv file that is left out").one_word();
  command.option("--separator", own.data.separator, "Of a csv file; a comma, or in .tsv a tab");
  command.flag("--no-header", words.no_header, "The columns of a csv file have no names: 1, 2, …");
  command.flag("--regression", own.data.regression, "Learn numbers, not classes");
  command.option("--classes", own.data.classes, "Labels are whole numbers from 0 to one less; 0 takes what stands there")
      .between(0, 65536)
      .with_default();
  command.option("--context", own.data.context, "Of text: bytes before the one that is to be answered").between(1, 4096).with_default();
  command.option("--validation", own.validation, "Share of the rows that nothing is learned from").between(0.0, 0.99).with_default();
  command.option("--hidden", own.model.hidden, "Sizes of the hidden layers; 0 for none").separated_by(',').with_default();
  command.option("--rate", own.model.rate, "Of the first step; it falls to 0").between(1e-9, 1e3).with_default();
}

/// What says nothing of the numbers.
void add_surroundings(const Command& command, TrainWords& words) {
  command.option("--every", words.options.every, "Print every that many steps; 0 is once an epoch or rarer").between(0, 1000000000).with_default();
  command.option("--devices", words.options.devices, "That compute leaves at the same time; the numbers do not depend on it").between(1, 1024).with_default();
  command.option("--ranks", words.ranks, "Processes that compute leaves together: with --plan of the plan, else as many as mpirun has to have started; 0 is any")
      .between(0, 4096)
      .with_default();
  command.option("--threads", words.options.threads, "Of the compiled step; the numbers do not depend on it").with_default();
  command.option("--backend", words.backend, "Where steps run: cpu, cuda-emulated or cuda").with_default();
  command.option("--data", words.data, "A file of your own; of digits, the digits");
  command.option("--labels", words.labels, "The targets of an npy or idx file, in a file of their own");
  command.option("--metrics", words.metrics, "Write a line of JSON after each epoch to this file");
  command.option("--tensorboard", words.tensorboard, "The same for TensorBoard, in this folder");
  command.option("--svg", words.svg, "Write the plots into this folder");
  command.option("--html", words.html, "Write the plots, and what was reached, into this file as one page");
  command.flag("--no-plots", words.no_plots, "No plots in the terminal");
}

/// The other processes that a launcher has started.
void meet_others(TrainWords& words) {
  const std::shared_ptr<training::Ranks> ranks = training::join_ranks();
  if (ranks) words.options.meeting = std::make_shared<training::Meeting>(ranks);
  const unsigned count = ranks ? static_cast<unsigned>(ranks->count()) : 1;
  words.options.ranks = static_cast<int>(words.options.plan && words.ranks > 0 ? words.ranks : count);
  if (words.options.plan || words.ranks == 0 || words.ranks == count) return;
  throw SpecViolation(fmt::format("--ranks {0}: {1} process{2} started, expected {0}: mpirun -n {0} etalon …", words.ranks, count,
                                  count == 1 ? " was" : "es were"));
}

void complete(TrainWords& words) {
  training::TrainOptions& options = words.options;
  options.data = words.data;
  options.labels = words.labels;
  options.metrics = words.metrics;
  options.tensorboard = words.tensorboard;
  options.own.data.header = !words.no_header;
  if (options.own.model.hidden == std::vector<std::int64_t>{0}) options.own.model.hidden.clear();
  if (options.task.empty() && !words.data.empty()) options.task = "own";
  options.svg = words.svg;
  options.html = words.html;
  options.run = words.run;
  options.from = words.from;
  options.cache = compiled::default_cache_folder();
  options.device = device_named(words.backend, options.cache);
  options.judges = [backend = words.backend](const spec::Program& step, std::shared_ptr<compiled::Device> device) {
    return assurance::step_judges(make_recorder(backend).contract)(step, std::move(device));
  };
  if (!words.shadow.empty()) options.shadow = training::shadow_policy_of(words.shadow, "--shadow");
  options.plots = !words.no_plots;
  options.progress = isatty(STDOUT_FILENO) != 0;
  options.columns = output_columns().value_or(options.columns);
}

int status_of(const training::Ending& ending) {
  using Status = training::Ending::Status;
  if (ending.status == Status::finished || ending.status == Status::followed) return 0;
  std::cout.flush();
  std::cerr << ending.why << '\n';
  switch (ending.status) {
    case Status::not_repeated: return 3;
    case Status::not_saved: return 4;
    default: return interrupted_status;
  }
}

int train_alone(TrainWords& words, training::TrainResult (*train)(const training::TrainOptions&, std::ostream&)) {
  complete(words);
  std::optional<Interruption> interruption;
  if (!words.run.empty()) {
    interruption.emplace();
    words.options.should_stop = [&] { return interruption->came(); };
  }
  return status_of(train(words.options, std::cout).ending);
}

/// As one of the processes that a launcher has started, or alone.
int train_with(TrainWords& words, training::TrainResult (*train)(const training::TrainOptions&, std::ostream&)) {
  meet_others(words);
  const std::shared_ptr<training::Meeting>& meeting = words.options.meeting;
  if (meeting == nullptr) return train_alone(words, train);
  int status = 2;
  try {
    status = train_alone(words, train);
  } catch (const training::SaidByRankZero&) {
  } catch (const std::exception& error) {
    // Where the others do not know of it, the end of this process ends them, too.
    if (!meeting->has_ended()) throw;
    status = say_what_is_wrong(error);
  }
  // Once all have left, the first to end with a status other than 0 has the launcher kill the others: all is said before.
  std::cout.flush();
  meeting->ranks()->leave();
  return status;
}

}  // namespace

void add_train(Command app, Outcome& outcome) {
  Command command = app.command("train", "Train on data of your own, or a task that ships");
  command.footer(train_examples);
  auto words = std::make_shared<TrainWords>();
  training::TrainOptions& options = words->options;
  options.task.clear();
  command.option("task", options.task, fmt::format("{} or own; without it own, where --data names a file", fmt::join(training::task_names(), ", ")));
  command.option("--model", options.model, "Of the task; its first without it");
  command.option("--seed", options.seed, "Feeds initialisation, shuffling and dropout").with_default();
  command.option("--epochs", options.epochs, "Passes over the data; 0 is the task's own number").between(0, 1000000).with_default();
  command.option("--batch", options.batch, "Rows of a step; 0 is the task's own number").between(0, 1000000000).with_default();
  command.option("--grain", options.grain, "Rows of a leaf, which divide the batch; 0 is the batch. Leaves are computed one by one, and their sums are the step's").between(0, 1000000000).with_default();
  command.flag("--plan", options.plan, "Print which device would compute and send what in a step, and run nothing");
  command.option("--run", words->run, "Keep the run in this folder: checkpoints, and a journal of digests");
  command.option("--interval", options.interval, "Steps between checkpoints; 0 is a hundredth of all").between(0, 1000000000).with_default();
  command.option("--shadow", words->shadow, "Check steps of the run: replay=1/N of them computed again, judge=1/N held to their bounds, or both with a comma");
  command.option("--from", words->from, "Start with the parameters in this safetensors or npz file");
  command.option("--map", options.maps, "NAME=NAME: a tensor of that file, and the parameter that it is").one_word();
  command.option("--patience", options.patience, "End after so many epochs without a lower validation loss; 0 does not")
      .between(0, 1000000)
      .with_default();
  command.flag("--best", options.best, "Keep the checkpoint with the lowest validation loss");
  add_own(command, *words);
  add_surroundings(command, *words);
  command.callback([words, &outcome] {
    if (words->options.task.empty() && words->data.empty()) missing_argument("task");
    outcome.status = train_with(*words, training::train);
  });
}

void add_resume(Command app, Outcome& outcome) {
  Command command = app.command("resume", "Go on with a training run in a folder");
  command.footer(resume_examples);
  auto words = std::make_shared<TrainWords>();
  command.option("run", words->run, "The folder").required();
  add_surroundings(command, *words);
  command.callback([words, &outcome] { outcome.status = train_with(*words, training::resume); });
}

#else

void add_train(Command app, Outcome&) {
  Command command = app.command("train", "Train on data of your own, on the digits or on the half-moons (not in this build)");
  command.footer(train_examples);
  command.allow_extras();
  command.callback([] { throw Unsupported("train: not in this build"); });
}

void add_resume(Command app, Outcome&) {
  Command command = app.command("resume", "Go on with a training run in a folder (not in this build)");
  command.footer(resume_examples);
  command.allow_extras();
  command.callback([] { throw Unsupported("resume: not in this build"); });
}

#endif

}  // namespace etalon::command
