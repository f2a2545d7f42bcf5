/// \file
/// The processes that train one run together: their numbers, and bytes from one to others. It knows no numbers of a model and
/// adds nothing.
#pragma once

#include <memory>
#include <vector>

#include "spec/bytes.hpp"

namespace etalon::training {

/// One process among others. All of them call each function as often and in the same order, and wait in it for the others.
class Ranks {
 public:
  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  virtual ~Ranks() = default;

  [[nodiscard]] virtual int rank() const = 0;   ///< from 0
  [[nodiscard]] virtual int count() const = 0;  ///< at least 2
  /// \param sent one buffer for each rank, this one included \returns what each had for this one, by their numbers
  /// \throws DeviceError where it does not arrive
  [[nodiscard]] virtual std::vector<Bytes> exchange(const std::vector<Bytes>& sent) = 0;
  /// \returns what each rank gave, by their numbers \throws as exchange
  [[nodiscard]] virtual std::vector<Bytes> gather(const Bytes& own) = 0;
  /// \returns what rank 0 gave; what the others give is not read \throws as exchange
  [[nodiscard]] virtual Bytes spread(const Bytes& of_first) = 0;
  /// The last call. Who ends without it ends the others, too.
  virtual void leave() = 0;
};

/// How many processes the launcher says that it started; 1 without one. What it says is Open MPI's, or PMIx's by other launchers,
/// of whose number nothing is known before they met: then it is 2.
[[nodiscard]] int started_ranks();

/// Meets the other processes by MPI. \returns null where there are none
/// \throws Unsupported where the module that speaks MPI is not in this build or not installed, or cannot be loaded: with its path
[[nodiscard]] std::shared_ptr<Ranks> join_ranks();

}  // namespace etalon::training
