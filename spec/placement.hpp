/// \file
/// Where the elements of a tensor lie in a buffer that is not dense: strides and an offset. It knows no backend.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "spec/host_tensor.hpp"

namespace etalon::spec {

/// All in elements. Strides may be 0 (one element read again and again) or negative.
struct Placement {
  std::vector<std::int64_t> strides;  ///< per axis
  std::int64_t offset = 0;            ///< of the element with all indices 0
  std::int64_t elements = 0;          ///< of the whole buffer
  [[nodiscard]] friend bool operator==(const Placement&, const Placement&) = default;
};

/// The places of the tensors of a request; nothing where a tensor is dense, and empty lists where all are.
struct Placements {
  std::vector<std::optional<Placement>> inputs, tangents, cotangents, cotangent_tangents;
  [[nodiscard]] friend bool operator==(const Placements&, const Placements&) = default;
};

/// The lowest and the highest position that a tensor of this shape addresses; nothing when it has no elements, or a
/// position does not fit 64 bits.
struct Reach {
  std::int64_t lowest = 0, highest = 0;
};
[[nodiscard]] std::optional<Reach> reach_of(const Placement& placement, const Dims& dims);

/// The whole buffer, of one axis: the tensor's elements at their places; NaN, 0 or false at all others, so that reading
/// them shows. The tensor must have one value where several of its elements share a place.
[[nodiscard]] HostTensor buffer_of(const HostTensor& tensor, const Placement& placement);

/// The tensor that lies in a buffer; every place must be inside.
[[nodiscard]] HostTensor read_placed(const Bytes& buffer, const Placement& placement, DType dtype,
                                     const Dims& dims);

}  // namespace etalon::spec
