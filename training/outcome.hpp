/// \file
/// What a run of a program came to: completed with its outputs, or why not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/host_tensor.hpp"
#include "training/guard.hpp"

namespace etalon::training {

struct Outcome {
  enum class Status : std::uint8_t {
    completed,
    not_finite,  ///< a watched or guarded value is NaN or infinite; where a guard says so the run has changed nothing
    aborted,     ///< who looked on asked to stop before an iteration's end; what ran is done, and its outputs are the last run's
    failed       ///< the backend gave no numbers; nothing is changed
  };

  Status status = Status::completed;
  std::string why{};  ///< one line, unless completed
  NamedValues outputs{};   ///< in the program's order
  NamedValues captures{};  ///< captured values, in the order of the program's wishes
  std::optional<NotFinite> not_finite{};  ///< the first element that is, where the status says so

  [[nodiscard]] bool completed() const { return status == Status::completed; }
  /// \throws SpecViolation for a name that is no output, with the nearest one, or an outcome without numbers, with why.
  [[nodiscard]] const HostTensor& output(std::string_view name) const;
  /// A captured value. \throws as `output`.
  [[nodiscard]] const HostTensor& captured(std::string_view name) const;
  /// The value of a real or integer scalar.
  [[nodiscard]] double number(std::string_view name) const;
};

/// `completed`, `not_finite`, `aborted`, `failed`.
[[nodiscard]] std::string_view name_of(Outcome::Status status);

/// The value of a scalar. \throws SpecViolation when it has more than one element, or is no number.
[[nodiscard]] double number_in(const HostTensor& tensor, std::string_view name);

}  // namespace etalon::training
