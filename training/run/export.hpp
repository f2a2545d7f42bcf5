/// \file
/// The tensors of a run as one file of other tools. It changes nothing in the run's folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "training/run/declaration.hpp"
#include "training/task.hpp"

namespace etalon::training {

/// What the run trains. \throws SpecViolation for a task that this build does not have
[[nodiscard]] Task task_of(const Declaration& declaration);

struct Exported {
  std::string bytes;  ///< of the file
  std::size_t tensors = 0;
  std::int64_t step = 0;             ///< how many steps were done
  std::int64_t steps = 0;            ///< of the whole run
  std::vector<std::string> refused;  ///< one line for each newer checkpoint that does not hold, and why
};

/// The newest checkpoint that holds, or the one with the lowest validation loss.
/// \param format `npz` or `safetensors`
/// \param all the whole state, not the parameters alone
/// \throws IoError; SpecViolation for another format, or a run of a task that this build does not have; Unsupported for
/// what the format cannot hold
[[nodiscard]] Exported export_run(const std::filesystem::path& folder, std::string_view format, bool all,
                                  bool best = false);

}  // namespace etalon::training
