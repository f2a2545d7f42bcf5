/// \file
/// How often the text of a system's tensors rounds, by the form of their equations alone: what rounds once has one right
/// answer, what rounds more often may be off by as much as its last rounding, whatever the numbers are. It knows no values.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/bounds/wide.hpp"
#include "spec/dtype.hpp"
#include "spec/system/system.hpp"

namespace etalon::reference::bounds {

/// Per tensor, the roundings on the way to an element: 0 where elements are only moved or chosen, 1, or 2 for more. Inputs
/// take none. Conditions, indices, signs, extrema and scalings by constant powers of two do not round.
[[nodiscard]] std::vector<std::uint8_t> roundings_of_texts(const spec::System& system);

/// The numbers of a real format next to a finite one, both itself when the format holds it; at most the largest one.
struct Neighbours {
  double lower = 0;
  double upper = 0;
};

/// \pre `x` is finite.
[[nodiscard]] Neighbours neighbours(double x, DType dtype);
[[nodiscard]] Neighbours neighbours(Quad x, DType dtype);

}  // namespace etalon::reference::bounds
