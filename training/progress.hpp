/// \file
/// What a training run shows of itself while it trains: lines, a bar, curves, and lines of JSON. It trains nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "training/files/event_file.hpp"
#include "training/plot/chart.hpp"
#include "training/trainer.hpp"

namespace etalon::training {

/// One line of JSON per epoch in a file: epoch, step, rate, loss (the mean over the epoch's steps), and where it is
/// validated validation_loss, perplexity and validation_accuracy.
/// The same goes to TensorBoard.
class MetricsFile {
 public:
  /// \param path empty: nothing is written
  /// \param step where training begins: of what is there, lines up to it stay, so that a run that is gone on with leaves
  /// the file of one that was not ended. \throws IoError
  /// \param events the folder of TensorBoard's files; empty: none
  MetricsFile(std::filesystem::path path, const std::filesystem::path& events, std::int64_t step);
  /// Of a step that ends an epoch. \throws IoError
  void add(const StepRecord& record);

 private:
  std::filesystem::path path_;
  EventFile events_;
};

struct ProgressOptions {
  std::int64_t every = 0;  ///< steps between lines; 0: once an epoch or rarer
  bool bar = false;        ///< for a terminal
  std::size_t columns = 84;
  bool perplexity = false;  ///< in place of the accuracy
};

/// Of the losses of validation after each epoch: the name of its file, and the curve.
[[nodiscard]] std::pair<std::string, Curve> validation_curve(std::vector<double> losses);

/// Remembers the curves of a run and prints its lines.
class Progress {
 public:
  Progress(std::ostream& console, std::int64_t steps, std::int64_t steps_per_epoch, const ProgressOptions& options);

  void operator()(const StepRecord& record);
  [[nodiscard]] const StepRecord& last() const { return last_; }
  /// The accuracy after each epoch.
  [[nodiscard]] const std::vector<double>& accuracies() const { return accuracies_; }
  /// The loss of validation after each epoch.
  [[nodiscard]] const std::vector<double>& validation_losses() const { return validation_; }
  /// By the names of their files; none where steps ran before the first that it saw.
  [[nodiscard]] std::vector<std::pair<std::string, Curve>> curves() const;

 private:
  void line(const StepRecord& r);
  void bar(std::int64_t done);

  std::ostream& console_;
  std::int64_t steps_;
  std::int64_t every_ = 1;
  ProgressOptions options_;
  std::int64_t drawn_ = -1;
  StepRecord last_;
  std::vector<double> rates_;
  std::vector<double> losses_;
  std::vector<double> accuracies_;
  std::vector<double> validation_;
};

}  // namespace etalon::training
