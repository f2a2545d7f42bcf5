/// \file
/// Which primitives are functions of analysis, in contrast to arithmetic: what tells kernels and kinds of operations apart by form.
#pragma once

#include "spec/scalar.hpp"

namespace etalon::spec {

/// Whether the primitive is a power, an exponential, a logarithm, trigonometric, hyperbolic or the error function.
[[nodiscard]] constexpr bool is_function(Primitive p) {
  switch (p) {
    case Primitive::pow:
    case Primitive::atan2:
    case Primitive::exp:
    case Primitive::exp2:
    case Primitive::log:
    case Primitive::log2:
    case Primitive::sin:
    case Primitive::cos:
    case Primitive::tan:
    case Primitive::sinh:
    case Primitive::cosh:
    case Primitive::tanh:
    case Primitive::erf:
    case Primitive::expm1:
    case Primitive::log1p: return true;
    default: return false;
  }
}

}  // namespace etalon::spec
