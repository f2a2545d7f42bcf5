/// \file
/// The integer primitives: 64-bit two's complement, wrapping; floor division and its remainder.
#pragma once

#include <cstdint>

#include "spec/scalar.hpp"

namespace etalon::reference {

/// The value of an integer primitive at these arguments.
/// \throws SpecViolation on division by zero.
[[nodiscard]] std::int64_t integer_value(spec::Primitive primitive, const std::int64_t* args);

}  // namespace etalon::reference
