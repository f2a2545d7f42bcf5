/// \file
/// A small call of an operation with numbers that are easy to read, for explanations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "conformance/case.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {

/// A well-typed call of that operation with a handful of elements, its operands filled with quarters, and cotangents for its real results
/// where it has a derivative; or nothing when none was found.
/// \param number another call for each
[[nodiscard]] std::optional<Case> sample_call(const spec::Library& library, const std::string& operation, DType dtype, std::uint64_t number);

}  // namespace etalon::conformance
