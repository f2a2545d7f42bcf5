/// \file
/// Per element the least box around everything that several envelopes admit. It knows no system and no answer.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/bounds/envelope.hpp"

namespace etalon::conformance {

/// Of one tensor.
struct Hull {
  DType dtype = DType::f32;
  Dims dims;
  std::vector<double> lower, upper;             ///< of reals, where a finite number is admitted
  std::vector<std::int64_t> least, greatest;    ///< of integers and truth values
  std::vector<std::uint8_t> flags;              ///< all that some envelope has

  explicit Hull(const reference::Envelope& envelope);
  /// Takes in another envelope of the tensor, all branches of its decisions.
  void add(const reference::Envelope& envelope);
};

/// The boxes of these elements, row-major positions, as a list.
[[nodiscard]] Hull of_elements(Hull hull, const std::vector<std::size_t>& elements);

[[nodiscard]] std::vector<Hull> hulls_of(const reference::Envelopes& envelopes);

}  // namespace etalon::conformance
