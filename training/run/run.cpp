#include "training/run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "spec/sha256.hpp"
#include "training/files/safetensors.hpp"
#include "training/run/environment.hpp"
#include "training/run/patience.hpp"
#include "training/shadow/shadow.hpp"

namespace etalon::training {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view declaration_file = "run.json", journal_file = "journal.jsonl", lock_file = "lock",
                           checkpoints_folder = "checkpoints", unfinished = ".new-";
constexpr int most_failures = 3;

void say(const Onlookers& onlookers, const std::string& line) {
  if (onlookers.say) onlookers.say(line);
}

[[nodiscard]] std::unique_ptr<Storage::Lock> locked(Storage& storage, const fs::path& folder) {
  auto lock = storage.lock(folder / lock_file);
  if (lock == nullptr) throw SpecViolation(folder.string() + ": another process trains this run");
  return lock;
}

/// What a beginning that did not end has left goes; anything else stays, and then no run begins.
void clear(Storage& storage, const fs::path& folder) {
  std::vector<std::string> remains;
  for (const std::string& name : storage.list(folder)) {
    if (name == declaration_file)
      throw SpecViolation(
          fmt::format("{0}: there is a run already; etalon resume {0} goes on with it", folder.string()));
    if (name == lock_file) continue;
    if (name != journal_file && name != checkpoints_folder && name != environments_file && !name.starts_with(unfinished)) {
      throw SpecViolation(
          fmt::format("{}: the folder holds '{}', expected an empty one or none", folder.string(), as_quoted(name)));
    }
    remains.push_back(name);
  }
  for (const std::string& name : remains) storage.remove(folder / name);
}

[[nodiscard]] Snapshot snapshot_of(const Named& state, Position position) {
  Snapshot snapshot{std::move(position), safetensors_of(state), {}};
  snapshot.digest = sha256_of(snapshot.state);
  return snapshot;
}

/// Of so many validation losses, as a line of the journal has it.
[[nodiscard]] std::string digest_of_validation(const Position& position, std::int64_t epochs) {
  const auto count = std::min(position.validation.size(), static_cast<std::size_t>(epochs));
  return count == 0 ? "" : digest_of_losses(std::span(position.validation).first(count));
}

[[nodiscard]] Checkpoints checkpoints_of(Storage& storage, const fs::path& folder, const std::string& id,
                                         const Declaration& declaration) {
  return {storage, folder / checkpoints_folder, id, declaration.kept * declaration.interval};
}

[[nodiscard]] std::pair<Declaration, std::string> declared_in(Storage& storage, const fs::path& folder) {
  const fs::path file = folder / declaration_file;
  const std::string text = storage.read(file);
  return {declaration_of(text, file.string()), sha256_of(text)};
}

/// The newest checkpoint of at most that step: its step and its name.
[[nodiscard]] std::pair<std::int64_t, std::string> newest_until(Storage& storage, const fs::path& folder, std::int64_t step) {
  const auto [declaration, id] = declared_in(storage, folder);
  const auto found = checkpoints_of(storage, folder, id, declaration).newest_until(step);
  if (!found) throw IoError(fmt::format("{}: there is no checkpoint of step {} or before", folder.string(), step));
  return *found;
}

}  // namespace

Run::Run(std::shared_ptr<Storage> storage, const fs::path& folder, Declaration declaration, std::string id,
         std::unique_ptr<Storage::Lock> lock)
    : storage_(std::move(storage)),
      folder_(folder),
      declaration_(std::move(declaration)),
      id_(std::move(id)),
      lock_(std::move(lock)),
      checkpoints_(checkpoints_of(*storage_, folder, id_, declaration_)),
      journal_(*storage_, folder / journal_file) {}

Run Run::begin(std::shared_ptr<Storage> storage, const fs::path& folder, Declaration declaration, const Named& state) {
  const Snapshot start = snapshot_of(state, {});
  declaration.start = start.digest;
  const std::string text = to_text(declaration), id = sha256_of(text);  // what cannot be said is refused before there is a folder
  storage->make_folder(folder);
  auto lock = locked(*storage, folder);
  clear(*storage, folder);
  storage->make_folder(folder / checkpoints_folder);
  storage->create(folder / journal_file)->sync();
  checkpoints_of(*storage, folder, id, declaration).save(start);
  replace_file(*storage, folder / declaration_file, text);             // only now there is a run
  const fs::path outside = (folder / "").parent_path().parent_path();  // also of a name that ends in a slash
  storage->sync_folder(outside.empty() ? "." : outside);
  return {std::move(storage), folder, std::move(declaration), id, std::move(lock)};
}

Run Run::open(std::shared_ptr<Storage> storage, const fs::path& folder) {
  auto [declaration, id] = declared_in(*storage, folder);
  auto lock = locked(*storage, folder);
  return {std::move(storage), folder, std::move(declaration), std::move(id), std::move(lock)};
}

std::int64_t steps_of_epoch(const Declaration& declaration) { return declaration.steps / declaration.epochs; }

bool ends_at(const Declaration& declaration, const Position& position) {
  return position.step == declaration.steps || is_out_of_patience(position.validation, declaration.patience);
}

std::int64_t best_step_of(const Declaration& declaration, const Position& position) {
  const std::int64_t epoch = best_epoch(position.validation);
  if (epoch > declaration.epochs) throw SpecViolation(fmt::format("best epoch {}, expected at most {}", epoch, declaration.epochs));
  if (epoch == 0) throw SpecViolation("there is no validation loss that would say which checkpoint is the best");
  return epoch * steps_of_epoch(declaration);
}

/// The last interval may be a shorter one.
std::int64_t Run::intervals_before(const Position& position) const {
  const std::int64_t whole = position.step / declaration_.interval;
  return whole + (ends_at(declaration_, position) && position.step % declaration_.interval != 0 ? 1 : 0);
}

std::optional<std::int64_t> Run::best_step() const {
  return declaration_.best && !position_.validation.empty() ? std::optional(best_step_of(declaration_, position_)) : std::nullopt;
}

/// The journal's lines up to a checkpoint: those that were not written when its process ended stand in it.
void Run::adopt(const Checkpoint& checkpoint) {
  for (const JournalLine& line : checkpoint.lines) {
    const JournalLine* known = journal_.find(line.interval);
    if (known == nullptr && line.interval == static_cast<std::int64_t>(journal_.lines().size()) + 1)
      journal_.add(line);
    else if (known == nullptr || !(*known == line)) {
      throw IoError(fmt::format("{}: interval {} is not what the checkpoint of step {} says",
                                (folder_ / journal_file).string(), line.interval, checkpoint.position.step));
    }
  }
  const std::int64_t needed = intervals_before(checkpoint.position);
  if (static_cast<std::int64_t>(journal_.lines().size()) < needed) {
    throw IoError(fmt::format("{}: {} intervals, expected {} before step {}", (folder_ / journal_file).string(),
                              journal_.lines().size(), needed, checkpoint.position.step));
  }
  const JournalLine* last = journal_.find(needed);
  const std::string& expected = checkpoint.position.step == 0 ? declaration_.start
                                : last != nullptr             ? last->state
                                                              : checkpoint.digest;
  if ((last == nullptr || last->step == checkpoint.position.step) && expected != checkpoint.digest) {
    throw IoError(fmt::format("{}: the state after step {} is {}, the checkpoint has {}", folder_.string(),
                              checkpoint.position.step, expected, checkpoint.digest));
  }
  const Position& position = checkpoint.position;
  const std::int64_t epochs = position.step / steps_of_epoch(declaration_), before = last == nullptr ? 0 : last->step / steps_of_epoch(declaration_);
  const auto count = static_cast<std::int64_t>(position.validation.size());
  if ((count != 0 && count != epochs) || digest_of_validation(position, before) != (last == nullptr ? "" : last->validation)) {
    throw IoError(fmt::format("{}: the {} validation losses of the checkpoint of step {} are not those that the journal has", folder_.string(),
                              count, position.step));
  }
}

void Run::restore(Trainer& trainer, const Onlookers& onlookers) {
  Loaded loaded = checkpoints_.load();
  for (const std::string& line : loaded.refused)
    say(onlookers, fmt::format("{}; going on from step {}", line, loaded.checkpoint.position.step));
  adopt(loaded.checkpoint);
  trainer.state().upload(loaded.checkpoint.state, Upload::strict, Part::all);
  ending_.saved = loaded.checkpoint.position.step;
  position_ = std::move(loaded.checkpoint.position);
}

void Run::compare(const JournalLine& line) {
  const JournalLine* before = journal_.find(line.interval);
  if (before == nullptr) return journal_.add(line);
  if (same_bits(*before, line)) {
    ending_.compared = line.interval;
    return;
  }
  const bool state = before->state != line.state, losses = before->losses != line.losses;
  const auto of = [&](const JournalLine& from) { return state ? from.state : losses ? from.losses : from.validation; };
  ending_.status = Ending::Status::not_repeated;
  ending_.why = fmt::format("this machine does not repeat itself: interval {}, up to step {}: the {} are {}, in the journal {}", line.interval,
                            line.step, state ? "state's bits" : losses ? "losses" : "validation losses", of(line), of(*before));
}

void Run::save(const Snapshot& snapshot, const Onlookers& onlookers) {
  try {
    if (missed_best_ && missed_best_->position.step == best_step()) checkpoints_.save(*missed_best_);
    missed_best_.reset();
    checkpoints_.save(snapshot);
    journal_.write();
    failures_ = 0;
    ending_.saved = snapshot.position.step;
  } catch (const IoError& error) {
    ++failures_;
    if (failures_ == most_failures || ends_at(declaration_, snapshot.position)) {
      ending_.status = Ending::Status::not_saved;
      ending_.why = fmt::format("the checkpoint of step {} is not saved: {}", snapshot.position.step, error.what());
      return;
    }
    if (snapshot.position.step == best_step()) missed_best_ = snapshot;
    say(onlookers, fmt::format("the checkpoint of step {} is not saved, training goes on: {}", snapshot.position.step,
                               error.what()));
    return;
  }
  try {
    checkpoints_.prune(best_step());
  } catch (const IoError& error) {
    say(onlookers, error.what());
  }
}

bool Run::take(Trainer& trainer, const StepRecord& record, const Onlookers& onlookers) {
  position_.step = record.step + 1;
  position_.epoch_loss = record.epoch_loss;
  position_.losses.push_back(record.loss);
  if (record.validation_loss) position_.validation.push_back(*record.validation_loss);
  if (onlookers.shadow) position_.shadow += onlookers.shadow();
  if (onlookers.after_step) onlookers.after_step(record);
  const bool stop = onlookers.should_stop && onlookers.should_stop();
  const bool is_last = is_over(), ends = position_.step % declaration_.interval == 0 || is_last;
  const bool is_best = record.validation_loss && position_.step == best_step();
  if (!ends && !stop && !is_best) return true;
  Snapshot snapshot = snapshot_of(trainer.settled_state(), position_);
  if (ends) {
    compare({intervals_before(position_), position_.step, snapshot.digest, digest_of_losses(position_.losses),
             digest_of_validation(position_, declaration_.epochs), position_.shadow});
    for (Position* position : {&position_, &snapshot.position}) {
      position->losses.clear();
      position->shadow = {};
    }
  }
  if (ending_.status != Ending::Status::finished) return false;
  snapshot.lines = journal_.pending();
  save(snapshot, onlookers);
  if (ending_.status == Ending::Status::finished && stop && !is_last) {
    ending_.status = Ending::Status::stopped;
    ending_.why = fmt::format("stopped after step {}; etalon resume {} goes on from step {}", position_.step,
                              folder_.string(), ending_.saved);
  }
  return ending_.status == Ending::Status::finished && !is_last;
}

Ending Run::train(Trainer& trainer, const Onlookers& onlookers) {
  failures_ = 0;
  try {
    journal_.write();
    checkpoints_.prune(best_step());
  } catch (const IoError& error) {
    say(onlookers, error.what());
  }
  if (is_over()) return ending_;
  try {
    trainer.run_from(position_.step, position_.epoch_loss,
                     [&](const StepRecord& record) { return take(trainer, record, onlookers); });
  } catch (const NotRepeated& alarm) {
    ending_.status = Ending::Status::not_repeated;
    ending_.why = alarm.what();
  }
  return ending_;
}

RunContents read_run(Storage& storage, const fs::path& folder, bool best) {
  auto [declaration, id] = declared_in(storage, folder);
  const Checkpoints checkpoints = checkpoints_of(storage, folder, id, declaration);
  Loaded newest = checkpoints.load();
  if (best) newest.checkpoint = checkpoints.at(best_step_of(declaration, newest.checkpoint.position));
  return {std::move(declaration), std::move(id), std::move(newest)};
}

std::int64_t checkpoint_until(Storage& storage, const fs::path& folder, std::int64_t step) { return newest_until(storage, folder, step).first; }

std::int64_t copy_until(Storage& storage, const fs::path& folder, std::int64_t step, const fs::path& copy) {
  const auto [from, name] = newest_until(storage, folder, step);
  try {
    const fs::path checkpoint = fs::path(checkpoints_folder) / name;
    fs::create_directories(copy / checkpoint);
    fs::copy(folder / checkpoint, copy / checkpoint);
    for (const std::string_view file : {declaration_file, journal_file}) fs::copy(folder / file, copy / file);
  } catch (const fs::filesystem_error& error) {
    throw IoError(fmt::format("{}: cannot be copied: {}", error.path1().string(), error.code().message()));
  }
  return from;
}

}  // namespace etalon::training
