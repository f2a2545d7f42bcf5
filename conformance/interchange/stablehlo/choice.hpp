/// \file
/// Regions that compare and choose: which of two elements, or of two pairs, they keep. It knows how elements are
/// compared, and no instruction that such a region stands in.
#pragma once

#include <cstddef>
#include <string_view>

#include "conformance/interchange/stablehlo/module.hpp"

namespace etalon::conformance::stablehlo {

/// What a region keeps of two elements.
struct Choice {
  /// Of two equal ones: the first, the last, or the one whose companion is the smaller.
  enum class Tie { first, last, least_companion };

  bool is_largest = true;  ///< or the smallest
  Tie tie = Tie::first;

  [[nodiscard]] std::string_view extremum() const { return is_largest ? "max" : "min"; }
  [[nodiscard]] std::string_view position() const { return is_largest ? "argmax" : "argmin"; }
};

/// The choice between pairs, of a region of four arguments `a, i, b, j` that answers `a, i` or `b, j` by a and b.
/// A region that only compares and selects depends on the order of its arguments alone, so that a table of all orders
/// decides. Where one of a and b is NaN it may answer either, unless it always passes NaN over.
/// \throws Refused for a region of another form or of another choice
[[nodiscard]] Choice choice_of_pairs(const Block& region);

/// The choice between elements, of a region of two arguments that answers whether the first one stays.
/// \throws Refused for a region of another form or of another choice
[[nodiscard]] Choice choice_of_selection(const Block& region);

}  // namespace etalon::conformance::stablehlo
