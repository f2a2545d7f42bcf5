/// \file
/// Layouts of tensors by form: which axes are exchanged, skipped over, reversed or expanded, whatever their extents, so
/// that a smaller case keeps its layout. It knows no case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "conformance/draw.hpp"
#include "spec/host_tensor.hpp"
#include "spec/placement.hpp"

namespace etalon::conformance {

/// What is unusual about a layout.
enum class Unusual : std::uint8_t {
  transposed,  ///< another axis is the fastest
  strided,     ///< elements lie apart
  expanded,    ///< one element stands for all along an axis: stride 0
  offset,      ///< the tensor begins inside the buffer, and ends there
  reversed,    ///< negative strides
  padded       ///< rows apart, their elements side by side
};
inline constexpr std::size_t unusual_count = 6;
[[nodiscard]] std::string_view name_of(Unusual unusual);

struct Arrangement {
  std::vector<std::size_t> order;    ///< axes from the slowest to the fastest; others follow as they stand
  std::vector<std::int64_t> steps;   ///< per axis: 1 side by side, 2 every other place, -1 backwards, 0 one for all
  std::int64_t before = 0, after = 0;  ///< elements of the buffer that belong to nobody
  [[nodiscard]] friend bool operator==(const Arrangement&, const Arrangement&) = default;
};

/// An arrangement of this kind; of a tensor without the axes for it, one with an offset. Where it is to be `apart`, rows are
/// apart while their elements are side by side, and what is reversed leaves places out.
[[nodiscard]] Arrangement draw_arrangement(Draw& draw, Unusual unusual, const Dims& dims, bool apart = false);

/// Gives one value to all elements that an expanded axis makes one.
void repeat_where_expanded(HostTensor& tensor, const Arrangement& arrangement);

/// The strides for this tensor. Axes along which its values differ are not expanded.
[[nodiscard]] spec::Placement placement_of(const Arrangement& arrangement, const HostTensor& tensor);

}  // namespace etalon::conformance
