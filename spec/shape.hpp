/// \file
/// The extents of a tensor as a type: a name for a `Dims` value, nothing that computes.
#pragma once

#include <cstdint>

#include "spec/dims.hpp"

namespace etalon {

/// `Shape<2, 3>` names the extents `Dims{2, 3}`; `Shape<>` is a scalar.
template <std::int64_t... Extents>
struct Shape {
  static_assert(((Extents >= 0) && ... && true), "an extent is not negative");
  static_assert(sizeof...(Extents) <= Dims::max_rank, "a tensor has at most 8 axes");
  static constexpr Dims dims{Extents...};
};

}  // namespace etalon
