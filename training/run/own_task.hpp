/// \file
/// What `run.json` says of training on files of one's own: which, how they are read, and the model. It reads no data.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "training/data/examples.hpp"
#include "training/files/strict_json.hpp"
#include "training/tasks/perceptron.hpp"

namespace etalon::training {

struct OwnTask {
  DataChoice data;
  std::vector<DataFile> files;
  std::vector<std::string> classes;  ///< their names; none where numbers are learned
  double validation = 0.1;           ///< share of the rows
  Perceptron model;

  friend bool operator==(const OwnTask&, const OwnTask&) = default;
};

[[nodiscard]] nlohmann::ordered_json to_json(const OwnTask& task);
/// \throws IoError as StrictJson for anything that `to_json` does not write
[[nodiscard]] OwnTask own_task_of(const StrictJson& json);

/// \throws SpecViolation for other files, classes or another model than the run's
void require_same(const OwnTask& run, const OwnTask& now, std::string_view where);

}  // namespace etalon::training
