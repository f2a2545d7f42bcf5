/// \file
/// Questions with one long axis, longer than the blocks of most kernels, and the others short. It knows no kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/case.hpp"

namespace etalon::conformance {

/// Values of the operation with each of its axes long in turn, twice: between 1025 and 1280, and around 128, 256 or 512; at most
/// eight cases. They are no cases of the suite, which has none so long where a sum stands in every element's equation.
[[nodiscard]] std::vector<Case> long_cases(const spec::Library& library, const std::string& operation, DType dtype, std::uint64_t seed);

}  // namespace etalon::conformance
