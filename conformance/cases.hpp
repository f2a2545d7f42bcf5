/// \file
/// The cases of one unit of work, one after the other. Which they are depends on the plan, the specification and what
/// the backend says of itself; how many of them there are also on what it refuses, never on its numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/conform.hpp"
#include "conformance/plan.hpp"

namespace etalon::conformance {

/// At least the unit's least number of cases, and then more of them until enough elements were planned. A case that the
/// backend does not offer, or refuses, is replaced by the next one: more are drawn of the kind that it answers, up to a
/// limit, and fewer while it has answered nothing.
class Cases {
 public:
  /// \param description of the backend, where there is one: what it does not offer is passed over
  Cases(Unit unit, const ConformOptions& options, const spec::Description* description = nullptr);

  struct Next {
    CaseKey key;
    std::optional<Case> made;
    std::string problem;  ///< why it could not be made, where it could not
  };
  /// Nothing when the unit is done, or has no cases at all.
  [[nodiscard]] std::optional<Next> next();

  /// The backend does not offer a case that `next` gave.
  void refused(const Case& c);

  /// When no case was given because each needs an element type that is not offered: the first of them, and the type.
  struct RuledOut {
    CaseKey key;
    spec::Mode mode = spec::Mode::forward;
    DType dtype = DType::f32;
  };
  [[nodiscard]] std::optional<RuledOut> ruled_out() const;

 private:
  [[nodiscard]] bool goes_on() const;
  [[nodiscard]] bool passes_over(const Case& c);

  Unit unit_;
  std::uint64_t seed_;
  spec::Library library_;
  std::vector<spec::Mode> modes_;  ///< that are asked; empty for all
  const spec::Description* description_;
  std::size_t index_ = 0;
  std::size_t given_ = 0;    ///< those that were refused left out
  std::size_t planned_ = 0;  ///< elements of those
  std::size_t missing_ = 0;
  std::size_t replaced_ = 0;  ///< passed over or refused
  bool any_refused_ = false;
  std::optional<RuledOut> ruled_out_;
};

}  // namespace etalon::conformance
