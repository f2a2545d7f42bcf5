/// \file
/// An interval of a run written down step by step, as Explanation reads it: what a side of a dispute hands in. It judges nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "spec/contract/contract.hpp"
#include "training/certificate/replay.hpp"

namespace etalon::assurance {

struct WrittenTrace {
  std::int64_t first = 0;  ///< step, from 1
  std::int64_t last = 0;
  std::size_t values = 0;  ///< tensors, in all files
};

/// Computes the interval again from the nearest checkpoint before it, with all values of its steps kept. Nothing in the run's
/// folder changes.
/// \param at from 0 \param here where it is computed: device, threads, data and cache of the options, nothing else
/// \param folder made where it is missing; files of the trace replace those of their names
/// \throws SpecViolation for a run of a task that does not ship, an interval that it does not have, and where a step comes to other
/// bits when its values are kept: its values are then not those that the run had; IoError
WrittenTrace write_trace(const training::Replay& run, std::size_t at, const training::TrainOptions& here, const std::filesystem::path& folder);

}  // namespace etalon::assurance
