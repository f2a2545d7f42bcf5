/// \file
/// Numbers for the integer operands of a case: what they index, count or seed is read off the equations. It knows no operation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/draw.hpp"
#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"

namespace etalon::conformance {

/// What the elements of an integer operand mean, read off the equations it stands in.
struct IntegerRole {
  std::optional<std::int64_t> extent;  ///< it is an index into an axis of this extent
  std::optional<std::int64_t> apart;   ///< it is compared with this number, inside of the axis or not
  bool counts = false;                 ///< it is used as a number (a step count, say)
  bool is_key = false;                 ///< it seeds random numbers
};

/// One role per input of the system; meaningful for integer inputs.
[[nodiscard]] std::vector<IntegerRole> integer_roles(const spec::System& system);

/// How probably indices may lie outside of their axes, which of them a quarter then does. An index outside often leaves no number,
/// and where all results are one number nothing to derive.
struct Straying {
  double chance = 0.4;
};

/// A tensor of this type and shape: indices mostly in range, numbers over the whole range of the type.
[[nodiscard]] HostTensor draw_integer(Draw& draw, const IntegerRole& role, DType dtype, const Dims& dims, Straying straying = {});

}  // namespace etalon::conformance
