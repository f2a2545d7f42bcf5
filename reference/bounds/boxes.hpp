/// \file
/// What narrows the boxes of a pass over boxes. It computes nothing.
#pragma once

#include <cstdint>

namespace etalon::reference::bounds {

enum class Narrowing : std::uint8_t {
  intervals,  ///< nothing but the boxes of operands
  sweep,      ///< the adjoint sweep, too
  lines,      ///< lines put into each other, too
  both
};

}  // namespace etalon::reference::bounds
