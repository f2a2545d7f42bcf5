/// \file
/// How windows lie over the axes of a tensor, as numbers and as text of the notation. It knows no instruction but for
/// the names of the attributes that say it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/interchange/stablehlo/translation.hpp"

namespace etalon::conformance::stablehlo {

/// Padding may be negative; between elements of what the windows lie over, and between those of a window, there may be
/// gaps. In texts i is the number of a window and k that of an element in it, with the axis behind: i0, k0.
struct Windows {
  Integers sizes, strides, low, high, base_gaps, window_gaps;

  /// From `[low, high]` of each axis.
  void set_padding(const Integers& pairs);
  /// \throws Refused for sizes, strides or dilations below 1, and for windows of more than 2^40 elements
  void require_valid() const;

  /// How many there are along an axis of this extent.
  [[nodiscard]] std::int64_t number(std::size_t axis, std::int64_t extent) const;
  [[nodiscard]] Integers numbers(const Integers& extents) const;

  /// Where element k of window i stands, before gaps are taken into account.
  [[nodiscard]] std::string wide_place(std::size_t axis, std::string_view i, std::string_view k) const;
  [[nodiscard]] std::string place(std::size_t axis, std::string_view i, std::string_view k) const;
  /// `[…]`: that of all axes.
  [[nodiscard]] std::string places() const;
  /// That it stands on an element and in no gap; empty where there are none.
  [[nodiscard]] std::string meets(std::size_t axis, std::string_view i, std::string_view k) const;
  /// That of each axis.
  [[nodiscard]] std::vector<std::string> all_meet() const;
};

/// `i0`.
[[nodiscard]] std::string index_text(char letter, std::size_t axis);

/// Those of `reduce_window` and `select_and_scatter`, over operand 0. \throws Refused
[[nodiscard]] Windows windows_of_reduction(Translation& t);

}  // namespace etalon::conformance::stablehlo
