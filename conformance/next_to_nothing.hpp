/// \file
/// The numbers of cases that meet next to nothing, in the longer tiers alone: their squares are subnormal, or they are
/// themselves, beside what shows them. What their attributes are is said in plain_attributes.hpp. It knows cases, and no operation.
#pragma once

#include <cstddef>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/draw.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance {

/// Whether the case is of such an instance, and its numbers need not tell elements apart.
[[nodiscard]] bool is_next_to_nothing(const CaseKey& key);

/// The families of its real operands: of the four cases of an instance tiny ones in two, subnormal ones in one.
[[nodiscard]] std::vector<Family> next_to_nothing_families(std::size_t operands, const CaseKey& key);

/// In the last of four about half of the elements of operands become subnormal, beside ordinary ones; in the second of every other
/// instance all are 0.
void make_operands_sparse(Case& c, Draw& draw);

/// There about half of the elements of directions are 0, so that they hide no product of a subnormal number, and the others so
/// large that such products are ordinary. In the third about half are subnormal.
void make_directions_sparse(Case& c, Draw& draw);

}  // namespace etalon::conformance
