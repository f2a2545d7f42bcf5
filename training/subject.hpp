/// \file
/// What is the same for all tasks that `etalon train` knows: a trainer put where training begins, trained, and shown. It
/// knows no data.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "spec/file.hpp"
#include "training/progress.hpp"
#include "training/report.hpp"
#include "training/run/run.hpp"

namespace etalon::training {

/// What is trained, and the rows of it.
struct Subject {
  std::string task, model;
  Trainer& trainer;
  std::int64_t rows = 0;
  const TrainerOptions& how;
  std::string data_digest;  ///< SHA-256, but of one's own data
  std::optional<OwnTask> own{};
  bool is_validated = true;
};

[[nodiscard]] TrainerOptions trainer_options(const TrainOptions& options, std::int64_t epochs, std::int64_t batch, bool shuffle);

/// Puts the trainer where training begins: at values from a file, at the beginning of a run, which is made, or where the given run stands.
/// \throws as train
void prepare(const Subject& subject, const TrainOptions& options, std::optional<Run>& run, std::ostream& console);
/// Trains to the end.
[[nodiscard]] Ending trained(Trainer& trainer, const TrainOptions& options, std::optional<Run>& run, Progress& progress,
                             std::ostream& console);

[[nodiscard]] ProgressOptions progress_options(const TrainOptions& options);
/// How many steps the run has, those of earlier processes with it.
[[nodiscard]] std::int64_t steps_done(const Progress& progress, const std::optional<Run>& run);
[[nodiscard]] double last_epoch_loss(const Progress& progress, const std::optional<Run>& run);

/// As a file and on the page, where there is one.
template <class Picture>
void keep(const Picture& picture, const std::string& name, const TrainOptions& options, Page& page) {
  if (!options.svg.empty()) write_file(options.svg / (name + ".svg"), as_svg(picture));
  if (!options.html.empty()) page.pictures.push_back(as_svg(picture));
}
template <class Picture>
void show(const Picture& picture, const std::string& name, const TrainOptions& options, Page& page, std::ostream& console) {
  if (options.plots) console << '\n' << as_text(picture, options.columns);
  keep(picture, name, options, page);
}
/// The curves of the steps that this process saw from the first on; else that of validation, which a run in a folder keeps.
void show_curves(const Progress& progress, const std::optional<Run>& run, const TrainOptions& options, Page& page, std::ostream& console);

}  // namespace etalon::training
