/// \file
/// Rules that compare an answer with the correctly rounded reference by fixed tolerances, as published by the projects
/// whose names they bear. They know nothing of operations or bounds.
#pragma once

#include <array>
#include <string_view>

#include "spec/dtype.hpp"

namespace etalon::power {

/// One rule: whether `got` is accepted where `expected` is the correctly rounded reference.
struct Rule {
  std::string_view name;
  std::string_view text;  ///< the tolerance in one line
  bool (*accepts)(double got, double expected, DType dtype, bool derivative);
};

inline constexpr std::size_t rule_count = 5;
[[nodiscard]] const std::array<Rule, rule_count>& rules();

}  // namespace etalon::power
