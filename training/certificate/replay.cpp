#include "training/certificate/replay.hpp"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/sha256.hpp"
#include "training/run/run.hpp"
#include "training/run/scratch.hpp"
#include "training/run/storage.hpp"

namespace etalon::training {
namespace {

namespace fs = std::filesystem;

TrainOptions in_folder(TrainOptions options, const fs::path& folder) {
  options.run = folder;
  options.plots = false;
  options.progress = false;
  options.svg.clear();
  options.checks = false;
  return options;
}

}  // namespace

Replay::Replay(fs::path folder, TrainOptions here)
    : folder_(std::move(folder)),
      here_(std::move(here)),
      text_(read_file(folder_ / "run.json")),
      declaration_(declaration_of(text_, (folder_ / "run.json").string())) {
  const std::shared_ptr<Storage> storage = file_system();
  lines_ = Journal(*storage, folder_ / "journal.jsonl").lines();
}

Replayed Replay::interval(std::size_t at) const {
  if (at >= lines_.size()) throw SpecViolation(fmt::format("{}: {} intervals, expected more than {}", folder_.string(), lines_.size(), at));
  Replayed replayed{lines_[at]};
  const Scratch scratch;
  replayed.from = copy_until(*file_system(), folder_, at == 0 ? 0 : lines_[at - 1].step, scratch.path());
  TrainOptions options = in_folder(here_, scratch.path());
  std::int64_t done = replayed.from;
  options.should_stop = [&] { return ++done >= replayed.line.step; };
  std::ostringstream unread;
  const Ending ending = resume(options, unread).ending;
  const bool is_last = at + 1 == lines_.size();
  const bool ended = ending.status == Ending::Status::finished, stopped = ending.status == Ending::Status::stopped;
  replayed.same = (ended || (stopped && !is_last)) && ending.compared >= replayed.line.interval;
  if (replayed.same) return replayed;
  replayed.difference = ended     ? fmt::format("interval {}: training ends before it, by the checkpoint of step {}", at + 1, replayed.from)
                        : stopped ? fmt::format("interval {}: training does not end after step {}", at + 1, replayed.line.step)
                                  : ending.why;
  return replayed;
}

std::string Replay::start_again(const fs::path& imported) const {
  const Scratch scratch;
  TrainOptions options = in_folder(options_of(declaration_, here_), scratch.path() / "r");
  if (declaration_.imported) {
    const std::string digest = sha256_of(read_file(imported));
    if (digest != declaration_.imported->sha256) {
      throw SpecViolation(fmt::format("{}: its SHA-256 is {}, the run started from {}", imported.string(), digest, declaration_.imported->sha256));
    }
    options.from = imported;
    options.maps = declaration_.imported->maps;
  }
  options.should_stop = [] { return true; };
  std::ostringstream unread;
  (void)train(options, unread);
  return declaration_of(read_file(options.run / "run.json"), "run.json").start;
}

void Replay::require_ended() const {
  const std::int64_t last = last_step();
  const bool is_over = last == declaration_.steps || ends_at(declaration_, read_run(*file_system(), folder_).newest.checkpoint.position);
  if (!is_over) {
    throw SpecViolation(fmt::format("{0}: trained {1} of {2} steps; etalon resume {0} goes on", folder_.string(),
                                    last, declaration_.steps));
  }
}

TrainResult Replay::reached() const {
  require_ended();
  const std::int64_t last = last_step();
  const Scratch scratch;
  if (copy_until(*file_system(), folder_, last, scratch.path()) != last) {
    throw IoError(folder_.string() + ": the last checkpoint is not there");
  }
  std::ostringstream unread;
  return resume(in_folder(here_, scratch.path()), unread);
}

}  // namespace etalon::training
