/// \file
/// Regions that join two elements: the reductions of the notation that they are, and what a reduction begins with.
#pragma once

#include <string_view>

#include "conformance/interchange/stablehlo/translation.hpp"

namespace etalon::conformance::stablehlo {

/// `sum`, `prod`, `max`, `min`, `any` or `all`: the one instruction of the region, on elements of this type.
/// \throws Refused for a region of another form, or whose arguments have another type
[[nodiscard]] std::string_view reduction_of(const Block& region, DType dtype);

/// Whether the number is the one that joins to any other without a trace. StableHLO may join it as often as it likes.
[[nodiscard]] bool is_identity(std::string_view reduction, const HostTensor& number);

}  // namespace etalon::conformance::stablehlo
