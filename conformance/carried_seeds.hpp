/// \file
/// Where seeds of a derivative might go. Of two branches that a condition on numbers chooses from, an implementation computes
/// one, or both and multiplies by masks: then a seed that is no number reaches what the equations give as 0.
#pragma once

#include <cstddef>
#include <optional>

#include "spec/system/system.hpp"

namespace etalon::conformance {

/// The derivatives of a system as sums of all the seeds that stand in their equations, in whichever branch. Conditions that
/// say nothing of reals stay: they tell where there is something to read.
/// \param operands of the system's inputs, those that are no seeds
/// \param results of its outputs, those that are values, which are left out
/// \returns nothing where no derivative reads a seed, or a read would be beyond its tensor without the conditions
[[nodiscard]] std::optional<spec::System> with_carried_seeds(const spec::System& system, std::size_t operands, std::size_t results);

}  // namespace etalon::conformance
