/// \file
/// `etalon train` on data of one's own: read, split, trained, and judged on the rows that nothing was learned from.
#pragma once

#include <iosfwd>
#include <optional>
#include <string_view>

#include "training/report.hpp"
#include "training/run/run.hpp"

namespace etalon::training {

/// The name of the task.
inline constexpr std::string_view own_task = "own";

/// \throws as train
[[nodiscard]] TrainResult train_own(const TrainOptions& options, std::optional<Run>& run, std::ostream& console);
/// The options with which a run of that declaration is gone on with; its files are where they were unless options name others.
void take_own(const OwnTask& declared, TrainOptions& options);

}  // namespace etalon::training
