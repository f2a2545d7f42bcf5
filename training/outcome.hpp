/// \file
/// What a run of a program came to: completed with its outputs, or why not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/host_tensor.hpp"

namespace etalon::training {

struct Outcome {
  enum class Status : std::uint8_t {
    completed,
    not_finite,  ///< a watched output is NaN or infinite; a guarded step has changed nothing
    failed       ///< the backend gave no numbers; nothing is changed
  };

  Status status = Status::completed;
  std::string why{};  ///< one line, unless completed
  std::vector<std::pair<std::string, HostTensor>> outputs{};  ///< in the program's order

  [[nodiscard]] bool completed() const { return status == Status::completed; }
  /// \throws SpecViolation for a name that is no output, with the nearest one, or an outcome without numbers, with why.
  [[nodiscard]] const HostTensor& output(std::string_view name) const;
  /// The value of a real or integer scalar.
  [[nodiscard]] double number(std::string_view name) const;
};

/// `completed`, `not_finite`, `failed`.
[[nodiscard]] std::string_view name_of(Outcome::Status status);

/// The value of a scalar. \throws SpecViolation when it has more than one element, or is no number.
[[nodiscard]] double number_in(const HostTensor& tensor, std::string_view name);

}  // namespace etalon::training
