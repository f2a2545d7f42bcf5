/// \file
/// What equations mean on given numbers, as text: fractions where nothing but rational arithmetic stands in them, else
/// decimals of which every digit is right. It rounds to no element type.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"

namespace etalon::reference {

/// The digits that are told of a number that is no fraction.
inline constexpr int exact_digits = 50;

struct ExactTensor {
  Kind kind = Kind::real;
  Dims dims;
  std::vector<std::string> elements;  ///< row-major; integers, and truth values as 0 and 1
};

struct ExactTensors {
  bool fractions = false;  ///< reals are `3/4` or `2`; else `1.25…e-3` of `exact_digits` digits, nan, inf or -inf
  std::vector<ExactTensor> outputs;
};

/// The outputs of the system for these inputs, in order.
/// \throws SpecViolation when the inputs do not fit; Unsupported naming what even the highest precision leaves open
[[nodiscard]] ExactTensors exact_text(const spec::System& system, std::span<const HostTensor> inputs);

}  // namespace etalon::reference
