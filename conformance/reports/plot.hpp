/// \file
/// How errors over bounds are distributed, as inline SVG.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "conformance/reports/report.hpp"

namespace etalon::conformance {

/// Counts of cases by their worst error over bound: none at all, twenty equal steps up to the bound, beyond it.
struct Distribution {
  static constexpr std::size_t steps = 20;
  std::array<std::size_t, steps + 2> counts{};
  std::size_t cases = 0;

  void add(double ratio);
};

/// By operation, and there by mode; cases in which nothing was decided are left out.
using Distributions = std::map<std::string, std::map<std::string, Distribution>>;
[[nodiscard]] Distributions distributions_of(const std::vector<Record>& records);

/// A line of bars for a table row, all modes together.
[[nodiscard]] std::string small_plot(const std::map<std::string, Distribution>& modes);
/// One row of bars per mode, with an axis.
[[nodiscard]] std::string large_plot(const std::string& operation, const std::map<std::string, Distribution>& modes);

}  // namespace etalon::conformance
