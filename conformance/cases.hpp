/// \file
/// The cases of one unit of work, one after the other. Which and how many depends on the plan and the specification,
/// never on an answer.
#pragma once

#include <optional>
#include <string>

#include "conformance/case.hpp"
#include "conformance/conform.hpp"
#include "conformance/plan.hpp"

namespace etalon::conformance {

/// At least the unit's least number of cases, and then more of them until enough elements were planned.
class Cases {
 public:
  Cases(Unit unit, const ConformOptions& options);

  struct Next {
    CaseKey key;
    std::optional<Case> made;
    std::string problem;  ///< why it could not be made, where it could not
  };
  /// Nothing when the unit is done, or has no cases at all.
  [[nodiscard]] std::optional<Next> next();

 private:
  Unit unit_;
  std::uint64_t seed_;
  spec::Library library_;
  std::size_t index_ = 0;
  std::size_t given_ = 0;
  std::size_t planned_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace etalon::conformance
