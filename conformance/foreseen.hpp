/// \file
/// A unit of work whose next cases are drawn before they are asked, so that a backend can be told of them. It asks nobody.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "conformance/cases.hpp"

namespace etalon::conformance {

/// The same cases as those of `Cases`, in the same order.
class Foreseen {
 public:
  /// \param unit number of the unit in its plan \param most cases that are drawn at a time, one at least
  Foreseen(std::size_t unit, Cases cases, std::size_t most) : unit_(unit), most_(std::max<std::size_t>(1, most)), cases_(std::move(cases)) { draw(); }

  [[nodiscard]] std::size_t unit() const { return unit_; }
  [[nodiscard]] Cases& cases() { return cases_; }
  /// What `take` gives next.
  [[nodiscard]] const std::deque<Cases::Next>& drawn() const { return drawn_; }

  /// Draws the next ones: none where the unit is done.
  void draw() {
    while (drawn_.size() < most_) {
      std::optional<Cases::Next> next = cases_.next();
      if (!next) return;
      drawn_.push_back(std::move(*next));
    }
  }

  /// Once there are some.
  [[nodiscard]] Cases::Next take() {
    Cases::Next first = std::move(drawn_.front());
    drawn_.pop_front();
    return first;
  }

 private:
  std::size_t unit_;
  std::size_t most_;
  Cases cases_;
  std::deque<Cases::Next> drawn_;
};

}  // namespace etalon::conformance
