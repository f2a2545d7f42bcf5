/// \file
/// The steps of planning, in order: recognise scatters, share loops, find homes. Only `plan` calls them.
#pragma once

#include <optional>

#include "compiled/plan/plan.hpp"

namespace etalon::compiled {

/// The scatter that this equation is, if its value is a sum that is reached only where a read equals a binder.
[[nodiscard]] std::optional<Scatter> recognise_scatter(const spec::System& system, const spec::Equation& equation);

/// Every equation in exactly one kernel, in an order that computes what is read before it is read. A scheduled
/// contraction begins a kernel; what is done with its elements one by one may join it.
[[nodiscard]] std::vector<Kernel> fuse(const spec::System& system, const PlanOptions& options, std::span<const Decision> decisions);

/// The axis of the target at which each binder of the equation stands, or nothing unless the place is exactly the
/// binders in some order.
[[nodiscard]] std::optional<std::vector<std::size_t>> axes_of_binders(const spec::Equation& equation);

/// Fills residences, commits and the arena's size for the plan's kernels.
void assign_homes(const spec::System& system, const PlanOptions& options, Plan& plan);

}  // namespace etalon::compiled
