/// \file
/// The tasks whose data ships, lies on every Debian system or is made, with that data. It trains nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "training/data/dataset.hpp"
#include "training/task.hpp"

namespace etalon::training {

struct Shipped {
  Task task;
  Dataset train, validation, test;  ///< no row is in two of them
  std::string digest;               ///< SHA-256 of the data, in hexadecimal digits
  std::int64_t epochs = 1;          ///< that it usually takes
  std::int64_t batch = 32;
  bool shuffles = true;             ///< each epoch has an order of its own
  bool predicts = false;            ///< answers are the next symbols: it is judged by its perplexity beside a bigram's
};

/// Whether a task of that name ships.
[[nodiscard]] bool is_shipped(const std::string& task);
/// \param task one that ships \param model of it
/// \param data instead of the file that the task has; moons and the register are made and have none
/// \param seed of the run, which makes the moons
/// \throws SpecViolation for another task or model, with the nearest name, and for a file that does not fit it; IoError
[[nodiscard]] Shipped shipped(const std::string& task, const std::string& model, const std::filesystem::path& data, std::uint64_t seed);

}  // namespace etalon::training
