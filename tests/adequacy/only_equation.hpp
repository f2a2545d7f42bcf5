/// \file
/// The equation that gives all of a tensor.
#pragma once

#include "spec/system/system.hpp"

namespace etalon::adequacy {

/// The tensor's equation where it has one; null where it has several, or none.
[[nodiscard]] inline const spec::Equation* only_equation(const spec::System& system, spec::TensorId tensor) {
  const spec::Equation* only = nullptr;
  for (const spec::Equation& e : system.equations) {
    if (e.target != tensor) continue;
    if (only != nullptr) return nullptr;
    only = &e;
  }
  return only;
}

}  // namespace etalon::adequacy
