/// \file
/// A kernel held to one operation: the suite's questions about values, one after the other until an answer convicts it,
/// and that one made small. It does not know how a kernel is run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/conform.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

struct TrialOptions {
  spec::Library library{};
  std::string operation;
  std::vector<DType> dtypes{DType::f32};
  spec::Contract contract{};
  Tier tier = Tier::quick;
  std::uint64_t seed = 1;
  double shrink_seconds = 10;
};

/// What became of the questions.
struct Trial {
  std::size_t asked = 0;         ///< cases
  std::size_t declined = 0;      ///< cases among them
  std::size_t comparisons = 0;   ///< elements
  std::size_t undecided = 0;     ///< elements among them of which the bound says nothing
  std::vector<DType> open;       ///< asked element types in which nothing was compared that says what is computed
  double worst_ratio = 0;        ///< largest error over bound
  std::string id;                ///< of the case that convicts; of a long axis that of the case that it was made from
  std::optional<Case> smallest;  ///< made of it
  Outcome outcome;               ///< of that; a pass where nothing convicts

  [[nodiscard]] bool convicted() const { return smallest.has_value(); }
  /// Whether something was compared that says what is computed, in each element type.
  [[nodiscard]] bool decided() const { return open.empty(); }
};

/// Values, special values, layouts where they are taken, repeated questions, large tensors and long axes. The same options and the
/// same answers give the same trial, unless seconds ran out.
[[nodiscard]] Trial tried(const TrialOptions& options, spec::Backend& backend);

}  // namespace etalon::conformance
