/// \file
/// Calls that differ from another in one thing only, as caches that are keyed by too little confuse them.
#pragma once

#include <cstdint>
#include <optional>

#include "conformance/assignment.hpp"
#include "conformance/draw.hpp"
#include "spec/dtype.hpp"
#include "spec/notation/definition.hpp"

namespace etalon::conformance {

/// The same call but for one attribute, for the optional operands that are there, or for the order of the extents of a row;
/// which of them `turn` says, as far as typing allows. Siblings in several places have each optional operand alone.
/// Nothing where no such call is well-typed.
[[nodiscard]] std::optional<Assignment> sibling_of(const spec::Definition& definition, const Assignment& assignment, std::uint64_t turn,
                                                   std::uint64_t place, Draw& draw, DType dtype);

}  // namespace etalon::conformance
