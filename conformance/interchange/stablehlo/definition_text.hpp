/// \file
/// Pieces of definitions in the notation with numbers for extents: what instructions of StableHLO become that are no
/// operation of the library. It knows no instruction.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "conformance/interchange/program_writer.hpp"
#include "spec/dtype.hpp"

namespace etalon::conformance::stablehlo {

/// `[2, 3]`; nothing of a scalar.
[[nodiscard]] std::string extents_text(const interchange::Integers& extents);
/// `x[2, 3] : number`: an operand of these extents and of this element type.
[[nodiscard]] std::string operand_text(std::string_view name, const interchange::Integers& extents, DType dtype);
/// `[i0 < 2, i1 < 3]`: indices with their ranges.
[[nodiscard]] std::string binders_text(std::string_view index, const interchange::Integers& extents);
/// `[e(0), e(1), …]`, so many; nothing of none.
[[nodiscard]] std::string items_text(std::size_t number, const std::function<std::string(std::size_t)>& item);
/// `a and b`, of those that are not empty; empty where all are.
[[nodiscard]] std::string joined_conditions(const std::vector<std::string>& conditions);

}  // namespace etalon::conformance::stablehlo
