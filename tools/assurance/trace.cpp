#include "tools/assurance/trace.hpp"

#include <fmt/format.h>

#include <deque>
#include <utility>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/quoted.hpp"
#include "tools/assurance/recorded.hpp"
#include "training/files/safetensors.hpp"
#include "training/leaves/sums.hpp"
#include "training/run/run.hpp"
#include "training/run/scratch.hpp"
#include "training/run/storage.hpp"
#include "training/tasks/shipped.hpp"
#include "training/trainer.hpp"

namespace etalon::assurance {
namespace {

namespace fs = std::filesystem;
using training::Named;

/// What a step writes is what the run has, since a trace has to come to its bits.
void require_same(const logging::Log& log, const Named& after, std::int64_t number) {
  const std::vector<spec::Update> updates = spec::all_updates(log.meaning.program);
  const std::vector<spec::TensorId>& outputs = log.meaning.system.outputs;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const HostTensor* value = log.value(outputs[outputs.size() - updates.size() + i]);
    if (value != nullptr && *value == after.at(updates[i].parameter)) continue;
    throw SpecViolation(fmt::format("step {}: {} has other bits when all values are kept, so that its values cannot be written down", number,
                                    updates[i].parameter));
  }
}

class Writer {
 public:
  Writer(training::Trainer& trainer, const training::TrainOptions& here, fs::path folder) : trainer_(trainer), folder_(std::move(folder)) {
    const spec::Contract contract = spec::contract_named(here.device == nullptr ? "cpu" : here.device->name());
    for (const spec::Program& program : trainer_.programs()) programs_.emplace_back(program, here.device, contract);
  }

  /// The step of that number, from 1; the trainer has the state before it, and has the one after it then.
  void step(std::int64_t number) {
    const std::vector<spec::Program> programs = trainer_.programs();
    Named beside;
    const logging::Log last = trainer_.leaves() == 1 ? log_of(0, trainer_.inputs_of(programs.front(), number - 1))
                                                     : log_of(1, trainer_.inputs_of(programs.back(), number - 1, 0, beside = sums(number)));
    if (const training::Outcome outcome = trainer_.compute(number - 1); !outcome.completed())
      throw SpecViolation(fmt::format("step {} does not complete: {}", number, outcome.why));
    require_same(last, trainer_.state().download(), number);
    write(fmt::format("step-{}.safetensors", number), last, std::move(beside));
  }

  void state(std::int64_t number) {
    write_file(folder_ / fmt::format("state-{}.safetensors", number), training::safetensors_of(trainer_.state().download()));
  }
  [[nodiscard]] std::size_t values() const { return values_; }

 private:
  [[nodiscard]] logging::Log log_of(std::size_t program, const std::vector<HostTensor>& inputs) { return programs_.at(program).run(inputs); }

  /// Each leaf, written down, and what all of them add up to.
  [[nodiscard]] Named sums(std::int64_t number) {
    training::TreeSum tree(trainer_.leaves());
    const spec::Program leaf_program = trainer_.programs().front();
    for (std::int64_t leaf = 0; leaf < trainer_.leaves(); ++leaf) {
      const logging::Log log = log_of(0, trainer_.inputs_of(leaf_program, number - 1, leaf));
      write(fmt::format("step-{}-leaf-{}.safetensors", number, leaf), log, {});
      training::Summands outputs;
      for (const spec::TensorId output : log.meaning.system.outputs) outputs.push_back(*log.value(output));
      tree.add({{leaf, leaf + 1}, std::move(outputs)});
    }
    training::Summands root = tree.take_root();
    Named named;
    const std::vector<std::string> names = training::sums_of(trainer_.programs().back());
    for (std::size_t i = 0; i < names.size(); ++i) named.emplace(names[i], std::move(root.at(i)));
    return named;
  }

  void write(const std::string& name, const logging::Log& log, Named values) {
    for (const spec::TensorId t : logging::selected(log.meaning.system, {})) {
      if (const HostTensor* value = log.value(t)) values.emplace(log.meaning.system[t].name, *value);
    }
    values_ += values.size();
    write_file(folder_ / name, training::safetensors_of(values));
  }

  training::Trainer& trainer_;
  fs::path folder_;
  std::deque<Recorded> programs_;  ///< as the trainer's
  std::size_t values_ = 0;
};

training::TrainerOptions trainer_options(const training::Declaration& d, const training::TrainOptions& here, bool shuffles) {
  training::TrainerOptions options;
  options.seed = d.seed;
  options.epochs = d.epochs;
  options.batch = d.batch;
  options.shuffle = shuffles;
  options.threads = here.threads;
  options.cache = here.cache;
  options.device = here.device;
  options.grain = d.grain;
  options.devices = here.devices;
  return options;
}

}  // namespace

WrittenTrace write_trace(const training::Replay& run, std::size_t at, const training::TrainOptions& here, const fs::path& folder) {
  const training::Declaration& d = run.declaration();
  if (!training::is_shipped(d.task)) {
    throw SpecViolation(fmt::format("{}: a run of the task {}, expected one that ships", run.folder().string(), as_quoted(d.task)));
  }
  if (at >= run.lines().size()) {
    throw SpecViolation(fmt::format("{}: {} intervals, expected more than {}", run.folder().string(), run.lines().size(), at));
  }
  WrittenTrace written{at == 0 ? 1 : run.lines()[at - 1].step + 1, run.lines()[at].step};
  const training::Shipped of = training::shipped(d.task, d.model, here.data, d.seed);
  training::Trainer trainer(of.task, of.train, trainer_options(d, here, of.shuffles), of.validation);
  if (trainer.step_text() != d.program) throw SpecViolation(run.folder().string() + ": its program is not the one of this build");

  const training::Scratch scratch;
  const std::int64_t from = training::copy_until(*training::file_system(), run.folder(), written.first - 1, scratch.path());
  const Named state = training::read_run(*training::file_system(), scratch.path()).newest.checkpoint.state;
  trainer.state().upload(state, training::Upload::strict, training::Part::all);
  for (std::int64_t step = from; step < written.first - 1; ++step) (void)trainer.compute(step);

  fs::create_directories(folder);
  Writer writer(trainer, here, folder);
  writer.state(written.first - 1);
  for (std::int64_t number = written.first; number <= written.last; ++number) writer.step(number);
  written.values = writer.values();
  return written;
}

}  // namespace etalon::assurance
