/// \file
/// What `verify` found wrong with a system, for those who know where its equations come from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "spec/error.hpp"
#include "spec/system/reach.hpp"
#include "spec/system/written_once.hpp"

namespace etalon::spec {

/// A rule that a system breaks.
struct Broken {
  TensorId tensor = -1;                    ///< it is about this one, if any
  std::optional<std::size_t> equation{};   ///< where it was found, if it was in one
  std::optional<Fault> fault{};            ///< a read or reduction that cannot be evaluated everywhere
  std::optional<Miswritten> miswritten{};  ///< an element that is not given exactly once
};

class IllFormed : public SpecViolation {
 public:
  IllFormed(const std::string& message, Broken broken) : SpecViolation(message), broken_(std::move(broken)) {}
  [[nodiscard]] const Broken& broken() const { return broken_; }

 private:
  Broken broken_;
};

}  // namespace etalon::spec
