/// \file
/// A training run in its folder: begun once, gone on with from any process, its bits the same whenever it was ended. It
/// knows no task.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "training/run/checkpoint.hpp"
#include "training/run/declaration.hpp"
#include "training/run/ending.hpp"
#include "training/run/journal.hpp"
#include "training/run/storage.hpp"
#include "training/trainer.hpp"

namespace etalon::training {

/// Who looks on while a run trains. Each may be left out.
struct Onlookers {
  std::function<void(const StepRecord&)> after_step{};
  std::function<void(const std::string&)>
      say{};  ///< one line that is no error: a checkpoint that was not saved, one that does not hold
  std::function<bool()> should_stop{};  ///< asked after each step
  std::function<ShadowResults()> shadow{};  ///< what checks found since it was asked last, asked after each step
};

/// Whether training ends there: after the last step, or out of patience.
[[nodiscard]] bool ends_at(const Declaration& declaration, const Position& position);
[[nodiscard]] std::int64_t steps_of_epoch(const Declaration& declaration);
/// How many steps were done after the epoch with the lowest validation loss. \throws SpecViolation where none was validated
[[nodiscard]] std::int64_t best_step_of(const Declaration& declaration, const Position& position);

/// A run that this process may change: it holds the lock of the folder.
class Run {
 public:
  /// Makes the folder, with the state that training starts from. `start` of the declaration is filled in.
  /// \throws SpecViolation: there is a run in it, or other files, or another process holds it; IoError
  [[nodiscard]] static Run begin(std::shared_ptr<Storage> storage, const std::filesystem::path& folder,
                                 Declaration declaration, const Named& state);
  /// The run that is in a folder. \throws SpecViolation: another process holds it; IoError
  [[nodiscard]] static Run open(std::shared_ptr<Storage> storage, const std::filesystem::path& folder);

  [[nodiscard]] const Declaration& declaration() const { return declaration_; }
  /// SHA-256 of `run.json`.
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const Journal& journal() const { return journal_; }
  /// Where training stands.
  [[nodiscard]] const Position& position() const { return position_; }
  /// Whether it ended there: after the last step, or out of patience.
  [[nodiscard]] bool is_over() const { return ends_at(declaration_, position_); }

  /// Gives the trainer the state of the newest checkpoint that holds, and training its position.
  /// \throws IoError where there is none, SpecViolation where its tensors are not the trainer's
  void restore(Trainer& trainer, const Onlookers& onlookers);
  /// Trains on from where `restore` has put it, to the end.
  [[nodiscard]] Ending train(Trainer& trainer, const Onlookers& onlookers);

 private:
  Run(std::shared_ptr<Storage> storage, const std::filesystem::path& folder, Declaration declaration, std::string id,
      std::unique_ptr<Storage::Lock> lock);

  [[nodiscard]] std::int64_t intervals_before(const Position& position) const;
  [[nodiscard]] std::optional<std::int64_t> best_step() const;
  void adopt(const Checkpoint& checkpoint);
  [[nodiscard]] bool take(Trainer& trainer, const StepRecord& record, const Onlookers& onlookers);
  void compare(const JournalLine& line);
  void save(const Snapshot& snapshot, const Onlookers& onlookers);

  std::shared_ptr<Storage> storage_;
  std::filesystem::path folder_;
  Declaration declaration_;
  std::string id_;
  std::unique_ptr<Storage::Lock> lock_;
  Checkpoints checkpoints_;
  Journal journal_;
  // Of the training that goes on.
  Position position_;
  Ending ending_;
  int failures_ = 0;  ///< of saving, in a row
  std::optional<Snapshot> missed_best_;  ///< the best checkpoint, while it could not be saved
};

/// What is in a folder, for who only reads.
struct RunContents {
  Declaration declaration;
  std::string id;
  Loaded newest;
};
/// \param best the checkpoint with the lowest validation loss, as far as the newest knows, in place of the newest
/// \throws IoError; SpecViolation where nothing was validated
[[nodiscard]] RunContents read_run(Storage& storage, const std::filesystem::path& folder, bool best = false);

/// The step of the newest checkpoint of at most that step. \throws IoError where there is none
[[nodiscard]] std::int64_t checkpoint_until(Storage& storage, const std::filesystem::path& folder, std::int64_t step);

/// Makes a run of another folder, which is empty, from the newest checkpoint of at most that step and the whole journal: who
/// goes on with it computes again what came after. \returns the checkpoint's step
/// \throws IoError where there is none, or a file cannot be copied
std::int64_t copy_until(Storage& storage, const std::filesystem::path& folder, std::int64_t step, const std::filesystem::path& copy);

}  // namespace etalon::training
