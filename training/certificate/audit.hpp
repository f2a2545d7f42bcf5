/// \file
/// Certificates of runs in folders: made, held to a folder, and audited by computing intervals again. It signs nothing and
/// prints nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "training/certificate/certificate.hpp"
#include "training/certificate/challenge.hpp"
#include "training/certificate/merkle.hpp"
#include "training/certificate/replay.hpp"

namespace etalon::training {

/// What is certified of a run that trained to its end: its declaration, its states, its journal, its model and the metrics
/// that this machine finds. \throws SpecViolation for a run that is not at its end; IoError
[[nodiscard]] Certificate certify(const std::filesystem::path& folder, const Replay& run, std::string device);

/// The same of a run that another system computed: nothing is computed again, and there are no metrics and no other file than the
/// last state. \throws SpecViolation for a run that is not at its end
[[nodiscard]] Certificate certify_explained(const Replay& run);

/// The line of a journal that a leaf of the certificate's tree is of.
[[nodiscard]] Digest leaf_of(const JournalLine& line);

/// Where a run's folder is not what the certificate says, one line each; empty where it is.
[[nodiscard]] std::vector<std::string> contradictions(const Certificate& certificate, const Replay& run);

struct Audit {
  std::vector<Replayed> intervals;
  /// All of those that were asked are the same.
  [[nodiscard]] bool holds() const;
};

/// What is found of an interval, by its number from 0.
using IntervalCheck = std::function<Replayed(std::size_t interval)>;
/// Checks the intervals of a challenge, by computing them again where no other check is given. \param after called after each of them
/// \throws SpecViolation where the run is not the certificate's, or the challenge asks for more than it has
[[nodiscard]] Audit audit(const Certificate& certificate, const Replay& run, const Nonce& nonce, std::int64_t count,
                          const std::function<void(const Replayed&)>& after, const IntervalCheck& check = {});

/// The first interval that differs, from 0; nothing where none does that both have. \throws SpecViolation where they are not the
/// same run
[[nodiscard]] std::optional<std::size_t> first_interval_apart(const Replay& first, const Replay& second);

/// What two folders of one run differ in.
struct Dispute {
  std::size_t interval = 0;  ///< the first that differs, from 0
  bool first = false;        ///< computed again, it is the first's
  bool second = false;       ///< it is the second's
};
/// \returns nothing where no interval that both have differs
/// \throws SpecViolation where they are not the same run
[[nodiscard]] std::optional<Dispute> dispute(const Replay& first, const Replay& second);

}  // namespace etalon::training
