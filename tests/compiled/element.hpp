/// \file
/// One element of a tensor as the interpreter of the tests sees it, and how it lies in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/dtype.hpp"

namespace etalon::test {

/// A real, or an integer or truth value, as its kind says.
struct Scalar {
  double real = 0;
  std::int64_t integer = 0;
};

/// \throws std::logic_error for a type of 16 bits.
[[nodiscard]] Scalar load(DType dtype, const std::byte* from);
void store(DType dtype, std::byte* to, const Scalar& s);

}  // namespace etalon::test
