#include "training/certificate/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
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

std::vector<Replayed> Replay::intervals(const std::vector<std::int64_t>& wanted, const std::function<void(const Replayed&)>& after) const {
  std::vector<Replayed> all;
  for (const std::int64_t at : wanted) {
    if (at < 0 || at >= std::ssize(lines_)) {
      throw SpecViolation(fmt::format("{}: {} intervals, expected more than {}", folder_.string(), lines_.size(), at));
    }
    const auto n = static_cast<std::size_t>(at);
    all.push_back({lines_[n], checkpoint_until(*file_system(), folder_, n == 0 ? 0 : lines_[n - 1].step)});
  }
  for (auto first = all.begin(); first != all.end();) {
    const auto end = std::find_if(first, all.end(), [&](const Replayed& r) { return r.from != first->from; });
    replay({first, end}, after);
    first = end;
  }
  return all;
}

/// Intervals that begin at one checkpoint, at once.
void Replay::replay(std::span<Replayed> some, const std::function<void(const Replayed&)>& after) const {
  const Scratch scratch;
  std::int64_t done = copy_until(*file_system(), folder_, some.front().from, scratch.path());
  TrainOptions options = in_folder(here_, scratch.path());
  const Replayed& farthest = some.back();
  std::size_t known = 0;
  const auto tell = [&](bool same, std::string difference) {
    some[known].same = same;
    some[known].difference = std::move(difference);
    if (after) after(some[known]);
    ++known;
  };
  options.should_stop = [&] {
    // Training goes on only behind an interval that came out as the journal has it.
    ++done;
    while (&some[known] != &farthest && some[known].line.step < done) tell(true, {});
    return done >= farthest.line.step;
  };
  std::ostringstream unread;
  const Ending ending = resume(options, unread).ending;
  const bool ended = ending.status == Ending::Status::finished, stopped = ending.status == Ending::Status::stopped;
  const bool goes_on = stopped && farthest.line.step == last_step();
  while (known < some.size()) {
    const Replayed& r = some[known];
    const bool is_met = ending.compared >= r.line.interval;
    if (is_met && (&r != &farthest || ended || (stopped && !goes_on))) tell(true, {});
    else if (ended) tell(false, fmt::format("interval {}: training ends before it, by the checkpoint of step {}", r.line.interval, r.from));
    else if (stopped) tell(false, fmt::format("interval {}: training does not end after step {}", r.line.interval, r.line.step));
    else tell(false, ending.why);
  }
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
