/// \file
/// The rows that the steps of a declared run read, where its task ships: an auditor needs nobody's copy of them. It computes no step.
#pragma once

#include <cstdint>
#include <filesystem>

#include "training/epoch_rows.hpp"
#include "training/run/declaration.hpp"

namespace etalon::training {

class DeclaredRows {
 public:
  /// \param file instead of the one that the task has
  /// \throws SpecViolation where the task's data, rows or step are not the declaration's, or no such task ships; IoError
  DeclaredRows(const Declaration& declaration, const std::filesystem::path& file);

  /// What the step of that number, from 1, is given: `names::inputs` and `names::targets` of its epoch.
  [[nodiscard]] const Named& of_step(std::int64_t number);

 private:
  Dataset rows_;
  Batches batches_;
  std::int64_t steps_of_epoch_;
  std::int64_t epoch_ = 0;  ///< of the data, from 1; 0 for none
  Named data_;
};

}  // namespace etalon::training
