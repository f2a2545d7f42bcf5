/// \file
/// What a run is, before it has begun: `run.json`, which never changes and whose SHA-256 is the run's name. It knows no
/// folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/run/own_task.hpp"
#include "training/shadow/policy.hpp"

namespace etalon::training {

/// The order of additions in all compiled steps (decision 0070).
inline constexpr std::string_view order_of_sums = "etalon-order-1";

/// A file with the parameters that training starts from.
struct Imported {
  std::string sha256;             ///< of its bytes
  std::vector<std::string> maps;  ///< `NAME=NAME`: a tensor's name in the file, and the parameter that it is
};

/// Bits follow from all of this and from nothing else.
struct Declaration {
  std::string task;     ///< of those that ship, or own
  std::string model;    ///< of the task
  std::string program;  ///< the step, as text
  std::string data;     ///< SHA-256 of the data, in hexadecimal digits; of one's own data `own` has them
  std::uint64_t seed = 1;
  std::int64_t rows = 0;  ///< that are trained on
  std::int64_t batch = 1;
  std::int64_t grain = 1;       ///< rows of a leaf: it decides the order of additions
  std::int64_t dropped = 0;  ///< rows of each epoch that fill no batch
  std::int64_t epochs = 1;
  std::int64_t steps = 0;     ///< of all epochs
  std::int64_t interval = 1;  ///< steps between lines of the journal
  std::int64_t kept = 10;     ///< every so many intervals a checkpoint is kept for good
  std::int64_t patience = 0;  ///< epochs without a lower validation loss after which training ends; 0: it does not
  bool best = false;          ///< the checkpoint after the epoch with the lowest validation loss is kept
  std::string start;          ///< SHA-256 of the file of the state before the first step
  std::string order;          ///< of additions
  std::string contract;  ///< what the device keeps on which the run was begun; it is said where another goes on with it
  std::string build;     ///< that made the run: it is said where another goes on with it
  std::optional<OwnTask> own{};  ///< of one's own data
  ShadowPolicy shadow = {};  ///< which steps are checked while it trains: no bit follows from it
  std::optional<Imported> imported{};  ///< nothing where parameters are drawn by the seed
};

/// A hundredth of the steps, at least 1.
[[nodiscard]] std::int64_t default_interval(std::int64_t steps);
/// The build that runs now.
[[nodiscard]] std::string this_build();

/// The text of `run.json`.
[[nodiscard]] std::string to_text(const Declaration& declaration);
/// \param where the file's name in messages
/// \throws IoError for anything that `to_text` does not write
[[nodiscard]] Declaration declaration_of(std::string_view text, const std::string& where);

/// What keeps a run from being gone on with: the first part of it that is not the same now, but for the build.
/// \throws SpecViolation naming the part, what the run has and what there is now
void require_same(const Declaration& run, const Declaration& now, std::string_view where);

}  // namespace etalon::training
