/// \file
/// A case as a run draws it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "conformance/case.hpp"

namespace etalon::conformance_test {

/// \returns nothing where the operation has no such check
inline std::optional<conformance::Case> drawn(const std::string& operation, conformance::Check check, std::uint64_t index, DType dtype = DType::f32, std::uint64_t seed = 1) {
  return conformance::make_case({operation, check, dtype, index, seed});
}

}  // namespace etalon::conformance_test
