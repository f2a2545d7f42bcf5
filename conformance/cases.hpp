/// \file
/// The cases of one unit of work, one after the other. Which and how many depends on the plan, the specification and what
/// the backend says of itself, never on an answer.
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
  /// \param description of the backend, where there is one: programs that it does not offer are passed over
  Cases(Unit unit, const ConformOptions& options, const spec::Description* description = nullptr);

  struct Next {
    CaseKey key;
    std::optional<Case> made;
    std::string problem;  ///< why it could not be made, where it could not
  };
  /// Nothing when the unit is done, or has no cases at all.
  [[nodiscard]] std::optional<Next> next();

 private:
  [[nodiscard]] bool offers(const Case& c) const;

  Unit unit_;
  std::uint64_t seed_;
  spec::Library library_;
  const spec::Description* description_;
  std::size_t index_ = 0;
  std::size_t given_ = 0;
  std::size_t planned_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace etalon::conformance
