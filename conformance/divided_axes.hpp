/// \file
/// Means over windows that are divided by one extent after the other: another schema of every quotient whose divisor counts
/// the places of a box. It knows no operation by name.
#pragma once

#include <optional>

#include "spec/system/system.hpp"

namespace etalon::conformance {

/// The system in which what is divided by the number of places in a box is divided by the box's extents, one after the
/// other: a/(m·n) as (a/m)/n. The divisor is read from a tensor whose equation counts, over two binders or more, the places
/// where a conjunction holds of which each part is about one binder. Empty where nothing is divided by such a count.
/// Source: |{(j, k): A(j) and B(k)}| = |{j: A(j)}|·|{k: B(k)}|; proofs-notes/rounding.md, R12.
[[nodiscard]] std::optional<spec::System> with_divided_axes(const spec::System& system);

}  // namespace etalon::conformance
