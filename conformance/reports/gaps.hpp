/// \file
/// What a run did not compare, and why: the backend's reasons, and what it offers that was never answered. It judges no
/// number.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/reports/report.hpp"

namespace etalon::conformance {

/// One reason for `unsupported` in the backend's words.
struct Reason {
  std::string why;
  std::size_t times = 0;
  std::vector<std::string> operations;  ///< sorted
};

/// All reasons, the most frequent first.
[[nodiscard]] std::vector<Reason> reasons_of(const std::vector<Record>& records);

/// An operation, or a mode or element type of all operations, that is offered and of which no number was compared.
struct NeverCompared {
  std::string what;
  std::vector<Reason> reasons;
};

/// What the run asked for in vain: operations and, where neither `--ops` nor a share left others out, modes and element
/// types. What failed is no gap. Nothing of a run that was interrupted.
[[nodiscard]] std::vector<NeverCompared> never_compared(const Report& report);

/// `layer_norm: offered, nothing compared: only the last axis, 78×`
[[nodiscard]] std::string words_of(const NeverCompared& gap);
/// `only the last axis, 78× (layer_norm, softmax and 3 more)`
[[nodiscard]] std::string words_of(const Reason& reason);

}  // namespace etalon::conformance
