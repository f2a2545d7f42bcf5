/// \file
/// Checkpoints of a run: folders, each whole or not there, whose names are their digests. It knows neither model nor
/// step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "training/model/parameters.hpp"
#include "training/run/journal.hpp"
#include "training/run/storage.hpp"

namespace etalon::training {

/// Where a run stands, beside its state.
struct Position {
  std::int64_t step = 0;            ///< how many steps are done
  double epoch_loss = 0;            ///< sum of the losses of the epoch that has begun
  std::vector<double> losses = {};  ///< of the interval that has begun
  std::vector<double> validation = {};  ///< losses after each epoch, where there are rows to validate with
  ShadowResults shadow = {};        ///< of the interval that has begun
};

/// What a checkpoint holds.
struct Checkpoint {
  Position position;
  Named state;
  std::string digest;                   ///< SHA-256 of the state's file, in hexadecimal digits
  std::vector<JournalLine> lines = {};  ///< that may not be in the journal yet
};

/// A checkpoint that is to be saved, with the bytes of its state's file.
struct Snapshot {
  Position position;
  std::string state;   ///< as safetensors_of
  std::string digest;  ///< of those bytes
  std::vector<JournalLine> lines = {};
};

/// What was found.
struct Loaded {
  Checkpoint checkpoint;
  std::vector<std::string> refused;  ///< one line for each newer one that does not hold, and why
};

/// The folder `checkpoints` of a run.
class Checkpoints {
 public:
  /// \param run the id of the run: other runs' checkpoints are refused
  /// \param kept the last 3 are kept, and those whose step is a multiple of this
  Checkpoints(Storage& storage, std::filesystem::path folder, std::string run, std::int64_t kept);

  /// Saves. \throws IoError; then all that was saved before is there still.
  void save(const Snapshot& snapshot);
  /// Removes what is kept no longer, and what saves that did not end have left. \throws IoError
  /// \param best the step of one more that is kept
  void prune(const std::optional<std::int64_t>& best = {});
  /// That of one step. \throws IoError where it is not there, or does not hold
  [[nodiscard]] Checkpoint at(std::int64_t step) const;
  /// The newest one whose digests hold. \throws IoError where there is none, with why the newest is not
  [[nodiscard]] Loaded load() const;
  /// The folder of the newest one of at most that step, whether it holds or not; its step.
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::string>> newest_until(std::int64_t step) const;

 private:
  struct Name {
    std::int64_t step = 0;
    std::string folder;
  };

  [[nodiscard]] std::vector<Name> names() const;
  [[nodiscard]] Checkpoint read(const Name& name) const;
  [[nodiscard]] std::string manifest_of(const Snapshot& snapshot) const;
  void discard(const std::string& folder);

  Storage* storage_;
  std::filesystem::path folder_;
  std::string run_;
  std::int64_t kept_;
};

}  // namespace etalon::training
