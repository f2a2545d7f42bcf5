/// \file
/// A model that answers a number for each class, as the system of one row of inputs, and rows with labels. It bounds nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/program/program.hpp"
#include "spec/system/system.hpp"
#include "training/data/examples.hpp"
#include "training/model/parameters.hpp"

namespace etalon::robust {

struct Classifier {
  std::string name;                 ///< one line: what was trained, and how far
  spec::System system;              ///< its first output holds the answers to the first row
  std::size_t points = 0;           ///< position of the input that holds rows; its first axis counts them
  std::vector<HostTensor> inputs;   ///< in the system's order; that of rows holds zeros
  training::Dataset rows;           ///< with a label each, from which nothing was learned
  std::string rows_are;             ///< `test rows`, `validation rows`, …
};

/// The model of a run of `etalon train`, after its newest checkpoint or the best one, and the rows that nothing was learned
/// from: those to test with of a task that ships, those to validate with of one's own data.
/// \param data where the run's data is now; empty: where it was
/// \throws IoError; SpecViolation for a run that does not learn one class for each row, or other data than the run's
[[nodiscard]] Classifier classifier_of_run(const std::filesystem::path& folder, bool best, const std::filesystem::path& data);

/// A program and the values of its inputs: the one input of reals that no value is given for holds rows, and the first output
/// the answers.
/// \throws SpecViolation where there is not one such input, a value is missing or of another type, or the rows do not fit
[[nodiscard]] Classifier classifier_of_program(const spec::Program& program, const std::string& name, const training::Named& values,
                                               training::Dataset rows);

}  // namespace etalon::robust
