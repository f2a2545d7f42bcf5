/// \file
/// Values for the operands of a case: families chosen so that rounding, ties, kinks, cancellation, underflow and lost
/// elements show. It knows shapes, but no operation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "conformance/draw.hpp"
#include "spec/host_tensor.hpp"

namespace etalon::conformance {

/// What the numbers of a real operand look like.
enum class Family : std::uint8_t {
  normal,      ///< N(0, 1)
  unit,        ///< in [0, 1)
  positive,    ///< magnitudes over several binades, positive
  lattice,     ///< integers that fill the significand's budget in sums of products
  odd,         ///< odd integers of 12 bits: lose a bit when rounded to 11 (16-bit types: of their full significand)
  signs,       ///< -1, 0 and 1
  ties,        ///< small integers and halves with both zeros: many equal elements, many kinks
  zeros,       ///< mostly ±0
  large,       ///< around 10^4 (f16: 300)
  logits,      ///< between 80 and 100 (f16: 8 and 10)
  tiny,        ///< around 10^-20 (f64: or 10^-155, f16: 10^-3)
  subnormal,   ///< below the smallest normal number
  cancelling,  ///< pairs that nearly cancel
  offset,      ///< mean 1000, deviation 0.01 (16-bit types: 100, a few last places)
  narrow,      ///< deviation 10^-2 or 10^-4 around 0
  epsilon,     ///< 0 or around 10^-8 (f16: 10^-6)
  mixed,       ///< magnitudes spread over thirty binades (f16: fifteen)
  special      ///< NaN, both infinities, both zeros, largest and smallest numbers among normal ones
};

[[nodiscard]] std::string_view name_of(Family family);

/// So many consecutive indices of cases meet every family.
inline constexpr std::uint64_t families_in_turn = 21;

/// Which families the real operands of a case come from: one family, or for some cases one per operand.
[[nodiscard]] std::vector<Family> draw_families(Draw& draw, std::size_t operands, std::uint64_t index);

/// A tensor of this type and shape.
[[nodiscard]] HostTensor draw_real(Draw& draw, Family family, DType dtype, const Dims& dims);
[[nodiscard]] HostTensor draw_boolean(Draw& draw, const Dims& dims);

/// The element as a number and back; a real is rounded to the element type, what becomes an integer is cut off
/// and stays in its range.
[[nodiscard]] double element(const HostTensor& tensor, std::size_t i);
void set_element(HostTensor& tensor, std::size_t i, double value);

}  // namespace etalon::conformance
