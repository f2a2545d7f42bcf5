/// \file
/// Where a derivative is asked for and there is none: beside values that are no finite numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/bounds/envelope.hpp"
#include "spec/backend.hpp"
#include "spec/contract/contract.hpp"
#include "spec/system/system.hpp"

namespace etalon::conformance {

/// Which tensors of a derivative's system belong together.
struct DerivativeLayout {
  spec::Mode mode = spec::Mode::forward;
  std::size_t results = 0;            ///< of the system's outputs, those that are values; derivatives follow
  std::size_t operands = 0;           ///< of the system's inputs, those that are no seeds
  std::vector<std::size_t> wrt;       ///< positions of the operands that are differentiated by
};

/// That of the system that answers the request.
[[nodiscard]] DerivativeLayout layout_of(const spec::Request& request);

/// Per output of the system and element, how much of the definition's answer counts there.
enum class Freedom : std::uint8_t {
  none,       ///< the derivative is defined
  zero_slope, ///< an infinite slope follows a slope that is zero by definition, or a seed that is no number meets one that a
              ///< condition makes zero: NaN is as good as what follows from the equations
  no_number,  ///< the value that it is taken of or the operand is infinite: 0, NaN and infinities are as good as what
              ///< follows from the equations, and numbers between; any other is wrong, unless NaN is all that follows, and
              ///< so is the other infinity where one is all that follows
  all         ///< the value may be NaN
};

/// Empty where everything is differentiable, or the mode answers no first derivatives.
using Freedoms = std::vector<std::vector<Freedom>>;

/// Which elements of the derivatives are taken of, or by, something that is no finite number. `bounds` are the envelopes of
/// the system on these inputs.
[[nodiscard]] Freedoms where_undifferentiable(const spec::System& system, std::span<const HostTensor> inputs,
                                              const DerivativeLayout& layout, const reference::Envelopes& bounds,
                                              const spec::Contract& contract);

/// Admits what the freedoms of one output leave open; elements of freedom `all` become undecided.
void admit(reference::Envelope& envelope, std::span<const Freedom> freedoms);

/// The same for all outputs.
void admit(reference::Envelopes& bounds, const Freedoms& freedoms);

}  // namespace etalon::conformance
