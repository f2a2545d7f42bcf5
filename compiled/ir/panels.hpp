/// \file
/// Tensors that lie in panels: the layout in which tiles of a contraction read a factor, and how its bytes change places.
/// It knows no system and no schedule.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/dims.hpp"

namespace etalon::compiled {

/// T[…, i, …] lies at panel[i // width, …, …, i % width]: `width` elements that follow each other along `axis` side by
/// side, then the next of the other axes in their order. The axis holds whole panels.
struct Panels {
  std::size_t axis = 0;
  std::int64_t width = 1;
  [[nodiscard]] friend bool operator==(const Panels&, const Panels&) = default;
};

/// The axes of the memory: [n // width, the others…, width].
[[nodiscard]] Dims in_panels(const Dims& dims, const Panels& panels);

/// Copies a tensor of elements of so many bytes from row-major order to panels, or back.
void to_panels(const std::byte* from, std::byte* to, const Dims& dims, std::size_t element_bytes, const Panels& panels);
void from_panels(const std::byte* from, std::byte* to, const Dims& dims, std::size_t element_bytes, const Panels& panels);

}  // namespace etalon::compiled
