/// \file
/// Intervals of a run computed again, beside the run: nothing in its folder changes. It judges nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "training/report.hpp"
#include "training/run/declaration.hpp"
#include "training/run/journal.hpp"

namespace etalon::training {

/// What an interval came to, computed again.
struct Replayed {
  JournalLine line;           ///< what the journal has of it
  std::int64_t from = 0;      ///< the step of the checkpoint that it was computed from
  bool same = false;
  std::string difference{};   ///< one line, unless it is the same
};

/// A run that is only read.
class Replay {
 public:
  /// \param here where it is computed: device, threads, data and cache of the options, nothing else
  /// \throws IoError
  Replay(std::filesystem::path folder, TrainOptions here);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// The text of run.json.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const Declaration& declaration() const { return declaration_; }
  /// Every line of the journal.
  [[nodiscard]] const std::vector<JournalLine>& lines() const { return lines_; }

  /// Intervals by their numbers from 0, ascending, each from the nearest checkpoint before it; those between are compared as well. What
  /// begins at one checkpoint is computed once. \param after called of each as soon as it is known
  /// \throws as resume, and where the run does not come that far
  [[nodiscard]] std::vector<Replayed> intervals(const std::vector<std::int64_t>& wanted,
                                                const std::function<void(const Replayed&)>& after = {}) const;
  /// The digest of the state before the first step, made again: drawn by the seed, or read from the file that the declaration says.
  /// \throws SpecViolation for another file; as train
  [[nodiscard]] std::string start_again(const std::filesystem::path& imported) const;
  /// \throws SpecViolation for a run that did not train to its end
  void require_ended() const;
  /// What a run that trained to its end reached, by its last checkpoint. \throws SpecViolation for one that did not
  [[nodiscard]] TrainResult reached() const;

 private:
  void replay(std::span<Replayed> some, const std::function<void(const Replayed&)>& after) const;
  [[nodiscard]] std::int64_t last_step() const { return lines_.empty() ? 0 : lines_.back().step; }

  std::filesystem::path folder_;
  TrainOptions here_;
  std::string text_;
  Declaration declaration_;
  std::vector<JournalLine> lines_;
};

}  // namespace etalon::training
